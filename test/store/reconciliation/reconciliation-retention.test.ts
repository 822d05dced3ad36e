import { beforeEach, expect, it } from "vitest";
import { dropReconciliations } from "../../../src/store/reconciliation/reconciliation-retention.ts";
import { historyOf } from "../../../src/store/subscriptions/subscription-history.ts";
import { createSubscription } from "../../support/subscriptions.ts";
import { testDatabase } from "../../support/test-database.ts";

const test = testDatabase(2);
let first: string;
let second: string;
beforeEach(async () => {
  await test.rows("truncate subscription, reconciliation cascade");
  await test.rows("update reconciliation_retention set dropped_until = 0");
  first = await createSubscription(test, "user_0");
  second = await createSubscription(test, "user_1");
});

/** Of one subscription each, in this order; `seats` tells them apart. */
async function comparisons(rows: readonly [subscription: string, daysAgo: number, seats: number][]) {
  for (const [subscription, daysAgo, seats] of rows)
    await test.rows(
      `insert into reconciliation (subscription_id, by, changes, at)
       values ($1::uuid, 'server', json_build_object('seats', array[1, $3::int]), now() - $2::float8 * interval '1 day')`,
      [subscription, daysAgo, seats],
    );
}

async function dropAll(limit = 2): Promise<number> {
  for (let total = 0; ; ) {
    const passed = await dropReconciliations(test.database, { olderThanDays: 365, limit });
    if (passed === 0) return total;
    total += passed;
  }
}

const kept = async () => {
  const rows = await test.rows<{ seats: number }>(
    "select (changes -> 'seats' ->> 1)::int as seats from reconciliation order by id",
  );
  return rows.map(({ seats }) => seats);
};

it("drops old comparisons, but for the last one of each subscription", async () => {
  await comparisons([
    [first, 500, 2],
    [second, 450, 3],
    [first, 400, 4],
    [first, 380, 5],
    [first, 100, 6],
    [first, 1, 7],
  ]);
  expect(await dropAll()).toBe(4);
  expect(await kept()).toEqual([3, 5, 6, 7]);
  const [last] = await historyOf(test.database, second, { before: null, limit: 1 });
  expect(last).toMatchObject({ source: "reconcile", changes: { seats: [1, 3] } });
  expect(await dropAll()).toBe(0);
});

it("drops the one that was the last once a later one is old", async () => {
  await comparisons([
    [first, 500, 2],
    [first, 100, 3],
    [second, 50, 4],
  ]);
  expect(await dropAll()).toBe(1);
  expect(await kept()).toEqual([2, 3, 4]);
  await test.rows("update reconciliation set at = at - interval '300 days'");
  expect(await dropAll()).toBe(1);
  expect(await kept()).toEqual([3, 4]);
});

it("runs on one process at a time", async () => {
  await comparisons([
    [first, 500, 2],
    [first, 400, 3],
  ]);
  const connection = await test.database.connection();
  await connection.script("begin; select from reconciliation_retention for update");
  expect(await dropAll()).toBe(0);
  await connection.script("rollback");
  connection.release({ healthy: true });
  expect(await dropAll()).toBe(2);
  expect(await kept()).toEqual([3]);
});
