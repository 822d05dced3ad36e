import type { Database, Queryable, Statement } from "../database.ts";
import { retryOnContention } from "../retry-on-contention.ts";
import { INTERACTIVE_LIMITS, inTransaction } from "../transaction.ts";
import { LOCK_USER } from "../users/lock-user.ts";
import { insertNotice, type StoredNotice } from "./account-notices.ts";

/**
 * A statement sees what was committed before it began: keys that are just being created are waited for first, as are other
 * revocations, which delete the same sessions and links in an order of their own.
 */
async function revoke<Row>(
  database: Database,
  statement: Statement,
  [userId, ...values]: readonly [userId: string, ...unknown[]],
): Promise<Row[]> {
  return retryOnContention(() =>
    inTransaction(database, INTERACTIVE_LIMITS, async (transaction) => {
      const locking = transaction.run(LOCK_USER, [userId]);
      const revoking = transaction.run<Row>(statement, [userId, ...values]);
      await transaction.commitAfter([locking, revoking]);
      return revoking;
    }),
  );
}

/**
 * Common table expressions that revoke what a password gives the user `$1` besides sessions. All of a person's links are
 * stored with the user's id as value: resets, pending second factors, trusted devices.
 */
function revokingLinksAndKeys(revokesKeys: `$${number}`): string {
  return `links as (delete from verification where value = $1),
changes as (delete from email_change where user_id = $1),
plugin_links as (delete from plugin_link where user_id = $1 and ${revokesKeys}::boolean),
keys as (
  update api_key set revoked_at = now() where user_id = $1 and revoked_at is null and ${revokesKeys}::boolean
  returning id
)`;
}

// The notification is not mailed: a mail about the account is, whatever notifications are wanted.
const WITH_NEW_PASSWORD = {
  name: "revoke_with_new_password",
  text: `
with ${revokingLinksAndKeys("$4")},
notified as (
  insert into notification (user_id, kind, details, mail_after)
  select $1, 'password_changed', jsonb_build_object('keys', (select count(*) from keys)), 'infinity'
),
recorded as (
  insert into audit_entry (actor_kind, actor_id, address, action, target_type, target_id, details)
  values ('session', $1, $2, $3, 'user', $1, jsonb_build_object('revokedKeys', (select count(*) from keys)))
  returning target_id as id
)
${insertNotice("password_changed", "recorded")}`,
};

type PasswordRevocation = {
  userId: string;
  /** The client's. */
  address: string;
  action: "user.password_reset" | "user.password_changed";
  /** Whether keys and calendar addresses are revoked too: a change must not break programs unasked. */
  revokesKeys: boolean;
};

/**
 * Call in the transaction that sets a new password: after a crash between two, keys and links of whoever knew
 * the old one would stay valid, and nobody be notified. Returns the notice, whose mail is to be sent.
 */
export async function revokeWithNewPassword(
  transaction: Queryable,
  { userId, address, action, revokesKeys }: PasswordRevocation,
): Promise<StoredNotice> {
  const [notice] = await transaction.run<StoredNotice>(WITH_NEW_PASSWORD, [
    userId,
    address,
    action,
    revokesKeys,
  ]);
  return notice as StoredNotice;
}

const LOCK_PASSWORD = {
  name: "lock_password",
  text: "select pg_advisory_xact_lock(hashtextextended('password:' || $1::text, 0))",
};

/**
 * Call first in the transaction that sets a new password: two of one user would each wait for what the other
 * has deleted.
 */
export async function lockPassword(transaction: Queryable, userId: string): Promise<void> {
  await transaction.run(LOCK_PASSWORD, [userId]);
}

const AFTER_NEW_PASSWORD = {
  name: "revoke_after_new_password",
  text: `
with sessions as (delete from session where user_id = $1 and token is distinct from $2),
${revokingLinksAndKeys("$3")}
select count(*) from keys`,
};

/**
 * Revokes what was obtained with the old password while the new one was being set.
 * @param keepToken of the session that stays; `null`: none
 */
export async function revokeAfterNewPassword(
  database: Database,
  { userId, keepToken, revokesKeys }: { userId: string; keepToken: string | null; revokesKeys: boolean },
): Promise<void> {
  await revoke(database, AFTER_NEW_PASSWORD, [userId, keepToken, revokesKeys]);
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
  database: Database,
  userId: string,
  keep: string,
): Promise<void> {
  await revoke(database, BEFORE_SECOND_FACTOR, [userId, keep]);
}

const STALE_SIGN_IN = {
  name: "revoke_stale_sign_in",
  text: `
with sessions as (delete from session where token = $2)
delete from verification where value = $1`,
};

/** The session and trusted device of a sign-in that began before the password changed and ended after it. */
export async function revokeStaleSignIn(
  database: Database,
  { userId, token }: { userId: string; token: string },
): Promise<void> {
  await revoke(database, STALE_SIGN_IN, [userId, token]);
}

// Waits for a change of the address that is under way, and then reads the address anew.
const FORMER_ADDRESS = {
  name: "revoke_links_to_former_address",
  text: `
with owner as (select id from "user" where id = $1 and email = $2 for share),
links as (delete from verification where value = $1 and not exists (select from owner))
select id from owner`,
};

/**
 * Revokes the links of an address that is no longer the person's; returns whether it is. The change of the address has revoked
 * only those that had been made before.
 */
export async function revokeLinksUnlessCurrent(
  database: Queryable,
  { userId, email }: { userId: string; email: string },
): Promise<boolean> {
  return (await database.run(FORMER_ADDRESS, [userId, email])).length > 0;
}

const OTHER_SESSIONS = {
  name: "revoke_other_sessions",
  text: `
with own as (select id from session where id = $2 and user_id = $1),
others as (delete from session where user_id = $1 and id <> $2 and exists (select from own) returning id)
select (select count(*)::int from others) as revoked from own`,
};

/** Returns how many there were; `null`: the session itself has ended. Of two that end each other at once, one stays. */
export async function revokeOtherSessions(
  database: Database,
  userId: string,
  sessionId: string,
): Promise<number | null> {
  const [row] = await revoke<{ revoked: number }>(database, OTHER_SESSIONS, [userId, sessionId]);
  return row?.revoked ?? null;
}
