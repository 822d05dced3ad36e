import { setTimeout as sleep } from "node:timers/promises";
import type { Locale } from "../../domain/locale.ts";
import { violatedConstraint } from "../../store/database.ts";
import { revokeAfterNewPassword, revokeBeforeSecondFactor } from "../../store/sign-in/revocations.ts";
import type { FoundSession } from "../../store/sign-in/sessions.ts";
import { recordBackupCodes } from "../../store/sign-in/two-factor-changes.ts";
import { findUser } from "../../store/users/users.ts";
import type { AccountNotices } from "../account-notices.ts";
import type { SessionLookup } from "../callers/session-lookup.ts";
import type { Guess, GuessLimit, GuessResult } from "../guess-limit.ts";
import { innermost, type Log } from "../log.ts";
import { hashesPassword, type PasswordLimit } from "../password-limit.ts";
import { type NewPassword, newScope, type RequestScope, type RequestScopes } from "../request-scope.ts";
import { SetUpChanged } from "../second-factor.ts";
import { type EmailChangeDeps, finishEmailChange, startEmailChange } from "./email-change.ts";
import { rejectIfCredentialsChanged } from "./reject-if-credentials-changed.ts";
import { respondAgainOnContention } from "./respond-again.ts";
import { refusalResponse, responseToFailure, tooManyRequests, translateResponse } from "./responses.ts";
import { respondToRevokeOtherSessions } from "./revoke-other-sessions.ts";
import type { AuthRoute } from "./route-list.ts";

export type ServeDeps = EmailChangeDeps & {
  notices: AccountNotices;
  scopes: RequestScopes;
  sessions: SessionLookup;
  /** Whose sign-in waits for its second factor, by the cookie; `null`: nobody's. */
  pendingUser(cookie: string): Promise<string | null>;
  guesses: GuessLimit;
  passwordLimit: PasswordLimit;
  log: Log;
  /** Milliseconds since the epoch. */
  now: () => number;
};

export type RouteRequest = {
  route: AuthRoute;
  /** Parsed by the route's schema; `null`: none. */
  body: Record<string, unknown> | null;
  /** `null`: without one, or together with an API key. */
  cookie: string | null;
  /** The client's network address. */
  address: string;
  /** Of a new account. */
  locale: Locale;
  /** Lets Better Auth respond, with the cookie or without it. */
  respond(withCookie: boolean): Promise<Response>;
};

/**
 * Better Auth's own work takes less, so that the response to an unknown address takes as long as to a known
 * one.
 */
const MIN_RESPONSE_MS = 300;

/**
 * Serves one route: limits guesses, calls Better Auth or an endpoint of ours, and revokes what a change ends.
 */
export async function serveRoute(deps: ServeDeps, request: RouteRequest): Promise<Response> {
  const { route } = request;
  const serveNow = () => serve(deps, request).catch((error: unknown) => failed(deps.log, route, error));
  const serving = hashesPassword(route) ? deps.passwordLimit.run(serveNow) : serveNow();
  if (route.hidesAccounts) await sleep(MIN_RESPONSE_MS);
  return (await serving) ?? refusalResponse({ reason: "unavailable" });
}

async function serve(deps: ServeDeps, request: RouteRequest): Promise<Response> {
  const { route, cookie, address, locale } = request;
  const session = route.needsSession && cookie !== null ? await deps.sessions.find(cookie) : null;
  const isUsable = session !== null && !session.isBanned && session.endsAt > deps.now();
  const guess = await guessOf(deps, request, isUsable ? session : null);
  const attempt = guess && (await deps.guesses.take(guess));
  if (attempt && "waitSeconds" in attempt) return tooManyRequests(attempt.waitSeconds);

  const scope = newScope({
    address,
    locale,
    sessionId: isUsable ? session.id : null,
    newPassword: newPasswordOf(request),
  });
  const user = isUsable ? session : guess?.of === "second factor" ? guess : null;
  const pass = () => respondAgainOnContention(scope, () => request.respond(!session || isUsable));
  const response = await deps.scopes
    .run(scope, () => respond(deps, request, { scope, userId: user?.userId ?? null, respond: pass }))
    .then((response) => translateResponse(response, scope.failure, route))
    .catch((error: unknown) => failed(deps.log, route, scope.failure ?? error));
  await tellOfChange(deps, request, { scope, session, isDone: response.ok });
  if (attempt) await attempt.settle(await resultOf(response));
  if (response.ok && route.endpoint === "changePassword" && session) {
    const { revokesKeys = false } = scope.newPassword ?? {};
    const { token: keepToken } = (await response.clone().json()) as { token: string };
    const { userId } = session;
    await revokeAfterNewPassword(deps.database, { userId, keepToken, revokesKeys });
  }
  if (response.ok && route.endpoint === "verifyTOTP" && session && scope.newSessionToken !== null) {
    // Set up: sign-ins without it may have succeeded until just now.
    await revokeBeforeSecondFactor(deps.database, session.userId, scope.newSessionToken);
  }
  return response;
}

/**
 * Tells users that they have a new password or new backup codes, or that their second factor was turned on or off, also
 * where what follows that has failed. Never fails: it is done, and must not be answered as if it were not.
 */
async function tellOfChange(
  { database, sendMail, notices, log }: ServeDeps,
  { route, address }: RouteRequest,
  { scope, session, isDone }: { scope: RequestScope; session: FoundSession | null; isDone: boolean },
): Promise<void> {
  try {
    if (route.endpoint === "generateBackupCodes" && session !== null && isDone)
      scope.notice = await recordBackupCodes(database, { userId: session.userId, address });
    if (scope.notice === null) return;
    const { id, userId, kind } = scope.notice;
    const user = await findUser(database, userId);
    if (user !== null) await notices.send(id, (onEnd) => sendMail(user.email, user.locale, { kind }, onEnd));
  } catch (error) {
    log.error({ err: innermost(error) }, "a user could not be told at once of a change of their account");
  }
}

function newPasswordOf({ route, body }: RouteRequest): NewPassword | null {
  switch (route.endpoint) {
    case "resetPassword":
      return { userId: null, notice: null, action: "user.password_reset", revokesKeys: true };
    case "changePassword":
      return {
        userId: null,
        notice: null,
        action: "user.password_changed",
        revokesKeys: body?.revokeApiKeys === true,
      };
    default:
      return null;
  }
}

type Responding = {
  scope: RequestScope;
  /** Who is signed in, or has yet to present a second factor. */
  userId: string | null;
  respond(): Promise<Response>;
};

async function respond(
  deps: ServeDeps,
  { route, body, address }: RouteRequest,
  { scope, userId, respond }: Responding,
): Promise<Response> {
  switch (route.endpoint) {
    case "requestEmailChange":
      if (userId === null) return refusalResponse({ reason: "unauthorized" });
      return startEmailChange(deps, userId, String(body?.newEmail));
    case "confirmEmailChange":
      return finishEmailChange(deps, String(body?.token), address);
    case "revokeOtherSessions":
      return respondToRevokeOtherSessions(deps.database, userId, scope.sessionId);
    case "signInEmail":
      return rejectIfCredentialsChanged(deps.database, { email: String(body?.email) }, { scope, respond });
    case "enableTwoFactor":
      return repeatIfSetUpChanged(scope, respond);
    case "verifyTOTP":
    case "verifyBackupCode":
    case "disableTwoFactor":
      return userId === null
        ? respond()
        : rejectIfCredentialsChanged(deps.database, { userId }, { scope, respond });
    default:
      return respond();
  }
}

const MAX_RUNS_OF_A_SET_UP = 4;

/**
 * Of two first set-ups at once, both find none, and only one can be stored: the other is repeated, and
 * replaces it as any later set-up does. A set-up is repeated, too, when the one that it replaces was confirmed or removed.
 */
async function repeatIfSetUpChanged(
  scope: RequestScope,
  respond: () => Promise<Response>,
): Promise<Response> {
  const isChanged = () =>
    scope.failure instanceof SetUpChanged || violatedConstraint(scope.failure) === "two_factor_user_id_key";
  for (let runs = 1; runs < MAX_RUNS_OF_A_SET_UP; runs += 1) {
    try {
      const response = await respond();
      if (!isChanged()) return response;
    } catch (error) {
      if (!isChanged()) throw error;
    }
    scope.failure = null;
  }
  return respond();
}

async function guessOf(
  { pendingUser }: ServeDeps,
  { route, body, cookie, address }: RouteRequest,
  session: FoundSession | null,
): Promise<Guess | null> {
  switch (route.guesses) {
    case "account":
      return { of: "account", email: String(body?.email), address };
    case "session":
      return session && { of: "session", userId: session.userId };
    case "second factor": {
      // With a session the code finishes the set-up, and is its owner's own.
      const userId = session === null && cookie !== null ? await pendingUser(cookie) : null;
      return userId === null ? null : { of: "second factor", userId };
    }
    case null:
      return null;
    default:
      return route.guesses satisfies never;
  }
}

const WRONG_GUESSES: ReadonlySet<string> = new Set([
  ...["INVALID_EMAIL_OR_PASSWORD", "INVALID_PASSWORD"],
  ...["INVALID_CODE", "INVALID_BACKUP_CODE"],
]);

async function resultOf(response: Response): Promise<GuessResult> {
  if (response.ok) return "right";
  if (response.status >= 500 || response.status === 429) return "unknown";
  const { code } = (await response.clone().json()) as { code: string };
  if (WRONG_GUESSES.has(code)) return "wrong";
  // Suspended or unconfirmed: found out after the password was checked.
  return response.status === 403 ? "right" : "unknown";
}

function failed(log: Log, route: AuthRoute, error: unknown): Response {
  const response = responseToFailure(error) ?? refusalResponse({ reason: "internal_error" });
  if (response.status >= 500)
    log.error({ err: innermost(error), endpoint: route.endpoint }, "an auth request failed");
  return response;
}
