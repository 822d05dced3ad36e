import { expect, it } from "vitest";
import { readConfig } from "../../src/config/config.ts";
import { retentionJob } from "../../src/runtime/retention-job.ts";
import { withLease } from "../../src/store/hold-lease.ts";
import { createSubscription } from "../support/subscriptions.ts";
import { testDatabase } from "../support/test-database.ts";
import { serverVariables } from "../support/variables.ts";

const test = testDatabase(1);

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
  const config = readConfig({ ...serverVariables(test.url), AUDIT_RETENTION_DAYS: "100" });
  const job = retentionJob(config, test);
  await withLease(test.database, "job:retention", { seconds: 30 }, (lease) =>
    job.run({ lease, isStopping: () => false }),
  );
  const days = (table: string, time: string) =>
    test.rows(`select count(*)::int, min(extract(day from now() - ${time}))::int as last,
      max(extract(day from now() - ${time}))::int as first from ${table}`);
  expect(await days("notification", "created_at")).toEqual([{ count: 364, first: 364, last: 1 }]);
  // The last one that is older is kept until the next one is.
  expect(await days("reconciliation", "at")).toEqual([{ count: 100, first: 100, last: 1 }]);
});
