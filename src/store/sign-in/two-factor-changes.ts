import type { TwoFactorChange } from "../../domain/notifications/account-notice.ts";
import type { Database, Queryable } from "../database.ts";
import { retryOnContention } from "../retry-on-contention.ts";
import { INTERACTIVE_LIMITS, inTransaction } from "../transaction.ts";
import { LOCK_USER } from "../users/lock-user.ts";
import { insertNotice, type StoredNotice } from "./account-notices.ts";
import { hasSession } from "./sessions.ts";

const LOCK_SET_UP = {
  name: "lock_set_up_of_second_factor",
  text: "select 1 from two_factor where user_id = $1 and secret = $2 for no key update",
};

// Sessions and trusted devices from before the second factor end with the change.
const TURN_ON = {
  name: "turn_second_factor_on",
  text: `
with confirmed as (update two_factor set verified = true where user_id = $1 returning user_id),
changed as (
  update "user" set two_factor_enabled = true where id in (select user_id from confirmed) and not two_factor_enabled
  returning id
),
sessions as (delete from session where user_id in (select id from changed) and id <> $3),
links as (delete from verification where value in (select id from changed)),
${recordChange("two_factor_enabled")}`,
};

const TURN_OFF = {
  name: "turn_second_factor_off",
  text: `
with changed as (
  update "user" set two_factor_enabled = false where id = $1 and two_factor_enabled returning id
),
removed as (delete from two_factor where user_id in (select id from changed)),
${recordChange("two_factor_disabled")}`,
};

function recordChange(change: TwoFactorChange): string {
  return `recorded as (
  insert into audit_entry (actor_kind, actor_id, address, action, target_type, target_id)
  select 'session', id, $2, 'user.${change}', 'user', id from changed
)
${insertNotice(change, "changed")}`;
}

type TwoFactorSwitch = { enabled: true; secret: string | null } | { enabled: false };

/**
 * Turns a person's second factor on or off, records it and stores the notice of it, in one transaction: Better Auth, which does
 * the same afterwards, changes the user and the secret one after the other, so that a person whose session ends in between
 * could not sign in any more. `ended`: the session has; `replaced`: the set-up whose code was right is not there any more.
 * @param change `secret`: of the set-up to turn on, encrypted; `by`: the session that it is done with, and the client's address
 */
export function changeTwoFactor(
  database: Database,
  userId: string,
  change: TwoFactorSwitch & { by: { sessionId: string; address: string } },
): Promise<StoredNotice | "unchanged" | "ended" | "replaced"> {
  const { enabled, by } = change;
  return retryOnContention(() =>
    inTransaction(database, INTERACTIVE_LIMITS, async (transaction) => {
      const locking = transaction.run(LOCK_USER, [userId]);
      const lockingSetUp = change.enabled ? transaction.run(LOCK_SET_UP, [userId, change.secret]) : null;
      const [, setUps, exists] = await Promise.all([
        locking,
        lockingSetUp,
        hasSession(transaction, by.sessionId),
      ]);
      if (!exists) return "ended";
      if (setUps?.length === 0) return "replaced";
      const changing = enabled
        ? transaction.run<StoredNotice>(TURN_ON, [userId, by.address, by.sessionId])
        : transaction.run<StoredNotice>(TURN_OFF, [userId, by.address]);
      await transaction.commitAfter([changing]);
      const [notice] = await changing;
      return notice ?? (enabled ? "ended" : "unchanged");
    }),
  );
}

const RECORD_CODES = {
  name: "record_backup_codes",
  text: `
with recorded as (
  insert into audit_entry (actor_kind, actor_id, address, action, target_type, target_id)
  values ('session', $1, $2, 'user.backup_codes_created', 'user', $1)
  returning target_id as id
)
${insertNotice("backup_codes_created", "recorded")}`,
};

/**
 * Writes into the audit log that a person has new backup codes, as whoever has those needs no second factor, and stores the
 * notice of it.
 * @param address the client's
 */
export async function recordBackupCodes(
  database: Queryable,
  { userId, address }: { userId: string; address: string },
): Promise<StoredNotice> {
  const [notice] = await database.run<StoredNotice>(RECORD_CODES, [userId, address]);
  return notice as StoredNotice;
}

const DISABLE = {
  name: "disable_two_factor",
  text: `
with changed as (
  update "user" set two_factor_enabled = false, updated_at = now() where id = $1 and two_factor_enabled
  returning id
), factor as (
  delete from two_factor where user_id = $1
), noticed as (
  insert into account_notice (user_id, kind, send_after) select id, 'two_factor_disabled', clock_timestamp() from changed
)
select exists (select from changed) as "isChanged" from "user" where id = $1`,
};

/** Turns a person's second factor off for them, and has them told by mail. Call in a transaction. */
export async function disableTwoFactor(
  transaction: Queryable,
  userId: string,
): Promise<"disabled" | "unchanged" | "unknown"> {
  // What they may be turning on at this moment is to be seen.
  const locking = transaction.run(LOCK_USER, [userId]);
  const [, [user]] = await Promise.all([locking, transaction.run<{ isChanged: boolean }>(DISABLE, [userId])]);
  if (user === undefined) return "unknown";
  return user.isChanged ? "disabled" : "unchanged";
}
