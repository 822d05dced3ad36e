import { getCookies } from "better-auth/cookies";
import type { Auth } from "./auth.ts";
import { type BetterAuthOptions, configureBetterAuth } from "./better-auth.ts";
import { type BySession, bySessionWith } from "./by-session.ts";
import { handleWith } from "./handle.ts";
import { requestScopes } from "./request-scope.ts";
import { sessionCookies } from "./session-cookie.ts";
import { sessionLookUp } from "./session-look-up.ts";

/** Look-ups under way at once: one could be held up by a connection that has just died. */
const MAX_IN_FLIGHT = 2;

/** All that Better Auth has a part in. */
export type Accounts = { bySession: BySession; handle: Auth["handle"] };

export function openAccounts(options: BetterAuthOptions, now: () => number): Accounts {
  const scopes = requestScopes();
  const betterAuth = configureBetterAuth(options, scopes);
  const names = getCookies(betterAuth.options);
  const cookies = sessionCookies(options.secret, {
    sessionToken: names.sessionToken.name,
    dontRemember: names.dontRememberToken.name,
  });
  const sessions = sessionLookUp(options.database, cookies, MAX_IN_FLIGHT);
  return {
    bySession: bySessionWith({ betterAuth, scopes, cookies, sessions, now }),
    handle: handleWith({ ...options, betterAuth, scopes, sessions }),
  };
}
