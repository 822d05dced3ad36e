import { getCookies } from "better-auth/cookies";
import type { Auth } from "./auth.ts";
import { type AuthenticateSession, createSessionAuthenticator } from "./authenticate-session.ts";
import { type BetterAuthOptions, configureBetterAuth } from "./better-auth.ts";
import { createHandler } from "./handle.ts";
import { requestScopes } from "./request-scope.ts";
import { sessionCookies } from "./session-cookie.ts";
import { createSessionLookup } from "./session-lookup.ts";

/** Concurrent lookups: one may be stuck on a connection that has just died. */
const MAX_IN_FLIGHT = 2;

/** Everything that needs Better Auth. */
export type Accounts = { authenticateSession: AuthenticateSession; handle: Auth["handle"] };

export function createAccounts(options: BetterAuthOptions, now: () => number): Accounts {
  const scopes = requestScopes();
  const betterAuth = configureBetterAuth(options, scopes);
  const names = getCookies(betterAuth.options);
  const cookies = sessionCookies(options.secret, {
    sessionToken: names.sessionToken.name,
    dontRemember: names.dontRememberToken.name,
  });
  const sessions = createSessionLookup(options.database, cookies, MAX_IN_FLIGHT);
  return {
    authenticateSession: createSessionAuthenticator({ betterAuth, scopes, cookies, sessions, now }),
    handle: createHandler({ ...options, betterAuth, scopes, sessions }),
  };
}
