import { describe, expect, test } from "vitest";
import { UnreadablePayload } from "../../src/domain/deliveries/payload-problems.ts";
import { paddle } from "../../src/providers/paddle/webhook.ts";
import { loadFixture } from "../fixtures/fixture.ts";

const COMPLETED = {
  kind: "checkout.session.completed",
  occurredAtMicros: 1_772_366_400_123_456,
  userId: "user_0",
  planId: "pro",
  providerSubscriptionId: "sub_0",
  customerId: "ctm_0",
  items: [{ priceIds: ["pri_pro_month"], seats: 5 }],
  status: null,
  currentPeriodEnd: null,
  cancelAtPeriodEnd: null,
};

const PAID = {
  charge: {
    id: "txn_0",
    state: "paid",
    amount: 14_500,
    currency: "USD",
    refundedAmount: null,
    periodStart: new Date("2026-03-01T12:00:00.000Z"),
    periodEnd: new Date("2026-04-01T12:00:00.000Z"),
    receiptUrl: null,
    occurredAt: null,
  },
  names: [],
  reversal: null,
};

const CREATED = {
  ...COMPLETED,
  kind: "customer.subscription.created",
  status: "active",
  currentPeriodEnd: new Date("2026-04-01T12:00:00.000Z"),
  cancelAtPeriodEnd: false,
  pausesAtPeriodEnd: false,
};

const UPDATED = { ...CREATED, kind: "customer.subscription.updated" };

describe("interpreting paddle payloads", () => {
  test.each([
    ["transaction.completed", { ...COMPLETED, payment: PAID }],
    ["subscription.created", CREATED],
    [
      "subscription.updated",
      {
        ...UPDATED,
        occurredAtMicros: 1_772_370_000_654_321,
        items: [{ priceIds: ["pri_pro_month"], seats: 8 }],
        cancelAtPeriodEnd: true,
      },
    ],
    ["subscription.trialing", { ...UPDATED, status: "trialing" }],
    [
      "subscription.past_due",
      {
        ...UPDATED,
        occurredAtMicros: 1_775_045_100_000_000,
        status: "past_due",
        currentPeriodEnd: new Date("2026-05-01T12:00:00.000Z"),
      },
    ],
    [
      "subscription.paused",
      { ...UPDATED, occurredAtMicros: 1_775_044_800_000_000, status: "paused", currentPeriodEnd: null },
    ],
    ["subscription.imported", { ...UPDATED, userId: null, planId: null }],
    [
      "subscription.canceled",
      {
        ...CREATED,
        kind: "customer.subscription.deleted",
        occurredAtMicros: 1_775_044_800_000_000,
        status: "canceled",
        currentPeriodEnd: null,
      },
    ],
  ])("%s", (name, expected) => {
    const { body, eventType } = loadFixture("paddle", name);
    expect(paddle.interpret(eventType, body)).toEqual(expected);
  });

  test("ignores a renewal as a checkout", () => {
    const { body, eventType } = loadFixture("paddle", "transaction.completed.renewal");
    expect(paddle.interpret(eventType, body)).toMatchObject({ kind: "payment", items: [] });
  });
});

test.each([
  ["web", "checkout.session.completed"],
  ["api", "checkout.session.completed"],
  ["subscription_start", "checkout.session.completed"],
  [null, "checkout.session.completed"],
  ["subscription_recurring", "ignored"],
  ["subscription_update", "ignored"],
  ["subscription_charge", "ignored"],
  ["subscription_payment_method_change", "ignored"],
])("reads a completed transaction of origin %s as %s", (origin, kind) => {
  expect(paddle.interpret("transaction.completed", { data: { origin } }).kind).toBe(kind);
});

test.each([
  ["completed", "checkout.session.completed"],
  ["paid", "checkout.session.completed"],
  ["active", "checkout.session.completed"],
  [null, "checkout.session.completed"],
  ["draft", "ignored"],
  ["ready", "ignored"],
  ["billed", "ignored"],
  ["past_due", "ignored"],
  ["paused", "ignored"],
  ["incomplete", "ignored"],
  ["unpaid", "ignored"],
  ["canceled", "ignored"],
])("reads a completed transaction of status %s as %s", (status, kind) => {
  for (const name of ["transaction.completed", "checkout.session.completed"]) {
    expect(paddle.interpret(name, { data: { status } }).kind).toBe(kind);
  }
});

test.each([
  ["active", "active"],
  ["canceled", "canceled"],
  ["past_due", "past_due"],
  ["paused", "paused"],
  ["trialing", "trialing"],
])("reads the status %s as %s", (status, expected) => {
  expect(updated({ status }).status).toBe(expected);
});

test.each([
  [{}, null, undefined],
  [{ scheduled_change: null }, false, false],
  [{ scheduled_change: { action: "pause" } }, false, true],
  [{ scheduled_change: { action: "resume" } }, false, false],
  [{ scheduled_change: { action: "cancel" } }, true, false],
])("%j schedules a cancellation: %s, a pause: %s", (data, cancelAtPeriodEnd, pausesAtPeriodEnd) => {
  expect(updated(data)).toMatchObject({ cancelAtPeriodEnd });
  expect(updated(data).pausesAtPeriodEnd).toBe(pausesAtPeriodEnd);
});

test("reads missing fields as null", () => {
  expect(paddle.interpret("subscription.updated", { event_id: "evt_0" })).toEqual({
    kind: "customer.subscription.updated",
    occurredAtMicros: null,
    userId: null,
    planId: null,
    providerSubscriptionId: null,
    customerId: null,
    items: [],
    status: null,
    currentPeriodEnd: null,
    cancelAtPeriodEnd: null,
  });
});

test.each([
  [
    { status: "unpaid" },
    'data.status: expected one of active, canceled, past_due, paused, trialing, got "unpaid"',
  ],
  [
    { items: [{ quantity: -1 }] },
    "data.items[0].quantity: expected a whole number from 0 to 1000000, got -1",
  ],
  [{ custom_data: ["user_0"] }, "data.custom_data: expected an object, got a list"],
  [{ scheduled_change: "cancel" }, 'data.scheduled_change: expected an object, got "cancel"'],
  [
    { current_billing_period: { ends_at: "2026-02-30T12:00:00Z" } },
    "data.current_billing_period.ends_at: expected an RFC 3339 time from 1970 to 9999",
  ],
])("fails for %j, and names the field", (data, message) => {
  expect(() => updated(data)).toThrow(UnreadablePayload);
  expect(() => updated(data)).toThrow(message);
});

function updated(data: object) {
  return paddle.interpret("subscription.updated", { data });
}

test("ignores a transaction of one-time items, and leaves them out beside a subscription's", () => {
  const plan = { price: { id: "pri_1", billing_cycle: { interval: "month", frequency: 1 } }, quantity: 3 };
  const addOn = { price: { id: "pri_2", billing_cycle: null }, quantity: 1 };
  const read = (items: object[]) =>
    paddle.interpret("transaction.completed", { data: { origin: "web", items } });
  expect(read([addOn]).kind).toBe("ignored");
  expect(read([addOn, plan])).toMatchObject({
    kind: "checkout.session.completed",
    items: [{ priceIds: ["pri_1"], seats: 3 }],
  });
  const once = { price: { id: "pri_4" }, recurring: false, quantity: 1 };
  expect(read([once]).kind).toBe("ignored");
  expect(read([{ ...once, recurring: true }]).kind).toBe("checkout.session.completed");
  expect(read([{ price: "pri_5", quantity: 1 }]).items).toEqual([{ priceIds: ["pri_5"], seats: 1 }]);
  expect(read([{ price_id: "pri_3", quantity: 1 }]).items).toEqual([{ priceIds: ["pri_3"], seats: 1 }]);
});
