import type { Queryable } from "../store/database.ts";
import { type FoundSession, findSessions } from "../store/sessions.ts";
import { gathered } from "./gather.ts";
import type { SessionCookies } from "./session-cookie.ts";

export type SessionLookUp = {
  /** The session of a `Cookie` header, expired and banned ones too; `null` when there is none. @throws DatabaseUnavailable */
  find(cookie: string): Promise<FoundSession | null>;
};

/** A signature is checked before the database hears of it; sessions asked for at the same time are found together. */
export function sessionLookUp(
  database: Queryable,
  cookies: SessionCookies,
  maxInFlight: number,
): SessionLookUp {
  const sessionWith = gathered(
    maxInFlight,
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
