import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Queryable } from "../../../src/store/database.ts";
import { claimDeliveries } from "../../../src/store/deliveries/deliveries.ts";
import { dropPayloads } from "../../../src/store/deliveries/delivery-retention.ts";
import { reclaimOne } from "../../../src/store/deliveries/reclaims.ts";
import { eventually } from "../../support/eventually.ts";
import { testDatabase } from "../../support/test-database.ts";

const test = testDatabase(1);
beforeEach(async () => {
  await test.rows("truncate webhook_delivery, webhook_attempt restart identity");
  await test.rows("update delivery_retention set dropped_until = 0, open_ids = '{}'");
});

/** One delivery per age, with a first and a second attempt. */
async function deliveries(rows: [status: string, ageDays: number, nextAttempt: string | null][]) {
  for (const [index, [status, age, next]] of rows.entries()) {
    await test.rows(
      `insert into webhook_delivery (provider, event_id, event_type, format, status, claim_source, received_at, next_attempt_at, payload)
       values ('provider-a', $1, 'x', 'stripe', $2, 'delivery', now() - $3::float8 * interval '1 day', $4::timestamptz, '{}')`,
      [`e${index}`, status, age, next],
    );
  }
  await test.rows(
    `insert into webhook_attempt (delivery_id, claim_no, source, outcome, started_at, duration_ms)
     select id, n, 'retry', 'failed', now(), 1 from webhook_delivery, generate_series(1, 2) n`,
  );
}

const SENT_AGAIN = {
  provider: "provider-a",
  eventId: "e0",
  eventType: "x",
  format: "stripe",
  occurredAtMicros: null,
  source: "delivery",
  payload: Buffer.from("{}"),
} as const;

const eventsWithPayload = async () =>
  (
    await test.rows<{ event_id: string }>(
      "select event_id from webhook_delivery where payload is not null order by id",
    )
  ).map((row) => row.event_id);

async function dropAll(limit = 2): Promise<number> {
  let total = 0;
  for (;;) {
    const { dropped, passed } = await dropPayloads(test.database, { olderThanDays: 90, limit });
    total += dropped;
    if (passed === 0) return total;
  }
}

it("drops the bodies of old settled deliveries, and keeps their rows", async () => {
  await deliveries([
    ["successful", 100, null],
    ["failed", 99, null],
    ["successful", 98, null],
    ["successful", 10, null],
    ["successful", 5, null],
  ]);
  // What has changed a subscription is its history.
  await test.rows(
    "update webhook_attempt set subscription_id = gen_random_uuid() where delivery_id = 1 and claim_no = 2",
  );
  expect(await dropAll()).toBe(3);
  expect(await eventsWithPayload()).toEqual(["e3", "e4"]);
  expect(await test.rows("select from webhook_delivery")).toHaveLength(5);
  expect(
    await test.rows("select delivery_id::int as id from webhook_attempt where claim_no > 1 order by 1"),
  ).toEqual([{ id: 1 }, { id: 4 }, { id: 5 }]);
  expect(await test.rows("select from webhook_attempt where claim_no = 1")).toHaveLength(5);
  expect(await dropAll()).toBe(0);
});

// Ids follow the time of receipt: a later one that is old shows that these are older.
it("drops the bodies that came while the database's clock was ahead, once a later one is old", async () => {
  await deliveries([
    ["successful", 100, null],
    ["successful", -300, null],
    ["failed", -300, "2099-01-01"],
    ["successful", 98, null],
    ["successful", -300, null],
    ["successful", 10, null],
  ]);
  expect(await dropAll(6)).toBe(3);
  expect(await eventsWithPayload()).toEqual(["e2", "e4", "e5"]);
  await test.rows("update webhook_delivery set next_attempt_at = null where event_id = 'e2'");
  await dropPayloads(test.database, { olderThanDays: 90, limit: 6 });
  expect(await eventsWithPayload()).toEqual(["e4", "e5"]);
});

it("drops the bodies of more such deliveries than it takes at once", async () => {
  await deliveries([
    ["successful", -300, null],
    ["successful", -300, null],
    ["successful", -300, null],
    ["successful", 98, null],
    ["successful", -300, null],
    ["successful", -300, null],
    ["successful", 10, null],
  ]);
  expect(await dropAll()).toBe(4);
  expect(await eventsWithPayload()).toEqual(["e4", "e5", "e6"]);
});

it("keeps the body of a delivery that is still retried until it is settled", async () => {
  await deliveries([
    ["failed", 100, "2099-01-01"],
    ["pending", 99, null],
    ["successful", 98, null],
  ]);
  expect(await dropAll()).toBe(1);
  expect(await eventsWithPayload()).toEqual(["e0", "e1"]);
  await test.rows(
    "update webhook_delivery set status = 'successful', next_attempt_at = null where event_id = 'e0'",
  );
  await dropPayloads(test.database, { olderThanDays: 90, limit: 2 });
  expect(await eventsWithPayload()).toEqual(["e1"]);
});

it("drops the body of a delivery that was sent again after its body had been dropped", async () => {
  await deliveries([
    ["successful", 100, null],
    // The last one that retention has passed.
    ["failed", 99, null],
  ]);
  expect(await dropAll()).toBe(2);
  await claimDeliveries(test.database, [{ ...SENT_AGAIN, eventId: "e1" }, SENT_AGAIN], 30);
  await dropAll();
  expect(await eventsWithPayload()).toEqual(["e1"]);
  await test.rows("update webhook_delivery set status = 'successful' where event_id = 'e1'");
  await dropAll();
  expect(await eventsWithPayload()).toEqual([]);
});

it("keeps the body of a younger delivery that was sent again", async () => {
  await deliveries([["failed", 10, null]]);
  await claimDeliveries(test.database, [SENT_AGAIN], 30);
  await test.rows("update webhook_delivery set status = 'successful'");
  await dropAll();
  expect(await eventsWithPayload()).toEqual(["e0"]);
});

describe("a delivery that is claimed while its body is dropped", () => {
  /** Runs `meanwhile` before the transaction that does `first` is committed. */
  async function duringTransaction(
    first: (transaction: Queryable) => Promise<unknown>,
    meanwhile: () => Promise<unknown>,
  ): Promise<void> {
    const connection = await test.database.connection();
    try {
      await connection.script("begin");
      await first(connection);
      await meanwhile();
      await connection.script("commit");
    } finally {
      connection.release({ healthy: false });
    }
  }

  beforeEach(() => deliveries([["failed", 100, null]]));
  afterEach(async () => {
    expect(await eventsWithPayload()).toEqual(["e0"]);
    await test.rows("update webhook_delivery set status = 'successful', lease_until = null");
    await dropAll();
    expect(await eventsWithPayload()).toEqual([]);
  });

  it("keeps it while it is replayed", () =>
    duringTransaction((transaction) => reclaimOne(transaction, "1", { leaseSeconds: 30 }), dropAll));

  it("keeps it while it is delivered again", () =>
    duringTransaction((transaction) => claimDeliveries(transaction, [SENT_AGAIN], 30), dropAll));

  it("keeps the new one when the old one is dropped first", async () => {
    let claiming: Promise<unknown> = Promise.resolve();
    await duringTransaction(
      (transaction) => dropPayloads(transaction, { olderThanDays: 90, limit: 2 }),
      async () => {
        claiming = claimDeliveries(test.database, [SENT_AGAIN], 30);
        await eventually(
          () =>
            test.rows(
              "select count(*)::int from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()",
            ),
          [{ count: 1 }],
        );
      },
    );
    await claiming;
  });
});

it("runs on one process at a time", async () => {
  await deliveries([["successful", 100, null]]);
  const connection = await test.database.connection();
  await connection.script("begin; select from delivery_retention for update");
  expect(await dropPayloads(test.database, { olderThanDays: 90, limit: 2 })).toEqual({
    dropped: 0,
    passed: 0,
  });
  await connection.script("rollback");
  connection.release({ healthy: true });
  expect(await dropAll()).toBe(1);
});

it.each([
  { bytes: 1_100, where: "in the row" },
  { bytes: 4_200, where: "beside it" },
])("uses the space of dropped bodies of $bytes bytes again ($where)", async ({ bytes }) => {
  const perPeriod = 400;
  const diskBytes = async () => {
    // As autovacuum does.
    await test.rows("vacuum webhook_delivery");
    const [row] = await test.rows<{ bytes: number }>(
      "select pg_table_size('webhook_delivery')::float8 as bytes",
    );
    return row?.bytes ?? Number.NaN;
  };
  const bytesAfter: number[] = [];
  for (let period = 0; period < 10; period += 1) {
    await test.rows("update webhook_delivery set received_at = received_at - interval '90 days'");
    await test.rows(
      `insert into webhook_delivery (provider, event_id, event_type, format, status, claim_source, received_at, payload)
       select 'provider-a', $1 || '-' || n, 'x', 'stripe', 'successful', 'delivery', now() - interval '1 hour',
         to_json((select left(string_agg(md5(n || $1 || part), ''), $2::int) from generate_series(1, $2::int / 32 + 1) part))
       from generate_series(1, $3::int) n`,
      [`period${period}`, bytes, perPeriod],
    );
    await dropAll(200);
    bytesAfter.push(await diskBytes());
  }
  expect(await eventsWithPayload()).toHaveLength(perPeriod);
  const [, second, ...later] = bytesAfter as [number, number, ...number[]];
  const grownPerDelivery = ((later.at(-1) as number) - second) / (later.length * perPeriod);
  // The row stays, with its keys and its first attempt.
  expect(grownPerDelivery).toBeLessThan(450);
});
