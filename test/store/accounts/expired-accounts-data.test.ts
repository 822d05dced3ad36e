import { beforeAll, expect, it } from "vitest";
import { deleteExpired } from "../../../src/store/accounts/expired-accounts-data.ts";
import { createSubscription } from "../../support/subscriptions.ts";
import { testDatabase } from "../../support/test-database.ts";

const test = testDatabase(2);
beforeAll(async () => {
  for (const id of ["old", "stays"])
    await createSubscription(test, "user_0", { provider_subscription_id: id });
});

/** Per table, a statement that adds a row: `$1` names it, and `$2` is how long ago the time that decides lies. */
const INSERTS = {
  session:
    "insert into session (id, user_id, token, expires_at) values ($1, 'user_0', $1, now() - $2::interval)",
  verification:
    "insert into verification (id, identifier, value, expires_at) values ($1, $1, 'user_0', now() - $2::interval)",
  email_change: `insert into email_change (user_id, new_email, old_token, new_token, expires_at)
    values (case $1 when 'old' then 'user_0' else 'user_1' end, $1, convert_to('a' || $1, 'UTF8'),
      convert_to('b' || $1, 'UTF8'), now() - $2::interval)`,
  sign_in_failure:
    "insert into sign_in_failure (key, failures, last_at) values ($1, 1, now() - $2::interval)",
  mail_recipient:
    "insert into mail_recipient (key, sent_at, last_at) values ($1, '{}', now() - $2::interval)",
  used_totp_code:
    "insert into used_totp_code (user_id, code, used_at) values ('user_0', $1, now() - $2::interval)",
  scheduled_change: `insert into scheduled_change (subscription_id, plan_id, seats, takes_effect_at)
    select id, $1, 1, now() - $2::interval from subscription where provider_subscription_id = $1`,
  interval_change: `insert into interval_change (subscription_id, changed_at)
    select id, now() - $2::interval from subscription where provider_subscription_id = $1`,
};

const NAME_OF_SUBSCRIPTION = "(select provider_subscription_id from subscription where id = subscription_id)";

it.each<[table: keyof typeof INSERTS, name: string, old: string, stays: string]>([
  ["session", "id", "1 second", "-1 hour"],
  ["verification", "id", "1 second", "-1 hour"],
  ["email_change", "new_email", "1 second", "-1 hour"],
  ["sign_in_failure", "key", "25 hours", "23 hours"],
  ["mail_recipient", "key", "25 hours", "23 hours"],
  ["used_totp_code", "code", "61 minutes", "50 minutes"],
  ["scheduled_change", "plan_id", "25 hours", "23 hours"],
  ["interval_change", NAME_OF_SUBSCRIPTION, "31 days", "29 days"],
])("deletes the expired rows of %s, and no others", async (table, name, old, stays) => {
  for (const [id, age] of [
    ["old", old],
    ["stays", stays],
  ])
    await test.rows(INSERTS[table], [id, age]);
  expect(await deleteExpired(test.database, { limit: 100, auditRetentionDays: 30 })).toBe(1);
  expect(await test.rows(`select ${name} as name from ${table}`)).toEqual([{ name: "stays" }]);
});
