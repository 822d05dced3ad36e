import type { Role, SignedIn } from "../../domain/callers/caller.ts";
import type { Queryable, Statement } from "../database.ts";
import { IS_BANNED } from "../users/bans.ts";

export type FoundSession = {
  token: string;
  id: string;
  userId: string;
  role: Role;
  hasTwoFactor: boolean;
  /** In milliseconds since the epoch; expired sessions are found too. */
  expiresAt: number;
  /** The final end, however often the session is refreshed. */
  endsAt: number;
  isBanned: boolean;
};

/** A stolen session must not be refreshed for ever. */
const MAX_SESSION_DAYS = 90;

const FIND = {
  name: "find_sessions",
  text: `
select s.token, s.id, s.user_id as "userId", u.role,
  u.two_factor_enabled as "hasTwoFactor", (extract(epoch from s.expires_at) * 1000)::float8 as "expiresAt",
  (extract(epoch from least(s.expires_at, s.created_at + interval '${MAX_SESSION_DAYS} days')) * 1000)::float8 as "endsAt",
  ${IS_BANNED} as "isBanned"
from session s join "user" u on u.id = s.user_id
where s.token = any ($1::text[])`,
  runsAlone: true,
} satisfies Statement;

/** The sessions with these tokens, with their users' current role and ban; unknown tokens are left out. */
export async function findSessions(database: Queryable, tokens: readonly string[]): Promise<FoundSession[]> {
  return database.run<FoundSession>(FIND, [tokens]);
}

export type ListedSession = {
  id: string;
  userAgent: string | null;
  address: string | null;
  createdAt: Date;
  lastSeenAt: Date;
};

const OF_USER = {
  name: "sessions_of_user",
  text: `
select id, user_agent as "userAgent", ip_address as address, created_at as "createdAt", updated_at as "lastSeenAt"
from session
where user_id = $1 and expires_at > now() and created_at > now() - interval '${MAX_SESSION_DAYS} days'
order by updated_at desc, id limit 100`,
};

/** A user's active sessions, the last seen first. Tokens are never returned. */
export async function listSessions(database: Queryable, userId: string): Promise<ListedSession[]> {
  return database.run<ListedSession>(OF_USER, [userId]);
}

const DELETE = {
  name: "delete_session",
  text: "delete from session where user_id = $1 and id = $2 returning id",
};

/** Whether the user had such a session. */
export async function deleteSession(database: Queryable, userId: string, id: string): Promise<boolean> {
  return (await database.run(DELETE, [userId, id])).length > 0;
}

const HAS = { name: "has_session", text: "select from session where id = $1" };

export async function hasSession(database: Queryable, id: string): Promise<boolean> {
  return (await database.run(HAS, [id])).length > 0;
}

const LOCK_USER_SHARED = { name: "lock_user_shared", text: `select from "user" where id = $1 for share` };

/**
 * Call before creating a key or link: locks the user, so that a concurrent password change waits, and then
 * revokes the new one, too. Returns whether the session still exists.
 */
export async function lockUserOfSession(transaction: Queryable, caller: SignedIn): Promise<boolean> {
  const [, exists] = await Promise.all([
    transaction.run(LOCK_USER_SHARED, [caller.userId]),
    hasSession(transaction, caller.sessionId),
  ]);
  return exists;
}
