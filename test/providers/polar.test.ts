import { describe, expect, test } from "vitest";
import { UnreadablePayload } from "../../src/domain/deliveries/payload-problems.ts";
import { polar } from "../../src/providers/polar/webhook.ts";
import { loadFixture } from "../fixtures/fixture.ts";

const SUBSCRIPTION = "00000000-0000-4000-8000-000000000000";
const CUSTOMER = "00000000-0000-4000-8000-000000000010";
const PRODUCT = "00000000-0000-4000-8000-000000000020";
const PRICE = "00000000-0000-4000-8000-000000000021";

const COMPLETED = {
  kind: "checkout.session.completed",
  occurredAtMicros: 1_772_366_400_123_456,
  userId: "user_0",
  planId: "pro",
  providerSubscriptionId: SUBSCRIPTION,
  customerId: CUSTOMER,
  items: [{ priceIds: [PRODUCT], seats: 5 }],
  status: null,
  currentPeriodEnd: null,
  cancelAtPeriodEnd: null,
};

const PAID = {
  charge: {
    id: "00000000-0000-4000-8000-000000000040",
    state: "paid",
    amount: 14_500,
    currency: "USD",
    refundedAmount: 0,
    periodStart: new Date("2026-03-01T12:00:00.000Z"),
    periodEnd: new Date("2026-04-01T12:00:00.000Z"),
    receiptUrl: null,
    occurredAt: new Date("2026-03-01T12:00:00.100Z"),
  },
  names: [],
  reversal: null,
};

const CREATED = {
  ...COMPLETED,
  kind: "customer.subscription.created",
  items: [{ priceIds: [PRODUCT, PRICE], seats: 5 }],
  status: "active",
  currentPeriodEnd: new Date("2026-04-01T12:00:00.000Z"),
  cancelAtPeriodEnd: false,
};

const UPDATED = { ...CREATED, kind: "customer.subscription.updated" };

describe("interpreting polar payloads", () => {
  test.each([
    ["order.paid", { ...COMPLETED, payment: PAID }],
    ["subscription.created", CREATED],
    [
      "subscription.updated",
      {
        ...UPDATED,
        occurredAtMicros: 1_772_370_000_654_321,
        items: [{ priceIds: [PRODUCT, PRICE], seats: 8 }],
      },
    ],
    [
      "subscription.canceled",
      { ...UPDATED, occurredAtMicros: 1_772_373_600_000_000, cancelAtPeriodEnd: true },
    ],
    [
      "subscription.past_due",
      {
        ...UPDATED,
        occurredAtMicros: 1_775_045_100_000_000,
        items: [{ priceIds: [PRODUCT, PRICE], seats: null }],
        status: "past_due",
      },
    ],
    [
      "subscription.revoked",
      {
        ...CREATED,
        kind: "customer.subscription.deleted",
        occurredAtMicros: 1_775_044_801_000_000,
        planId: null,
        status: "canceled",
        cancelAtPeriodEnd: true,
      },
    ],
  ])("%s", (name, expected) => {
    const { body, eventType } = loadFixture("polar", name);
    expect(polar.interpret(eventType, body)).toEqual(expected);
  });

  test("ignores a renewal as a checkout", () => {
    const { body, eventType } = loadFixture("polar", "order.paid.renewal");
    expect(polar.interpret(eventType, body)).toMatchObject({ kind: "payment", items: [] });
  });
});

test.each([
  [{ status: "paid", billing_reason: "purchase" }, "ignored"],
  [{ status: "paid", billing_reason: "subscription_create" }, "checkout.session.completed"],
  [{}, "checkout.session.completed"],
  [{ status: "active" }, "checkout.session.completed"],
  [{ status: "trialing" }, "checkout.session.completed"],
  [{ status: "succeeded" }, "checkout.session.completed"],
  [{ status: "incomplete" }, "ignored"],
  [{ status: "past_due" }, "ignored"],
  [{ status: "active", billing_reason: "purchase" }, "ignored"],
  [{ status: "open" }, "ignored"],
  [{ status: "confirmed" }, "ignored"],
  [{ status: "failed" }, "ignored"],
  [{ status: "pending", billing_reason: "purchase" }, "ignored"],
  [{ status: "refunded", billing_reason: "purchase" }, "ignored"],
  [{ status: "paid", billing_reason: "subscription_cycle" }, "ignored"],
  [{ billing_reason: "subscription_update" }, "ignored"],
])("%j completed is %s", (data, kind) => {
  for (const name of ["order.paid", "checkout.session.completed"]) {
    expect(polar.interpret(name, { data }).kind).toBe(kind);
  }
  expect(polar.interpret("checkout.updated", { data: { ...data, status: "succeeded" } }).kind).toBe(
    "ignored",
  );
});

test("reads a subscription with an `ended_at` as canceled, whatever its status says", () => {
  const endedSubscription = { status: "unpaid", ended_at: "2026-03-01T12:00:00Z" };
  expect(polar.interpret("subscription.updated", { data: endedSubscription }).status).toBe("canceled");
  expect(polar.interpret("subscription.revoked", { data: endedSubscription }).status).toBe("canceled");
});

test.each([
  ["incomplete", "incomplete"],
  ["incomplete_expired", "canceled"],
  ["trialing", "trialing"],
  ["active", "active"],
  ["past_due", "past_due"],
  ["paused", "paused"],
  ["canceled", "canceled"],
  ["unpaid", "unpaid"],
])("reads the status %s as %s", (status, expected) => {
  expect(polar.interpret("subscription.updated", { data: { status } }).status).toBe(expected);
});

test("`canceled` schedules a cancellation even when the flag is left out, `uncanceled` takes it back", () => {
  const scheduled = (name: string, data: object) => polar.interpret(name, { data }).cancelAtPeriodEnd;
  expect(scheduled("subscription.canceled", {})).toBe(true);
  expect(scheduled("subscription.canceled", { cancel_at_period_end: false })).toBe(false);
  expect(scheduled("subscription.uncanceled", { cancel_at_period_end: false })).toBe(false);
  expect(scheduled("subscription.updated", {})).toBeNull();
});

test.each([
  [{ pending_update: { product_id: "p" } }, true],
  [{ pending_update: null }, undefined],
  [{}, undefined],
])("%j concerns the scheduled change: %s", (data, expected) => {
  expect(polar.interpret("subscription.updated", { data }).concernsScheduledChange).toBe(expected);
});

test.each([
  ["the person's", "user_1", { customerId: "c" }],
  ["another person's", "user_2", { customerId: null, foreignCustomerId: "c" }],
  ["nobody's", null, { customerId: null, foreignCustomerId: "c" }],
])("reads a customer who is %s by the external id", (_, external_id, expected) => {
  const data = { metadata: { userId: "user_1" }, customer_id: "c", customer: { external_id } };
  expect(polar.interpret("subscription.updated", { data })).toMatchObject(expected);
});

test("reads a customer without an external id field as the person's", () => {
  const data = { metadata: { userId: "user_1" }, customer_id: "c", customer: { id: "c" } };
  const event = polar.interpret("subscription.updated", { data });
  expect([event.customerId, event.foreignCustomerId]).toEqual(["c", undefined]);
});

test("prefers the user in the metadata over the customer's", () => {
  const data = { metadata: { userId: "user_1" }, customer: { external_id: "user_2" } };
  expect(polar.interpret("order.paid", { data }).userId).toBe("user_1");
  expect(polar.interpret("order.paid", { data: { ...data, metadata: {} } }).userId).toBe("user_2");
});

test.each([
  [{ status: "resting" }, "data.status: expected one of incomplete, incomplete_expired, trialing,"],
  [{ seats: "5" }, 'data.seats: expected a whole number from 0 to 1000000, got "5"'],
  [{ prices: [{ id: {} }] }, "data.prices[0].id: expected text or a whole number, got an object"],
  [{ customer: "cus" }, 'data.customer: expected an object, got "cus"'],
  [
    { current_period_end: 1_775_044_800 },
    "data.current_period_end: expected an RFC 3339 time, got 1775044800",
  ],
  [{ cancel_at_period_end: 1 }, "data.cancel_at_period_end: expected true or false, got 1"],
])("fails for %j, and names the field", (data, message) => {
  const read = () => polar.interpret("subscription.updated", { data });
  expect(read).toThrow(UnreadablePayload);
  expect(read).toThrow(message);
});

test.each([
  [{}, undefined],
  [{ pause_at_period_end: false }, false],
  [{ pause_at_period_end: true }, true],
])("%j schedules a pause: %s", (data, expected) => {
  const event = {
    type: "subscription.updated",
    timestamp: "2026-03-01T12:00:00Z",
    data: { id: SUBSCRIPTION, ...data },
  };
  expect(polar.interpret("subscription.updated", event).pausesAtPeriodEnd).toBe(expected);
});
