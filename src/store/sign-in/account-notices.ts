import type { Locale } from "../../domain/locale.ts";
import type { AccountNotice } from "../../domain/notifications/account-notice.ts";
import type { Queryable } from "../database.ts";

/** Extended by each run of the job, every half minute, while a server has the mail in memory. */
const LEASE = "interval '15 minutes'";
const GIVEN_UP_AFTER = "interval '3 days'";

/**
 * SQL that stores a notice in the statement that makes the change, and returns it: this process is about to send it.
 * @param users a table with the `id` of whom it is for
 */
export function insertNotice(kind: AccountNotice, users: string): string {
  return `insert into account_notice (user_id, kind, send_after)
select id, '${kind}', clock_timestamp() + ${LEASE} from ${users}
returning id::text, user_id as "userId", kind`;
}

export type StoredNotice = { id: string; userId: string; kind: AccountNotice };

export type DueNotice = { id: string; kind: AccountNotice; to: string; locale: Locale };

// A `send_after` further ahead than any claim sets it was written while the database's clock was ahead, as before a failover.
const CLAIM = {
  name: "claim_account_notices",
  text: `
with due as (
  select id from account_notice
  where send_after <= clock_timestamp() or send_after > clock_timestamp() + 2 * ${LEASE}
  order by id limit $1::int for update skip locked
)
update account_notice n set send_after = clock_timestamp() + ${LEASE}
from due, "user" u where n.id = due.id and u.id = n.user_id
returning n.id::text, n.kind, u.email as "to", u.locale`,
};

/** The notices whose server has ended, or could not send them: they are this process's for a quarter of an hour. */
export function claimAccountNotices(database: Queryable, limit: number): Promise<DueNotice[]> {
  return database.run<DueNotice>(CLAIM, [limit]);
}

// A row that is locked is being deleted.
const EXTEND = {
  name: "extend_account_notices",
  text: `
with queued as (select id from account_notice where id = any ($1::bigint[]) for update skip locked)
update account_notice n set send_after = clock_timestamp() + ${LEASE} from queued where n.id = queued.id`,
};

/** These notices are this process's for another quarter of an hour. */
export async function extendAccountNotices(database: Queryable, ids: readonly string[]): Promise<void> {
  if (ids.length > 0) await database.run(EXTEND, [ids]);
}

const DELETE = { name: "delete_account_notice", text: "delete from account_notice where id = $1::bigint" };

/** The mail server has accepted or rejected its mail. */
export async function deleteAccountNotice(database: Queryable, id: string): Promise<void> {
  await database.run(DELETE, [id]);
}

const GIVE_UP = {
  name: "give_up_account_notices",
  text: `delete from account_notice where created_at < clock_timestamp() - ${GIVEN_UP_AFTER} returning 1`,
};

/** Deletes notices that could not be sent for three days, and returns how many. */
export async function giveUpAccountNotices(database: Queryable): Promise<number> {
  return (await database.run(GIVE_UP)).length;
}
