import type { Role } from "../domain/caller.ts";
import type { Queryable } from "./database.ts";
import { IS_BANNED } from "./users.ts";

export type FoundSession = {
  token: string;
  id: string;
  userId: string;
  role: Role;
  /** Of the session, in milliseconds since the epoch; expired ones are found too. */
  expiresAt: number;
  isBanned: boolean;
};

const FIND = {
  name: "find_sessions",
  text: `
select s.token, s.id, s.user_id as "userId", u.role, (extract(epoch from s.expires_at) * 1000)::float8 as "expiresAt",
  ${IS_BANNED} as "isBanned"
from session s join "user" u on u.id = s.user_id
where s.token = any ($1::text[])`,
};

/** The sessions with these tokens, with their users' current role and ban; unknown tokens are left out. */
export async function findSessions(database: Queryable, tokens: readonly string[]): Promise<FoundSession[]> {
  return database.run<FoundSession>(FIND, [tokens]);
}

const DELETE_EXPIRED = ["session", "verification"].map((table) => ({
  name: `delete_expired_${table}s`,
  text: `
with expired as (
  select id from ${table} where expires_at < now() order by expires_at limit $1::int for update skip locked
)
delete from ${table} where id in (select id from expired)
returning id`,
}));

/**
 * Deletes expired sessions and mail links, at most `limit` of each, the oldest first. Returns how many.
 */
export async function deleteExpired(database: Queryable, limit: number): Promise<number> {
  const deleted = await Promise.all(DELETE_EXPIRED.map((statement) => database.run(statement, [limit])));
  return deleted.reduce((sum, rows) => sum + rows.length, 0);
}
