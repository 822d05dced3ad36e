import { beforeEach, expect, it } from "vitest";
import { showStatistics } from "../../src/operations/webhooks/show-statistics.ts";
import { testDatabase } from "../support/test-database.ts";
import { createTestContext, session } from "./test-context.ts";

const ADMIN = session("user_0", "admin");

const test = testDatabase(1);
const context = createTestContext(test);
beforeEach(async () => {
  await test.rows("truncate webhook_delivery restart identity");
});

type Hour = { startsAt: Date; successful: number; failed: number; pending: number };

async function statistics(input: object = {}): Promise<{ hours: Hour[]; isEstimate: boolean }> {
  return context.call(showStatistics, ADMIN, input);
}

/** Deliveries received this many hours before the current hour, at half past, with consecutive ids. */
async function received(
  ...some: { hoursAgo: number; status?: string; provider?: string; count?: number }[]
): Promise<void> {
  for (const { hoursAgo, status = "successful", provider = "provider-a", count = 1 } of some) {
    await test.rows(
      `insert into webhook_delivery (provider, event_id, event_type, format, status, claim_source, received_at)
       select $1, gen_random_uuid(), 'x', 'stripe', $2, 'delivery',
         date_trunc('hour', now(), 'UTC') - $3::int * interval '1 hour' + interval '30 minutes'
       from generate_series(1, $4::int)`,
      [provider, status, hoursAgo, count],
    );
  }
}

/** The hours ago with any delivery, and their counts that are not zero. */
function countsByHoursAgo(hours: readonly Hour[]): Record<string, object> {
  return Object.fromEntries(
    hours.toReversed().flatMap(({ startsAt: _, ...counts }, hoursAgo) => {
      const some = Object.entries(counts).filter(([, count]) => count > 0);
      return some.length > 0 ? [[hoursAgo, Object.fromEntries(some)]] : [];
    }),
  );
}

it("counts the deliveries of the current hour and of the 23 before it", async () => {
  await received(
    { hoursAgo: 40, count: 3 },
    { hoursAgo: 30, status: "failed" },
    { hoursAgo: 24, count: 2 },
    { hoursAgo: 23, count: 5 },
    { hoursAgo: 7, status: "failed", count: 2 },
    { hoursAgo: 7, count: 4 },
    { hoursAgo: 1, status: "pending" },
    { hoursAgo: 0, count: 6 },
  );
  const { hours, isEstimate } = await statistics();
  expect(isEstimate).toBe(false);
  expect(hours).toHaveLength(24);
  expect(countsByHoursAgo(hours)).toEqual({
    0: { successful: 6 },
    1: { pending: 1 },
    7: { successful: 4, failed: 2 },
    23: { successful: 5 },
  });
  const starts = hours.map(({ startsAt }) => startsAt.getTime());
  const latest = starts.at(-1) as number;
  expect(starts).toEqual(Array.from({ length: 24 }, (_, n) => latest - (23 - n) * 3_600_000));
  expect(latest % 3_600_000).toBe(0);
  expect(Math.abs(Date.now() - latest)).toBeLessThan(3_700_000);
});

it("counts the deliveries of one slot", async () => {
  await received(
    { hoursAgo: 2, provider: "provider-b", count: 3 },
    { hoursAgo: 2 },
    { hoursAgo: 1, status: "failed", provider: "provider-b" },
    { hoursAgo: 1, status: "failed", provider: "provider-c" },
  );
  expect(countsByHoursAgo((await statistics({ provider: "provider-b" })).hours)).toEqual({
    1: { failed: 1 },
    2: { successful: 3 },
  });
  expect(countsByHoursAgo((await statistics({ provider: "provider-a" })).hours)).toEqual({
    2: { successful: 1 },
  });
});

it("returns 24 empty hours for an empty log and for an older one", async () => {
  expect(countsByHoursAgo((await statistics()).hours)).toEqual({});
  await received({ hoursAgo: 25, count: 10 });
  expect((await statistics()).hours).toHaveLength(24);
  expect(countsByHoursAgo((await statistics()).hours)).toEqual({});
});

it("finds the first delivery of the day despite gaps between ids", async () => {
  await received({ hoursAgo: 25, count: 40 }, { hoursAgo: 23, count: 40 });
  await test.rows("delete from webhook_delivery where id % 7 > 1 or id between 35 and 43");
  await test.rows("alter sequence webhook_delivery_id_seq restart with 100000");
  await received({ hoursAgo: 3, count: 2 });
  const [row] = await test.rows<{ count: number }>(
    "select count(*)::int as count from webhook_delivery where id between 41 and 80",
  );
  expect(countsByHoursAgo((await statistics()).hours)).toMatchObject({
    3: { successful: 2 },
    23: { successful: row?.count },
  });
});

it("counts deliveries with a future time in the current hour", async () => {
  await received({ hoursAgo: 1 }, { hoursAgo: -3, count: 2 }, { hoursAgo: 0 });
  expect(countsByHoursAgo((await statistics()).hours)).toEqual({
    0: { successful: 3 },
    1: { successful: 1 },
  });
});

it("samples a busy day, counts every failure, and reports that it sampled", {
  timeout: 120_000,
}, async () => {
  await received(
    { hoursAgo: 30, count: 60_000 },
    { hoursAgo: 20, count: 50_000 },
    { hoursAgo: 10, count: 90_000, provider: "provider-b" },
    { hoursAgo: 9, status: "failed", count: 3 },
    { hoursAgo: 2, count: 10_000 },
    { hoursAgo: 0, status: "pending", count: 2 },
  );
  const statisticsPage = async () =>
    (
      await test.rows<{ rows: number }>(
        `select (idx_tup_fetch + seq_tup_read)::int as rows from pg_stat_user_tables where relname = 'webhook_delivery'`,
      )
    )[0]?.rows as number;
  await test.rows("vacuum analyze webhook_delivery");
  await waitUntilSteady(statisticsPage);
  const before = await statisticsPage();
  const { hours, isEstimate } = await statistics();
  expect(isEstimate).toBe(true);
  expect(hours.map(({ failed, pending }) => [failed, pending]).filter(([a, b]) => a || b)).toEqual([
    [3, 0],
    [0, 2],
  ]);
  const successful = (hoursAgo: number) => hours.at(-1 - hoursAgo)?.successful ?? 0;
  for (const [hoursAgo, count] of [
    [20, 50_000],
    [10, 90_000],
    [2, 10_000],
  ] as const) {
    expect(Math.abs(successful(hoursAgo) - count)).toBeLessThan(count / 50);
  }
  expect(successful(10)).toBe((await statistics({ provider: "provider-b" })).hours.at(-11)?.successful);
  await waitUntilSteady(statisticsPage);
  expect((await statisticsPage()) - before).toBeLessThan(50_000);
});

/** PostgreSQL reports statistics with a delay. */
async function waitUntilSteady(query: () => Promise<number>): Promise<void> {
  for (let last = -1, now = await query(); last !== now; now = await query()) {
    last = now;
    await new Promise((resolve) => setTimeout(resolve, 1_200));
  }
}
