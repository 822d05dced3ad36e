import { batchLookups } from "../../store/batch-lookups.ts";
import type { Queryable } from "../../store/database.ts";
import { type FoundSession, findSessions } from "../../store/sign-in/sessions.ts";
import type { SessionCookies } from "./session-cookie.ts";

export type SessionLookup = {
  /**
   * The session of a `Cookie` header, also an expired one or a banned user's; `null` without one. @throws
   * DatabaseUnavailable
   */
  find(cookie: string): Promise<FoundSession | null>;
};

/** Checks the cookie's signature before querying, and batches concurrent lookups. */
export function createSessionLookup(database: Queryable, cookies: SessionCookies): SessionLookup {
  const sessionWith = batchLookups(
    async (tokens) =>
      new Map((await findSessions(database, tokens)).map((session) => [session.token, session])),
  );
  return {
    find: async (cookie) => {
      const token = cookies.token(cookie);
      return token === null ? null : ((await sessionWith(token)) ?? null);
    },
  };
}
