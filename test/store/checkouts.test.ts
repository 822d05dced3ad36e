import { randomUUID } from "node:crypto";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  acquireCheckoutLease,
  keepCheckout,
  placeCheckoutOrder,
  releaseCheckoutLease,
  renewCheckoutLease,
  type WantedCheckout,
} from "../../src/store/checkouts.ts";
import { freshDatabase, type TestDatabase } from "../support/database.ts";
import { eventually } from "../support/eventually.ts";

let test: TestDatabase;
beforeAll(async () => {
  test = await freshDatabase(1);
});
afterAll(() => test.drop());

const PRO: WantedCheckout = {
  ...{ userId: "user_0", provider: "provider-a", planId: "pro" },
  ...{ priceId: "price_pro", seats: 1 },
};
const TEAM: WantedCheckout = { ...PRO, planId: "team", priceId: "price_team", seats: 5 };

const acquire = (wanted: WantedCheckout, leaseKey: string, leaseSeconds = 60) =>
  acquireCheckoutLease(test.database, wanted, { leaseKey, leaseSeconds, keepSeconds: 3_600 });
const opened = (id: string) => ({ id, url: `https://checkout.example/${id}`, expiresAt: null });

async function open(wanted: WantedCheckout, id: string): Promise<void> {
  const leaseKey = randomUUID();
  expect((await acquire(wanted, leaseKey)).outcome).toBe("acquired");
  await placeCheckoutOrder(test.database, wanted, { leaseKey, newIdempotencyKey: randomUUID() });
  expect(await keepCheckout(test.database, wanted, { leaseKey, opened: opened(id) })).toBe(true);
}

describe("a user's stored checkout", () => {
  it("returns the replaced checkout from the current row, not from an older snapshot", async () => {
    await open(PRO, "cs_1");
    // A statement that started before cs_2 was stored waits for the row lock, and then reads cs_2.
    const other = new pg.Client({ connectionString: test.url });
    await other.connect();
    await other.query("begin");
    await other.query("update checkout set session_id = 'cs_2', plan_id = 'team', url = 'https://x/2'");
    const late = acquire(PRO, randomUUID());
    const waiting = "select count(*)::int as n from pg_locks where not granted";
    await eventually(async () => (await test.rows<{ n: number }>(waiting))[0]?.n, 1);
    await other.query("commit");
    await other.end();
    expect(await late).toEqual({
      outcome: "acquired",
      before: { provider: "provider-a", id: "cs_2", isUsed: false },
    });
    await test.rows("delete from checkout");
  });

  it("stays stored until its successor is open, also when that fails", async () => {
    await open(PRO, "cs_1");
    const first = randomUUID();
    const before = { provider: "provider-a", id: "cs_1", isUsed: false };
    expect(await acquire(TEAM, first)).toEqual({ outcome: "acquired", before });
    expect(await acquire(TEAM, randomUUID())).toEqual({ outcome: "busy" });
    await releaseCheckoutLease(test.database, "user_0", first);
    expect(await acquire(TEAM, randomUUID())).toEqual({ outcome: "acquired", before });
    await test.rows("delete from checkout");
  });

  it("is written only by the holder of the lease", async () => {
    const [lost, next] = [randomUUID(), randomUUID()];
    expect((await acquire(PRO, lost, 0)).outcome).toBe("acquired");
    expect((await acquire(PRO, next)).outcome).toBe("acquired");
    expect(await renewCheckoutLease(test.database, "user_0", { leaseKey: lost, leaseSeconds: 60 })).toBe(
      false,
    );
    expect(await keepCheckout(test.database, PRO, { leaseKey: lost, opened: opened("cs_lost") })).toBe(false);
    expect(await keepCheckout(test.database, PRO, { leaseKey: next, opened: opened("cs_next") })).toBe(true);
    expect(await acquire(PRO, randomUUID())).toEqual({
      outcome: "open",
      url: "https://checkout.example/cs_next",
    });
    await test.rows("delete from checkout");
  });
});
