import { expect, it } from "vitest";
import { readConfig } from "../../src/config/config.ts";
import { retentionJob } from "../../src/runtime/retention-job.ts";
import { withLease } from "../../src/store/hold-lease.ts";
import { createSubscription } from "../support/subscriptions.ts";
import { testDatabase } from "../support/test-database.ts";
import { serverVariables } from "../support/variables.ts";

const test = testDatabase(1);

async function runJob(variables: Record<string, string>, isStopping = () => false): Promise<void> {
  const job = retentionJob(readConfig({ ...serverVariables(test.url), ...variables }), test);
  await withLease(test.database, "job:retention", { seconds: 30 }, (lease) => job.run({ lease, isStopping }));
}

it("drops notifications and comparisons that are older than they are kept, until none is left", async () => {
  const subscription = await createSubscription(test, "user_0");
  await test.rows(
    `insert into notification (user_id, kind, created_at)
     select 'user_0', 'role_changed', now() - n * interval '1 day' from generate_series(1000, 1, -1) n`,
  );
  await test.rows(
    `insert into reconciliation (subscription_id, by, changes, at)
     select $1::uuid, 'server', '{}', now() - n * interval '1 day' from generate_series(1000, 1, -1) n`,
    [subscription],
  );
  await runJob({ AUDIT_RETENTION_DAYS: "100" });
  const days = (table: string, time: string) =>
    test.rows(`select count(*)::int, min(extract(day from now() - ${time}))::int as last,
      max(extract(day from now() - ${time}))::int as first from ${table}`);
  expect(await days("notification", "created_at")).toEqual([{ count: 364, first: 364, last: 1 }]);
  // The last one that is older is kept until the next one is.
  expect(await days("reconciliation", "at")).toEqual([{ count: 100, first: 100, last: 1 }]);
});

it("stops between two batches, so that it holds up no server that stops", async () => {
  await test.rows("delete from notification");
  await test.rows(
    `insert into notification (user_id, kind, created_at)
     select 'user_0', 'role_changed', now() - interval '1000 days' from generate_series(1, 500)`,
  );
  let asked = 0;
  // Once before the bodies of deliveries, once before the first notifications.
  await runJob({}, () => ++asked > 2);
  expect(await test.rows("select count(*)::int from notification")).toEqual([{ count: 300 }]);
});

it.each([
  [
    "the bodies of deliveries, after DELIVERY_RETENTION_DAYS",
    20,
    `insert into webhook_delivery (provider, event_id, event_type, format, status, claim_source, received_at, payload)
     select 'provider-a', 'evt_' || days, 'x', 'stripe', 'successful', 'delivery', now() - days * interval '1 day', '{}'
     from unnest($1::int[]) days`,
    "select substr(event_id, 5)::int as days from webhook_delivery where payload is not null",
  ],
  [
    "outbound events",
    30,
    `insert into outbound_event (type, subject, data, position, occurred_at)
     select 'user.created', 'user_0', '{}', -days, now() - days * interval '1 day' from unnest($1::int[]) days`,
    "select -position::int as days from outbound_event where position is not null",
  ],
  [
    "the idempotency keys of usage",
    30,
    `insert into usage_key (key, user_id, body_hash, used, remaining, created_at)
     select days, 'user_0', sha256('x'), 1, 1, now() - days * interval '1 day' from unnest($1::int[]) days`,
    "select key::int as days from usage_key",
  ],
  [
    "abandoned imports",
    7,
    `insert into import_run (id, updated_at) select days, now() - days * interval '1 day' from unnest($1::int[]) days`,
    "select id::int as days from import_run",
  ],
  [
    "hooks that no process has any more",
    5,
    `insert into event_endpoint (hook, types, hook_seen_at)
     select days, '{}', now() - days * interval '1 day' from unnest($1::int[]) days`,
    "select hook::int as days from event_endpoint",
  ],
  [
    "leases of crashed processes",
    0,
    `insert into lease (name, token, held_until)
     select days, gen_random_uuid(), now() - days * interval '1 day' from unnest($1::int[]) days`,
    "select name::int as days from lease where name <> 'job:retention'",
  ],
])("drops %s, and none a day too early", async (_, keptDays, insert, left) => {
  await test.rows(insert, [[keptDays + 1, keptDays - 1]]);
  await runJob({ DELIVERY_RETENTION_DAYS: "20", AUDIT_RETENTION_DAYS: "100" });
  expect(await test.rows(left)).toEqual([{ days: keptDays - 1 }]);
});
