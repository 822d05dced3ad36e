import { randomUUID } from "node:crypto";
import { beforeEach, expect, it } from "vitest";
import { dropUsage, recordUsage, type UsageItem } from "../../../src/store/entitlements/usage.ts";
import { testDatabase } from "../../support/test-database.ts";

const test = testDatabase(2);
beforeEach(async () => {
  for (const table of ["usage_key", "usage_counter"]) await test.rows(`delete from ${table}`);
});

const item = (different: Partial<UsageItem> = {}): UsageItem => ({
  userId: "user_0",
  feature: "events",
  amount: 7,
  quota: 10,
  periodEnd: new Date("2031-01-01T00:00:00Z"),
  idempotencyKey: randomUUID(),
  ...different,
});

const record = (...items: UsageItem[]) => recordUsage(test.database, items);

const recorded = (used: number, remaining: number) => ({
  outcome: "recorded",
  answers: [{ used, remaining }],
});

it.each<[string, Partial<UsageItem>]>([
  ["user", { userId: "user_1" }],
  ["feature", { feature: "exports" }],
  ["period", { periodEnd: new Date("2031-02-01T00:00:00Z") }],
])("counts each %s by itself", async (_name, different) => {
  expect(await record(item())).toEqual(recorded(7, 3));
  expect(await record(item({ ...different, amount: 5 }))).toEqual(recorded(5, 5));
  expect(await record(item({ amount: 3 }))).toEqual(recorded(10, 0));
  expect(await record(item({ ...different, amount: 5 }))).toEqual(recorded(10, 0));
});

it("stays recorded where a read that is sent with it fails", async () => {
  const failing = { name: "no_such_table", text: "select * from no_such_table" };
  const [answer, read] = await Promise.allSettled([record(item()), test.database.run(failing)]);
  expect([answer, read]).toMatchObject([{ value: recorded(7, 3) }, { status: "rejected" }]);
  expect(await record(item({ amount: 3 }))).toEqual(recorded(10, 0));
});

it("leaves nothing when the quota has become smaller than what was used", async () => {
  await record(item());
  expect(await record(item({ amount: 1, quota: 5 }))).toEqual({
    outcome: "quota_exceeded",
    item: 0,
    remaining: 0,
  });
});

it("says what is left without the earlier items of a refused call, as nothing of it counts", async () => {
  const refused = (index: number, remaining: number) => ({
    outcome: "quota_exceeded",
    item: index,
    remaining,
  });
  // No counter is left of the call either.
  expect(await record(item({ amount: 6 }), item({ amount: 6 }))).toEqual(refused(1, 10));
  await record(item({ amount: 2 }));
  expect(await record(item({ amount: 3 }), item({ amount: 3 }), item({ amount: 3 }))).toEqual(refused(2, 8));
  expect(await record(item({ amount: 8 }))).toEqual(recorded(10, 0));
});

it("counts a repeated key once, also when a new period has begun in between", async () => {
  const once = item();
  await record(once);
  const nextPeriod = { periodEnd: new Date("2031-02-01T00:00:00Z") };
  expect(await record({ ...once, ...nextPeriod })).toEqual(recorded(7, 3));
  expect(await record(item({ ...nextPeriod, amount: 10 }))).toEqual(recorded(10, 0));
});

it("keeps keys for 30 days, and counters for 30 days after their period", async () => {
  await test.rows(
    `insert into usage_key (key, user_id, body_hash, used, remaining, created_at)
     select 'key ' || days, 'user_0', sha256('x'), 1, 1, now() - days * interval '1 day'
     from unnest(array[29, 31]) days`,
  );
  await test.rows(
    `insert into usage_counter (user_id, feature, period_end, used)
     select 'user_0', 'feature ' || days, now() - days * interval '1 day', 1 from unnest(array[-300, 29, 31]) days`,
  );
  expect(await dropUsage(test.database, { olderThanDays: 30, limit: 10 })).toBe(2);
  expect(await test.rows("select key from usage_key")).toEqual([{ key: "key 29" }]);
  expect(await test.rows("select feature from usage_counter order by period_end")).toEqual([
    { feature: "feature 29" },
    { feature: "feature -300" },
  ]);
  expect(await dropUsage(test.database, { olderThanDays: 30, limit: 10 })).toBe(0);
});
