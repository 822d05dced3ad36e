import type { Person } from "../../domain/callers/caller.ts";
import { DatabaseUnavailable } from "../../store/database.ts";
import type { FoundSession } from "../../store/sign-in/sessions.ts";
import type { IdentifiedCaller } from "../auth.ts";
import type { ConfiguredBetterAuth } from "../better-auth.ts";
import { newScope, type RequestScopes } from "../request-scope.ts";
import { REMEMBERED_SECONDS, UPDATE_AGE_SECONDS } from "./session-age.ts";
import type { SessionCookies } from "./session-cookie.ts";
import type { SessionLookup } from "./session-lookup.ts";

export type SessionDeps = {
  betterAuth: ConfiguredBetterAuth;
  scopes: RequestScopes;
  cookies: SessionCookies;
  sessions: SessionLookup;
  /** Whether administrators must have a second factor. */
  requireAdminTwoFactor: boolean;
  /** Milliseconds since the epoch. */
  now: () => number;
};

/**
 * The caller that a `Cookie` header identifies; `null` without a valid session. @throws DatabaseUnavailable
 */
export type AuthenticateSession = (cookie: string, address: string) => Promise<IdentifiedCaller | null>;

/** The hot path: Better Auth is called only for the one request a day that refreshes a session. */
export function createSessionAuthenticator(deps: SessionDeps): AuthenticateSession {
  const { cookies, sessions, now } = deps;
  return async (cookie, address) => {
    const session = await sessions.find(cookie);
    if (!session || session.isBanned || session.endsAt < now()) return null;
    const caller = callerOf(session, address, deps.requireAdminTwoFactor);
    if (!isDueForRefresh(session, now()) || cookies.isSessionOnly(cookie)) return { caller, setCookies: [] };
    const setCookies = await refreshSession(deps, cookie, address);
    return setCookies && { caller, setCookies };
  };
}

function callerOf(session: FoundSession, address: string, requireAdminTwoFactor: boolean): Person {
  const { userId, role, id: sessionId, hasTwoFactor } = session;
  const needsTwoFactor = requireAdminTwoFactor && role === "admin" && !hasTwoFactor;
  return {
    kind: "session",
    userId,
    role,
    sessionId,
    address,
    ...(needsTwoFactor ? { needsTwoFactor } : {}),
  };
}

/** Better Auth's own rule: a session is renewed when it is used a day after the last renewal. */
function isDueForRefresh(session: FoundSession, now: number): boolean {
  return session.expiresAt - (REMEMBERED_SECONDS - UPDATE_AGE_SECONDS) * 1000 <= now;
}

/** The cookies of the refreshed session; `null` when it has ended since it was looked up. */
async function refreshSession(
  { betterAuth, scopes }: SessionDeps,
  cookie: string,
  address: string,
): Promise<readonly string[] | null> {
  const scope = newScope({ address, locale: "en" });
  try {
    const { headers, response } = await scopes.run(scope, () =>
      betterAuth.api.getSession({ headers: new Headers({ cookie }), returnHeaders: true }),
    );
    return response ? headers.getSetCookie() : null;
  } catch (error) {
    if (scope.failure instanceof DatabaseUnavailable) throw scope.failure;
    if (error instanceof Error && "statusCode" in error && error.statusCode === 401) return null;
    throw error;
  }
}
