import { randomUUID } from "node:crypto";
import { afterEach, describe, expect, it } from "vitest";
import { acquireLease, type Lease, releaseLease } from "../../../src/store/leases.ts";
import {
  checkoutLease,
  checkoutState,
  findOpenCheckout,
  findStoredCheckout,
  forgetCheckout,
  keepCheckout,
  placeCheckoutOrder,
  retireCheckout,
  type WantedCheckout,
} from "../../../src/store/subscriptions/checkouts.ts";
import { createSubscription } from "../../support/subscriptions.ts";
import { testDatabase } from "../../support/test-database.ts";

const test = testDatabase(2);
afterEach(() => test.rows("truncate checkout, lease"));

const PRO: WantedCheckout = {
  userId: "user_0",
  provider: "provider-a",
  planId: "pro",
  priceId: "price_pro",
  seats: 1,
  returnUrl: null,
};
const TEAM: WantedCheckout = { ...PRO, planId: "team", priceId: "price_team", seats: 5 };

async function acquire(seconds = 60, userId = "user_0"): Promise<Lease> {
  const lease = await acquireLease(test.database, checkoutLease(userId), { seconds });
  if (lease === null) throw new Error("The lease is held.");
  return lease;
}

const place = (order: WantedCheckout, lease: Lease) =>
  placeCheckoutOrder(test.database, order, { lease, leaseSeconds: 12, newIdempotencyKey: randomUUID() });
const opened = (id: string) => ({ id, url: `https://checkout.example/${id}`, expiresAt: null });
const keep = (order: WantedCheckout, lease: Lease, id: string) =>
  keepCheckout(test.database, order, { lease, opened: opened(id) });
const openFor = (order: WantedCheckout, lease: Lease | null = null) =>
  findOpenCheckout(test.database, order, { keepSeconds: 3_600, lease });
const stored = () => findStoredCheckout(test.database, "user_0");

async function open(order: WantedCheckout, id: string): Promise<void> {
  const lease = await acquire(60, order.userId);
  expect(await place(order, lease)).toMatchObject({ outcome: "placed" });
  expect(await keep(order, lease, id)).toBe(true);
  await releaseLease(test.database, lease);
}

describe("a user's stored checkout", () => {
  it("is found for the same order only", async () => {
    await open(PRO, "cs_1");
    expect(await openFor(PRO)).toBe("https://checkout.example/cs_1");
    const others = [
      { provider: "provider-b" },
      { planId: "team" },
      { priceId: "price_new" },
      { seats: 2 },
    ] as const;
    for (const other of others) expect(await openFor({ ...PRO, ...other })).toBeNull();
  });

  it("without an end at its provider is found for as long as it is kept", async () => {
    await open(PRO, "cs_1");
    await test.rows("update checkout set opened_at = opened_at - interval '59 minutes'");
    expect(await openFor(PRO)).toBe("https://checkout.example/cs_1");
    await test.rows("update checkout set opened_at = opened_at - interval '1 minute'");
    expect(await openFor(PRO)).toBeNull();
  });

  it("is not found for an order with another return URL", async () => {
    const elsewhere = { ...PRO, returnUrl: "https://shop.example/done" };
    await open(elsewhere, "cs_1");
    expect(await openFor(PRO)).toBeNull();
    expect(await openFor({ ...PRO, returnUrl: "https://shop.example/other" })).toBeNull();
    expect(await openFor(elsewhere)).toBe("https://checkout.example/cs_1");
    await open(PRO, "cs_2");
    expect(await openFor(elsewhere)).toBeNull();
    expect(await openFor(PRO)).toBe("https://checkout.example/cs_2");
  });

  it("is found only by the holder of the lease while it may be replaced", async () => {
    await open(PRO, "cs_1");
    const lease = await acquire();
    expect(await openFor(PRO)).toBeNull();
    expect(await openFor(PRO, lease)).toBe("https://checkout.example/cs_1");
  });

  it("is neither shown to another user nor changed with theirs", async () => {
    const theirs = { ...PRO, userId: "user_1" };
    await open(theirs, "cs_theirs");
    expect(await openFor(PRO)).toBeNull();
    await open(PRO, "cs_1");
    await retireCheckout(test.database, "user_0");
    expect(await openFor(PRO)).toBeNull();
    const lease = await acquire();
    await forgetCheckout(test.database, "user_0", lease);
    expect(await stored()).toBeNull();
    expect(await openFor(theirs)).toBe("https://checkout.example/cs_theirs");
  });

  it("is used once a subscription of its user in its slot is reported", async () => {
    await open(PRO, "cs_1");
    await createSubscription(test, "user_1");
    await createSubscription(test, "user_0", { provider: "provider-b" });
    await createSubscription(test, "user_0", { status: "incomplete" });
    await createSubscription(test, "user_0", { updated_at: "2020-01-01T00:00:00Z" });
    expect(await stored()).toMatchObject({ isUsed: false });
    expect(await openFor(PRO)).toBe("https://checkout.example/cs_1");
    await createSubscription(test, "user_0");
    expect(await stored()).toMatchObject({ isUsed: true });
    expect(await openFor(PRO)).toBeNull();
    await test.rows("delete from subscription");
  });

  it("counts as paid by a subscription that began since it was opened, not by a former one", async () => {
    const state = () => checkoutState(test.database, "user_0");
    expect(await state()).toBe("none");
    await open(PRO, "cs_1");
    await createSubscription(test, "user_0", { created_at: "2020-01-01T00:00:00Z" });
    await createSubscription(test, "user_0", { status: "incomplete" });
    await createSubscription(test, "user_0", { provider: "provider-b" });
    await createSubscription(test, "user_1");
    expect(await state()).toBe("open");
    await createSubscription(test, "user_0");
    expect(await state()).toBe("paid");
    await test.rows("delete from subscription");
  });

  it("is neither used nor paid by a purchase with a single payment meanwhile", async () => {
    await open(PRO, "cs_1");
    await createSubscription(test, "user_0", { is_one_time: true, provider_subscription_id: null });
    expect(await stored()).toMatchObject({ isUsed: false });
    expect(await openFor(PRO)).toBe("https://checkout.example/cs_1");
    expect(await checkoutState(test.database, "user_0")).toBe("open");
    await test.rows("delete from subscription");
  });

  it("stays stored until its successor is placed", async () => {
    await open(PRO, "cs_1");
    const before = { provider: "provider-a", id: "cs_1", isUsed: false };
    expect(await stored()).toEqual(before);
    await releaseLease(test.database, await acquire());
    expect(await stored()).toEqual(before);
    await place(TEAM, await acquire());
    await test.rows("update checkout set lease_key = null");
    expect(await stored()).toBeNull();
  });

  it("is written only by the holder of the lease", async () => {
    const lost = await acquire(0);
    const next = await acquire();
    expect(await place(PRO, lost)).toEqual({ outcome: "lease lost" });
    expect(await place(PRO, next)).toMatchObject({ outcome: "placed" });
    expect(await keep(PRO, lost, "cs_lost")).toBe(false);
    await forgetCheckout(test.database, "user_0", lost);
    expect(await keep(PRO, next, "cs_next")).toBe(true);
    expect(await openFor(PRO, next)).toBe("https://checkout.example/cs_next");
  });

  it("keeps the idempotency key of an interrupted order, and takes a new one for another", async () => {
    const lease = await acquire();
    const first = await place(PRO, lease);
    expect(await place(PRO, lease)).toEqual(first);
    const others = [
      TEAM,
      { ...TEAM, provider: "provider-b" },
      { ...TEAM, seats: 6 },
      { ...TEAM, returnUrl: "https://shop.example/done" },
    ] as const;
    const keys = [first];
    for (const other of others) {
      const placed = await place(other, lease);
      expect(keys).not.toContainEqual(placed);
      expect(await place(other, lease)).toEqual(placed);
      keys.push(placed);
    }
  });

  it("keeps no idempotency key once it was opened, or after an hour: the order may have been paid", async () => {
    const lease = await acquire();
    const opened = await place(PRO, lease);
    await keep(PRO, lease, "cs_1");
    const interrupted = await place(PRO, lease);
    expect(interrupted).not.toEqual(opened);
    for (const minutes of [30, 31]) {
      expect(await place(PRO, lease)).toEqual(interrupted);
      await test.rows("update checkout set asked_at = asked_at - $1 * interval '1 minute'", [minutes]);
    }
    expect(await place(PRO, lease)).not.toEqual(interrupted);
  });

  it("cannot be placed for a user who does not exist", async () => {
    const nobody = { ...PRO, userId: "user_nobody" };
    const lease = (await acquireLease(test.database, "checkout:user_nobody", { seconds: 60 })) as Lease;
    expect(await place(nobody, lease)).toEqual({ outcome: "no user" });
  });

  it("is free again although its order was placed while the database's clock was ahead", async () => {
    await open(PRO, "cs_1");
    await place(TEAM, await acquire());
    await test.rows("update checkout set lease_until = lease_until + interval '1 hour'");
    await test.rows("update lease set held_until = held_until + interval '1 hour'");
    const lease = await acquire();
    expect(await stored()).toBeNull();
    expect(await place(PRO, lease)).toMatchObject({ outcome: "placed" });
  });

  it("is left to a process of an earlier release that is opening it", async () => {
    await open(PRO, "cs_1");
    await test.rows("update checkout set lease_key = $1, lease_until = now() + interval '1 minute'", [
      randomUUID(),
    ]);
    expect(await openFor(PRO)).toBeNull();
    expect(await stored()).toBe("busy");
    await test.rows("update checkout set lease_until = now()");
    expect(await openFor(PRO)).toBe("https://checkout.example/cs_1");
  });
});
