import { deleteOldAuditEntries } from "../audit/audit-log.ts";
import type { Queryable } from "../database.ts";
import { INTERVAL_CHANGE_COUNTS_FOR } from "../subscriptions/interval-changes.ts";

const STATEMENTS = [
  ...["session", "verification", "email_change"].map((table) =>
    deletion(table, "expires_at < now()", "expires_at"),
  ),
  // No longer counted by then: see `sign-in-failures.ts` and `mail-recipients.ts`.
  ...["sign_in_failure", "mail_recipient"].map((table) =>
    deletion(table, "last_at < now() - interval '1 day'", "last_at"),
  ),
  deletion("scheduled_change", "takes_effect_at < now() - interval '1 day'", "takes_effect_at"),
  deletion("interval_change", `changed_at < now() - ${INTERVAL_CHANGE_COUNTS_FOR}`, "changed_at"),
  // Given up by then; without a mail server nobody sends them.
  deletion("account_notice", "created_at < now() - interval '4 days'", "created_at"),
  deletion("used_totp_code", "used_at < now() - interval '1 hour'", "used_at"),
];

function deletion(table: string, condition: string, order: string) {
  return {
    name: `delete_expired_${table}s`,
    text: `
with expired as (
  select ctid from ${table} where ${condition} order by ${order} limit $1::int for update skip locked
)
delete from ${table} where ctid = any (array(select ctid from expired))
returning 1`,
  };
}

/**
 * Deletes expired sessions, mail links, attempts, scheduled changes and audit entries: at most `limit` of
 * each, the oldest first. Returns how many.
 */
export async function deleteExpired(
  database: Queryable,
  { limit, auditRetentionDays }: { limit: number; auditRetentionDays: number },
): Promise<number> {
  const deleted = await Promise.all([
    ...STATEMENTS.map(async (statement) => (await database.run(statement, [limit])).length),
    deleteOldAuditEntries(database, { retentionDays: auditRetentionDays, limit }),
  ]);
  return deleted.reduce((sum, count) => sum + count, 0);
}
