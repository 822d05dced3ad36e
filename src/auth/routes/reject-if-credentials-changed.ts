import type { Database } from "../../store/database.ts";
import { revokeStaleSignIn } from "../../store/sign-in/revocations.ts";
import { findSignInState, type SignInState, type SignInUser } from "../../store/sign-in/sign-in-states.ts";
import type { RequestScope } from "../request-scope.ts";
import { refusalResponse } from "./responses.ts";

/**
 * Lets Better Auth start a session. Checking a password takes a tenth of a second: if it is changed or reset
 * meanwhile, or a second factor is set up, the user's sessions were revoked before this one started.
 */
export async function rejectIfCredentialsChanged(
  database: Database,
  user: SignInUser,
  { scope, respond }: { scope: RequestScope; respond: () => Promise<Response> },
): Promise<Response> {
  const before = await findSignInState(database, user);
  const response = await respond();
  if (!response.ok) return response;
  const after = await findSignInState(database, user);
  // Whoever is named by id has presented a second factor, or is setting it up.
  const needsSecondFactor = "email" in user && after?.hasTwoFactor === true && !before?.hasTwoFactor;
  if (after?.hash === before?.hash && !needsSecondFactor) return response;
  await revokeNewSession(database, scope, before);
  return "email" in user && !needsSecondFactor
    ? refusalResponse({ reason: "invalid_credentials" }, "INVALID_EMAIL_OR_PASSWORD")
    : refusalResponse({ reason: "sign_in_expired" }, "INVALID_TWO_FACTOR_COOKIE");
}

async function revokeNewSession(
  database: Database,
  scope: RequestScope,
  user: SignInState | null,
): Promise<void> {
  if (scope.newSessionToken === null || user === null) return;
  await revokeStaleSignIn(database, { userId: user.userId, token: scope.newSessionToken });
}
