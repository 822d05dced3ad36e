import type { Queryable } from "../database.ts";

export type UserState = "present" | "deleted";

const STATES = {
  name: "find_user_states",
  text: `
select id, 'present' as state from "user" where id = any ($1::text[])
union all
select id, 'deleted' from deleted_user where id = any ($1::text[])`,
};

/** Which of these exist, and which have deleted the account; unknown ids are left out. */
export async function findUserStates(
  transaction: Queryable,
  ids: readonly string[],
): Promise<Map<string, UserState>> {
  const rows = await transaction.run<{ id: string; state: UserState }>(STATES, [ids]);
  return new Map(rows.map((row) => [row.id, row.state]));
}

const WAIT = {
  name: "wait_for_users",
  text: `select from "user" where id = any ($1::text[]) order by id for key share`,
};

/**
 * The same once nobody is deleting one of them, and keeps those that exist from being deleted until the end of
 * the transaction.
 */
export async function waitForUserStates(
  transaction: Queryable,
  ids: readonly string[],
): Promise<Map<string, UserState>> {
  const [, states] = await Promise.all([transaction.run(WAIT, [ids]), findUserStates(transaction, ids)]);
  return states;
}

const LOCK_PRESENT = {
  name: "lock_present_users",
  text: `
with locked as materialized (
  select id from "user" where id = any ($1::text[]) for key share skip locked
)
select u.id, 'present' as state, u.id <> all (array(select id from locked)) as "isLockedElsewhere"
from "user" u where u.id = any ($1::text[])
union all
select id, 'deleted', false from deleted_user where id = any ($1::text[])`,
};

/** The same without waiting: those that somebody is deleting are not kept, and are `lockedElsewhere`. */
export async function lockPresentUsers(
  transaction: Queryable,
  ids: readonly string[],
): Promise<{ states: Map<string, UserState>; lockedElsewhere: Set<string> }> {
  type Row = { id: string; state: UserState; isLockedElsewhere: boolean };
  const rows = await transaction.run<Row>(LOCK_PRESENT, [ids]);
  return {
    states: new Map(rows.map((row) => [row.id, row.state])),
    lockedElsewhere: new Set(rows.flatMap(({ id, isLockedElsewhere }) => (isLockedElsewhere ? id : []))),
  };
}

const CONFIRMED = {
  name: "find_confirmed_emails",
  text: `select id, email from "user" where id = any ($1::text[]) and email_verified`,
};

/** By user, the addresses that they have proved to own. */
export async function findConfirmedEmails(
  transaction: Queryable,
  ids: readonly string[],
): Promise<Map<string, string>> {
  if (ids.length === 0) return new Map();
  const rows = await transaction.run<{ id: string; email: string }>(CONFIRMED, [ids]);
  return new Map(rows.map(({ id, email }) => [id, email]));
}
