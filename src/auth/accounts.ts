import { createCookieGetter, getCookies } from "better-auth/cookies";
import { findPendingSignIn } from "../store/sign-in/pending-sign-ins.ts";
import type { AccountNotices } from "./account-notices.ts";
import type { Auth } from "./auth.ts";
import { type BetterAuthOptions, configureBetterAuth } from "./better-auth.ts";
import { type AuthenticateSession, createSessionAuthenticator } from "./callers/authenticate-session.ts";
import { sessionCookies } from "./callers/session-cookie.ts";
import { createSessionLookup } from "./callers/session-lookup.ts";
import { createGuessLimit } from "./guess-limit.ts";
import { keyedHash } from "./keyed-hash.ts";
import { limitedMail, type MailQueue } from "./limited-mail.ts";
import { passwordLimit } from "./password-limit.ts";
import { requestScopes } from "./request-scope.ts";
import { createCall } from "./routes/call.ts";
import { createHandler } from "./routes/handle.ts";

export type AccountsOptions = Omit<BetterAuthOptions, "sendMail"> & {
  mail: MailQueue;
  requireAdminTwoFactor: boolean;
  /** How long a request that hashes a password waits for others. */
  maxPasswordWaitMs?: number;
};

/** Everything that needs Better Auth. */
export type Accounts = {
  authenticateSession: AuthenticateSession;
  handle: Auth["handle"];
  call: Auth["call"];
};

export function createAccounts(
  options: AccountsOptions & { notices: AccountNotices },
  now: () => number,
): Accounts {
  const scopes = requestScopes();
  const hash = keyedHash(options.secret);
  const sendMail = limitedMail(options, hash);
  const betterAuth = configureBetterAuth({ ...options, sendMail }, scopes);
  const names = getCookies(betterAuth.options);
  const cookies = sessionCookies(options.secret, {
    sessionToken: names.sessionToken.name,
    dontRemember: names.dontRememberToken.name,
    twoFactor: createCookieGetter(betterAuth.options)("two_factor").name,
  });
  const sessions = createSessionLookup(options.database, cookies);
  const guesses = createGuessLimit(options.database, hash);
  const pendingUser = async (cookie: string) => {
    const identifier = cookies.pendingSignIn(cookie);
    return identifier === null ? null : findPendingSignIn(options.database, identifier);
  };
  const serving = {
    ...options,
    ...{ betterAuth, scopes, sessions, pendingUser, guesses, sendMail, now },
    passwordLimit: passwordLimit(options.maxPasswordWaitMs),
  };
  return {
    authenticateSession: createSessionAuthenticator({
      ...options,
      betterAuth,
      scopes,
      cookies,
      sessions,
      now,
    }),
    handle: createHandler(serving),
    call: createCall(serving),
  };
}
