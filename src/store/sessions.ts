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

/** The sessions that have these tokens, with what their users are now; the unknown are left out. */
export async function findSessions(database: Queryable, tokens: readonly string[]): Promise<FoundSession[]> {
  return database.run<FoundSession>(FIND, [tokens]);
}

const FORGET_EXPIRED = ["session", "verification"].map((table) => ({
  name: `forget_expired_${table}s`,
  text: `
with expired as (
  select id from ${table} where expires_at < now() order by expires_at limit $1::int for update skip locked
)
delete from ${table} where id in (select id from expired)
returning id`,
}));

/**
 * Deletes sessions, and links of mails, that have expired: at most `limit` of each, the oldest first. Returns how many.
 */
export async function forgetExpired(database: Queryable, limit: number): Promise<number> {
  const forgotten = await Promise.all(FORGET_EXPIRED.map((statement) => database.run(statement, [limit])));
  return forgotten.reduce((sum, rows) => sum + rows.length, 0);
}
