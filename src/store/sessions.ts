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

const FORGET_EXPIRED = {
  name: "forget_expired_sessions",
  text: `
with expired as (
  select id from session where expires_at < now() order by expires_at limit $1::int for update skip locked
)
delete from session where id in (select id from expired)
returning id`,
};

/** Deletes at most `limit` sessions that have expired, the oldest first, and returns how many. */
export async function forgetExpiredSessions(database: Queryable, limit: number): Promise<number> {
  return (await database.run(FORGET_EXPIRED, [limit])).length;
}
