import type { Database, Queryable, Statement } from "./database.ts";
import { inTransaction, PATIENT_LIMITS } from "./transaction.ts";

const LOCK_USER = {
  name: "lock_user_to_revoke",
  text: `select from "user" where id = $1 for no key update`,
};

/** A statement sees what was committed before it began: keys that are just being created are waited for first. */
async function revoke(
  database: Database,
  statement: Statement,
  [userId, ...values]: readonly [userId: string, ...unknown[]],
): Promise<void> {
  await inTransaction(database, PATIENT_LIMITS, (transaction) =>
    transaction.commitAfter([
      transaction.run(LOCK_USER, [userId]),
      transaction.run(statement, [userId, ...values]),
    ]),
  );
}

// All of a person's links are stored with the user's id as value: resets, pending second factors, trusted
// devices.
const AFTER_RESET = {
  name: "revoke_after_password_reset",
  text: `
with sessions as (delete from session where user_id = $1),
links as (delete from verification where value = $1),
changes as (delete from email_change where user_id = $1),
plugin_links as (delete from plugin_link where user_id = $1),
keys as (update api_key set revoked_at = now() where user_id = $1 and revoked_at is null returning id),
notified as (
  insert into notification (user_id, kind, details)
  select $1, 'password_changed', jsonb_build_object('keys', (select count(*) from keys))
)
insert into audit_entry (actor_kind, actor_id, address, action, target_type, target_id, details)
values ('session', $1, $2, 'user.password_reset', 'user', $1,
  jsonb_build_object('revokedKeys', (select count(*) from keys)))`,
};

/** A reset proves ownership of the address: everything obtained before is void. */
export async function revokeAfterReset(database: Database, userId: string, address: string): Promise<void> {
  await revoke(database, AFTER_RESET, [userId, address]);
}

// Better Auth has ended the other sessions together with the change, except those that began just then.
const AFTER_CHANGE = {
  name: "revoke_after_password_change",
  text: `
with sessions as (delete from session where user_id = $1 and token <> $4),
links as (delete from verification where value = $1),
changes as (delete from email_change where user_id = $1),
plugin_links as (delete from plugin_link where user_id = $1 and $3::boolean),
keys as (
  update api_key set revoked_at = now() where user_id = $1 and revoked_at is null and $3::boolean returning id
),
notified as (
  insert into notification (user_id, kind, details)
  select $1, 'password_changed', jsonb_build_object('keys', (select count(*) from keys))
)
insert into audit_entry (actor_kind, actor_id, address, action, target_type, target_id, details)
values ('session', $1, $2, 'user.password_changed', 'user', $1,
  jsonb_build_object('revokedKeys', (select count(*) from keys)))`,
};

/**
 * Mailed links always, keys and calendar addresses on request: a change must not break programs unasked. The
 * session with this token stays.
 */
export async function revokeAfterChange(
  database: Database,
  { userId, address, keys, token }: { userId: string; address: string; keys: boolean; token: string },
): Promise<void> {
  await revoke(database, AFTER_CHANGE, [userId, address, keys, token]);
}

const BEFORE_SECOND_FACTOR = {
  name: "revoke_before_second_factor",
  text: `
with sessions as (delete from session where user_id = $1 and $2 not in (id, token))
delete from verification where value = $1`,
};

/**
 * What got in without the new second factor: other sessions, and devices trusted by an earlier one.
 * @param keep the id or token of the session that stays
 */
export async function revokeBeforeSecondFactor(
  database: Queryable,
  userId: string,
  keep: string,
): Promise<void> {
  await database.run(BEFORE_SECOND_FACTOR, [userId, keep]);
}

const STALE_SIGN_IN = {
  name: "revoke_stale_sign_in",
  text: `
with sessions as (delete from session where token = $2)
delete from verification where value = $1`,
};

/** The session and trusted device of a sign-in that began before the password changed and ended after it. */
export async function revokeStaleSignIn(
  database: Queryable,
  { userId, token }: { userId: string; token: string },
): Promise<void> {
  await database.run(STALE_SIGN_IN, [userId, token]);
}

const OTHER_SESSIONS = {
  name: "revoke_other_sessions",
  text: "delete from session where user_id = $1 and id <> $2 returning id",
};

/** Returns how many there were. */
export async function revokeOtherSessions(
  database: Queryable,
  userId: string,
  sessionId: string,
): Promise<number> {
  return (await database.run(OTHER_SESSIONS, [userId, sessionId])).length;
}
