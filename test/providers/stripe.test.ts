import { describe, expect, test } from "vitest";
import { UnreadablePayload } from "../../src/domain/deliveries/payload-problems.ts";
import { stripe } from "../../src/providers/stripe/webhook.ts";
import { loadFixture } from "../fixtures/fixture.ts";

const COMPLETED = {
  kind: "checkout.session.completed",
  occurredAtMicros: 1_772_366_400_000_000,
  userId: "user_0",
  planId: "pro",
  providerSubscriptionId: "sub_0",
  customerId: "cus_0",
  items: [],
  status: null,
  currentPeriodEnd: null,
  cancelAtPeriodEnd: null,
};

const CREATED = {
  ...COMPLETED,
  kind: "customer.subscription.created",
  items: [{ priceIds: ["price_pro_month"], seats: 5 }],
  status: "active",
  currentPeriodEnd: new Date("2026-04-01T12:00:00.000Z"),
  cancelAtPeriodEnd: false,
  pausesAtPeriodEnd: false,
};

const UPDATED = { ...CREATED, kind: "customer.subscription.updated" };

const IGNORED = {
  kind: "ignored",
  occurredAtMicros: null,
  userId: null,
  planId: null,
  providerSubscriptionId: null,
  customerId: null,
  items: [],
  status: null,
  currentPeriodEnd: null,
  cancelAtPeriodEnd: null,
};

describe("interpreting stripe payloads", () => {
  test.each([
    ["checkout.session.completed", COMPLETED],
    ["checkout.session.async_payment_succeeded", { ...COMPLETED, occurredAtMicros: 1_772_452_800_000_000 }],
    ["customer.subscription.created", CREATED],
    [
      "customer.subscription.updated",
      {
        ...UPDATED,
        occurredAtMicros: 1_772_370_000_000_000,
        items: [{ priceIds: ["price_pro_month"], seats: 8 }],
        cancelAtPeriodEnd: true,
      },
    ],
    [
      "customer.subscription.updated.2024-06-20",
      {
        ...UPDATED,
        occurredAtMicros: 1_772_373_600_000_000,
        items: [
          { priceIds: ["price_pro_month"], seats: 5 },
          { priceIds: ["price_usage"], seats: null },
        ],
        status: "past_due",
      },
    ],
    [
      "customer.subscription.paused",
      { ...UPDATED, occurredAtMicros: 1_773_576_000_000_000, status: "paused" },
    ],
    [
      "customer.subscription.deleted",
      {
        ...CREATED,
        kind: "customer.subscription.deleted",
        occurredAtMicros: 1_775_044_800_000_000,
        status: "canceled",
        cancelAtPeriodEnd: true,
      },
    ],
  ])("%s", (name, expected) => {
    const { body, eventType } = loadFixture("stripe", name);
    expect(stripe.interpret(eventType, body)).toEqual(expected);
  });
});

test("reads missing fields as null", () => {
  const body = { id: "evt_0", data: { object: { metadata: { userId: "user_0", planId: "pro" } } } };
  expect(stripe.interpret("checkout.session.completed", body)).toEqual({
    ...IGNORED,
    kind: "checkout.session.completed",
    userId: "user_0",
    planId: "pro",
  });
  expect(stripe.interpret("customer.subscription.deleted", {})).toEqual({
    ...IGNORED,
    kind: "customer.subscription.deleted",
    status: "canceled",
  });
});

test("ignores other events without reading them", () => {
  for (const name of ["invoice.created", "constructor", "__proto__", "toString", ""]) {
    expect(stripe.interpret(name, "not even an object")).toEqual(IGNORED);
  }
});

test.each([
  ["paid", "checkout.session.completed"],
  ["no_payment_required", "checkout.session.completed"],
  ["unpaid", "ignored"],
  ["something new", "ignored"],
  [null, "checkout.session.completed"],
])("reads a checkout with payment status %s as %s", (paymentStatus, kind) => {
  const { body, eventType } = loadFixture("stripe", "checkout.session.completed");
  Object.assign((body.data as { object: object }).object, { payment_status: paymentStatus });
  expect(stripe.interpret(eventType, body).kind).toBe(kind);
});

test.each([
  ["complete", "checkout.session.completed"],
  ["active", "checkout.session.completed"],
  [null, "checkout.session.completed"],
  ["trialing", "checkout.session.completed"],
  ["open", "ignored"],
  ["expired", "ignored"],
  ["incomplete", "ignored"],
  ["incomplete_expired", "ignored"],
  ["past_due", "ignored"],
  ["paused", "ignored"],
  ["unpaid", "ignored"],
  ["canceled", "ignored"],
])("reads a checkout of status %s without a payment status as %s", (status, kind) => {
  const object = { mode: "subscription", status };
  expect(stripe.interpret("checkout.session.completed", { data: { object } }).kind).toBe(kind);
});

test.each([
  ["subscription", { kind: "checkout.session.completed" }],
  ["payment", { kind: "checkout.session.completed", isOneTime: true }],
  ["setup", { kind: "ignored" }],
])("reads a completed checkout of mode %s as %o", (mode, expected) => {
  const { body, eventType } = loadFixture("stripe", "checkout.session.completed");
  Object.assign((body.data as { object: object }).object, { mode });
  expect(stripe.interpret(eventType, body)).toMatchObject(expected);
});

test.each([
  ["incomplete", "incomplete"],
  ["incomplete_expired", "canceled"],
  ["trialing", "trialing"],
  ["active", "active"],
  ["past_due", "past_due"],
  ["paused", "paused"],
  ["unpaid", "unpaid"],
  ["canceled", "canceled"],
])("reads the status %s as %s", (status, expected) => {
  expect(updated({ status }).status).toBe(expected);
});

test("reads seats and price from a subscription without items", () => {
  expect(updated({ quantity: 3, plan: { id: "plan_old" } }).items).toEqual([
    { priceIds: ["plan_old"], seats: 3 },
  ]);
  expect(updated({ quantity: 3 }).items).toEqual([{ priceIds: [], seats: 3 }]);
  expect(updated({ items: { data: [] } }).items).toEqual([]);
});

test("reads an item's price from its price and its plan", () => {
  const items = { data: [{ price: { id: "price_new" }, plan: { id: "plan_old" }, quantity: 0 }] };
  expect(updated({ items }).items).toEqual([{ priceIds: ["price_new", "plan_old"], seats: 0 }]);
});

test("uses the latest period end of several items", () => {
  const items = {
    data: [{ current_period_end: 100 }, { current_period_end: 300 }, {}, { current_period_end: 200 }],
  };
  expect(updated({ items, current_period_end: 900 }).currentPeriodEnd).toEqual(new Date(300_000));
});

test.each([
  [{ cancel_at_period_end: false, cancel_at: 1_775_044_800 }, true],
  [{ cancel_at_period_end: true, cancel_at: null }, true],
  [{ cancel_at_period_end: false, cancel_at: null }, false],
  [{ cancel_at: null }, null],
  [{ cancel_at: 200, current_period_end: 200, cancel_at_period_end: false }, true],
  [{ cancel_at: 201, current_period_end: 200, cancel_at_period_end: false }, false],
])("%o schedules a cancellation: %s", (object, expected) => {
  expect(updated(object).cancelAtPeriodEnd).toBe(expected);
});

test.each([
  [{}, undefined],
  [{ pause_collection: null }, false],
  [{ pause_collection: { behavior: "void", resumes_at: null } }, true],
  [{ pause_collection: { behavior: "keep_as_draft", resumes_at: 201 } }, true],
  [{ pause_collection: { behavior: "void", resumes_at: 200 } }, false],
])("%o keeps the next period from being charged: %s", (object, expected) => {
  expect(updated({ current_period_end: 200, ...object }).pausesAtPeriodEnd).toBe(expected);
});

test.each([
  [{ cancel_at: 100, cancel_at_period_end: true }, 100],
  [{ cancel_at: null, cancel_at_period_end: true }, 100],
  [{ cancel_at: 150, cancel_at_period_end: false }, 150],
  [{ cancel_at: 200, cancel_at_period_end: false }, 200],
  [{ cancel_at: 201, cancel_at_period_end: false }, 200],
  [{ cancel_at: null, cancel_at_period_end: false }, 200],
])("with items of two intervals, and %o, is paid until %s", (end, seconds) => {
  const items = { data: [{ current_period_end: 200 }, { current_period_end: 100 }] };
  expect(updated({ items, ...end }).currentPeriodEnd).toEqual(new Date(seconds * 1000));
});

test.each([
  [{ schedule: null }, true],
  [{ schedule: "sub_sched_0" }, true],
  [{ status: "active" }, undefined],
])("an update after %j concerns the scheduled change: %s", (previous_attributes, expected) => {
  const data = { object: {}, previous_attributes };
  const event = stripe.interpret("customer.subscription.updated", { data });
  expect(event.concernsScheduledChange).toBe(expected);
});

test("accepts an expanded customer and subscription", () => {
  const object = { customer: { id: "cus_1", deleted: true }, subscription: { id: "sub_1" } };
  const event = stripe.interpret("checkout.session.completed", { data: { object } });
  expect([event.customerId, event.providerSubscriptionId]).toEqual(["cus_1", "sub_1"]);
});

test("reads numeric ids as digits, and empty ones as null", () => {
  const metadata = { userId: 42, planId: "" };
  const event = updated({ id: 7, customer: 0, metadata });
  expect([event.userId, event.planId, event.providerSubscriptionId, event.customerId]).toEqual([
    "42",
    null,
    "7",
    "0",
  ]);
});

test.each([
  [{ status: "odd" }, "data.object.status: expected one of incomplete, incomplete_expired, trialing,"],
  [{ status: "constructor" }, "data.object.status: expected one of"],
  [{ status: 5 }, "data.object.status: expected text, got 5"],
  [{ quantity: "five" }, 'data.object.quantity: expected a whole number from 0 to 1000000, got "five"'],
  [
    { items: { data: [{}, { quantity: 1.5 }] } },
    "data.object.items.data[1].quantity: expected a whole number from 0 to 1000000, got 1.5",
  ],
  [{ items: [1] }, "data.object.items: expected an object, got a list"],
  [{ items: { data: {} } }, "data.object.items.data: expected a list, got an object"],
  [{ items: { data: ["si_0"] } }, 'data.object.items.data[0]: expected an object, got "si_0"'],
  [{ metadata: "user_0" }, 'data.object.metadata: expected an object, got "user_0"'],
  [{ metadata: { userId: true } }, "data.object.metadata.userId: expected text or a whole number, got true"],
  [{ metadata: { userId: 1.5 } }, "data.object.metadata.userId: expected text or a whole number, got 1.5"],
  [{ customer: { id: [1] } }, "data.object.customer.id: expected text or a whole number, got a list"],
  [{ cancel_at_period_end: "yes" }, 'data.object.cancel_at_period_end: expected true or false, got "yes"'],
  [{ cancel_at: "soon" }, 'data.object.cancel_at: expected Unix seconds from 1970 to 9999, got "soon"'],
  [{ current_period_end: -1 }, "data.object.current_period_end: expected Unix seconds from 1970 to 9999"],
])("fails for %j, and names the field", (object, message) => {
  expect(() => updated(object)).toThrow(UnreadablePayload);
  expect(() => updated(object)).toThrow(message);
});

test("names an unreadable event time", () => {
  const read = (created: unknown) => () => stripe.interpret("customer.subscription.updated", { created });
  expect(read(1.5)).toThrow("created: expected Unix seconds from 1970 to 9999, got 1.5");
  expect(read(253_402_300_799)).toThrow("created: expected a time before June 2255, got 253402300799");
  expect(read("1772366400")).toThrow("created: expected Unix seconds");
});

function updated(object: object) {
  return stripe.interpret("customer.subscription.updated", { data: { object } });
}
