import type { Queryable } from "../database.ts";

const RECORD = {
  name: "record_two_factor_change",
  text: `
insert into audit_entry (actor_kind, actor_id, address, action, target_type, target_id)
select 'session', id, $3, case when $2::boolean then 'user.two_factor_enabled' else 'user.two_factor_disabled' end, 'user', id
from "user" where id = $1 and coalesce(two_factor_enabled, false) <> $2::boolean
returning actor_id`,
};

/**
 * Writes into the audit log that a person turns the second factor on or off. To be called before they do, so that it
 * leaves a trace in any case. Returns whether anything changes.
 * @param address the client's
 */
export async function recordTwoFactorChange(
  database: Queryable,
  { userId, enabled, address }: { userId: string; enabled: boolean; address: string },
): Promise<boolean> {
  return (await database.run(RECORD, [userId, enabled, address])).length > 0;
}

const RECORD_CODES = {
  name: "record_backup_codes",
  text: `
insert into audit_entry (actor_kind, actor_id, address, action, target_type, target_id)
values ('session', $1, $2, 'user.backup_codes_created', 'user', $1)`,
};

/**
 * Writes into the audit log that a person has new backup codes: whoever has those needs no second factor.
 * @param address the client's
 */
export async function recordBackupCodes(
  database: Queryable,
  { userId, address }: { userId: string; address: string },
): Promise<void> {
  await database.run(RECORD_CODES, [userId, address]);
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

/** Turns a person's second factor off for them, and has them told by mail. */
export async function disableTwoFactor(
  database: Queryable,
  userId: string,
): Promise<"disabled" | "unchanged" | "unknown"> {
  const [user] = await database.run<{ isChanged: boolean }>(DISABLE, [userId]);
  if (user === undefined) return "unknown";
  return user.isChanged ? "disabled" : "unchanged";
}
