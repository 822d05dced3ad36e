import { describe, expect, test } from "vitest";
import { UnreadablePayload } from "../../src/domain/deliveries/payload-problems.ts";
import { lemonSqueezy } from "../../src/providers/lemon-squeezy/webhook.ts";
import { loadFixture } from "../fixtures/fixture.ts";

const COMPLETED = {
  kind: "checkout.session.completed",
  occurredAtMicros: 1_772_366_400_000_000,
  userId: "user_0",
  planId: "pro",
  providerSubscriptionId: null,
  customerId: "10",
  customerEmail: "user_0@example.com",
  items: [{ priceIds: ["21", "22"], seats: 5 }],
  status: null,
  currentPeriodEnd: null,
  cancelAtPeriodEnd: null,
};

const CREATED = {
  ...COMPLETED,
  kind: "customer.subscription.created",
  providerSubscriptionId: "50",
  status: "active",
  currentPeriodEnd: new Date("2026-04-01T12:00:00.000Z"),
  cancelAtPeriodEnd: false,
  pausesAtPeriodEnd: false,
};

const UPDATED = { ...CREATED, kind: "customer.subscription.updated" };

describe("interpreting lemon-squeezy payloads", () => {
  test.each([
    ["order_created", COMPLETED],
    ["subscription_created", CREATED],
    [
      "subscription_created.trial",
      { ...CREATED, items: [{ priceIds: ["21"], seats: null }], status: "trialing" },
    ],
    [
      "subscription_updated",
      {
        ...UPDATED,
        occurredAtMicros: 1_772_370_000_000_000,
        items: [{ priceIds: ["21", "22"], seats: 8 }],
      },
    ],
    [
      "subscription_cancelled",
      { ...UPDATED, occurredAtMicros: 1_772_373_600_000_000, cancelAtPeriodEnd: true },
    ],
    ["subscription_paused", { ...UPDATED, occurredAtMicros: 1_772_377_200_000_000, status: "paused" }],
    [
      "subscription_expired",
      {
        ...CREATED,
        kind: "customer.subscription.deleted",
        occurredAtMicros: 1_775_044_807_000_000,
        status: "canceled",
        cancelAtPeriodEnd: true,
      },
    ],
  ])("%s", (name, expected) => {
    const { body, eventType } = loadFixture("lemon-squeezy", name);
    expect(lemonSqueezy.interpret(eventType, body)).toEqual(expected);
  });
});

test.each([
  ["paid", "checkout.session.completed"],
  [null, "checkout.session.completed"],
  ["pending", "ignored"],
  ["failed", "ignored"],
  ["refunded", "ignored"],
  ["active", "ignored"],
])("reads an order with status %s as %s", (status, kind) => {
  const body = { data: { attributes: { status } } };
  expect(lemonSqueezy.interpret("order_created", body).kind).toBe(kind);
});

test.each([
  ["paid", "checkout.session.completed"],
  ["active", "checkout.session.completed"],
  ["on_trial", "checkout.session.completed"],
  ["past_due", "ignored"],
  ["unpaid", "ignored"],
  ["pending", "ignored"],
])("reads a completed checkout by the specification's name with status %s as %s", (status, kind) => {
  const body = { data: { attributes: { status } } };
  expect(lemonSqueezy.interpret("checkout.session.completed", body).kind).toBe(kind);
});

test.each([
  ["on_trial", "trialing"],
  ["active", "active"],
  ["paused", "paused"],
  ["past_due", "past_due"],
  ["unpaid", "unpaid"],
  ["cancelled", "active"],
  ["expired", "canceled"],
])("reads the status %s as %s", (status, expected) => {
  expect(updated({ status }).status).toBe(expected);
});

describe("`cancelled`", () => {
  const read = (ends_at: string | null, updated_at: string | null) =>
    updated({ status: "cancelled", ends_at, updated_at, renews_at: "2026-04-02T00:00:00Z" });

  test("is active until its end, compared with the event's time", () => {
    expect(read("2026-04-01T12:00:00Z", "2026-04-01T11:59:59Z")).toMatchObject({
      status: "active",
      cancelAtPeriodEnd: true,
      currentPeriodEnd: new Date("2026-04-01T12:00:00Z"),
    });
    expect(read("2026-04-01T12:00:00Z", "2026-04-01T12:00:00Z")).toMatchObject({
      status: "canceled",
      cancelAtPeriodEnd: true,
      currentPeriodEnd: new Date("2026-04-01T12:00:00Z"),
    });
  });

  test("is active until the expired event when a time is missing", () => {
    expect(read("2026-04-01T12:00:00Z", null).status).toBe("active");
    expect(read(null, "2026-04-01T12:00:00Z")).toMatchObject({
      status: "active",
      currentPeriodEnd: new Date("2026-04-02T00:00:00Z"),
    });
  });

  test("is recognised by the event's name without a status", () => {
    expect(lemonSqueezy.interpret("subscription_cancelled", {})).toMatchObject({
      status: null,
      cancelAtPeriodEnd: true,
    });
    const resumed = { data: { attributes: { status: "active" } } };
    expect(lemonSqueezy.interpret("subscription_cancelled", resumed)).toMatchObject({
      status: "active",
      cancelAtPeriodEnd: false,
    });
  });

  test.each([
    [{}, null],
    [{ status: "active" }, false],
    [{ status: "past_due", cancelled: true }, true],
    [{ cancelled: false }, false],
  ])("is scheduled by %j: %s", (attributes, expected) => {
    expect(updated(attributes).cancelAtPeriodEnd).toBe(expected);
  });
});

test.each([
  [{ status: "active" }, "2026-05-01T00:00:00Z"],
  [{ status: "expired" }, "2026-04-01T00:00:00Z"],
  [{ status: "expired", ends_at: null }, "2026-05-01T00:00:00Z"],
])("reads the end of the period of %j", (attributes, expected) => {
  const times = { renews_at: "2026-05-01T00:00:00Z", ends_at: "2026-04-01T00:00:00Z" };
  expect(updated({ ...times, ...attributes }).currentPeriodEnd).toEqual(new Date(expected));
});

test("accepts custom data in snake case, with numbers, or as an empty list", () => {
  const read = (custom_data: unknown) => {
    const { userId, planId } = lemonSqueezy.interpret("order_created", { meta: { custom_data } });
    return [userId, planId];
  };
  expect(read({ user_id: 7, plan_id: "pro" })).toEqual(["7", "pro"]);
  expect(read({ userId: "user_1", user_id: "user_2" })).toEqual(["user_1", null]);
  expect(read([])).toEqual([null, null]);
});

test("reads the subscription of an invoice from its attributes", () => {
  const body = { data: { id: "1", attributes: { subscription_id: 50 } } };
  expect(lemonSqueezy.interpret("checkout.session.completed", body).providerSubscriptionId).toBe("50");
});

test.each([
  [{ mode: "free" }, "active"],
  [{ mode: "void" }, "paused"],
  [null, "paused"],
])("reads a pause %j as %s, under both of its statuses", (pause, status) => {
  for (const word of ["paused", "pause"]) expect(updated({ status: word, pause }).status).toBe(status);
  expect(updated({ status: "expired", pause }).status).toBe("canceled");
});

test.each([
  [{ status: "active", pause: null }, false],
  [{ status: "paused", pause: { mode: "free", resumes_at: null } }, true],
  [{ status: "paused", pause: { mode: "free", resumes_at: "2026-05-01T00:00:01Z" } }, true],
  [{ status: "paused", pause: { mode: "free", resumes_at: "2026-05-01T00:00:00Z" } }, false],
  [{ status: "paused", pause: { mode: "void", resumes_at: null } }, false],
  [{}, undefined],
])("%j keeps the next period from being charged: %s", (attributes, expected) => {
  expect(updated({ renews_at: "2026-05-01T00:00:00Z", ...attributes }).pausesAtPeriodEnd).toBe(expected);
});

test("takes the time of a change of seats from the item", () => {
  const updatedAt = (own: string, item: string) =>
    updated({ updated_at: own, first_subscription_item: { quantity: 2, updated_at: item } }).occurredAtMicros;
  const [early, late] = ["2026-03-01T12:00:00Z", "2026-03-01T12:00:05Z"];
  expect(updatedAt(early, late)).toBe(Date.parse(late) * 1000);
  expect(updatedAt(late, early)).toBe(Date.parse(late) * 1000);
  expect(updated({ first_subscription_item: { updated_at: late } }).occurredAtMicros).toBe(
    Date.parse(late) * 1000,
  );
});

test("reads no seats from a usage-based item", () => {
  const item = { quantity: 0, is_usage_based: true };
  expect(updated({ variant_id: 21, first_subscription_item: item }).items).toMatchObject([{ seats: null }]);
});

test.each([
  [
    { status: "odd" },
    "data.attributes.status: expected one of on_trial, active, paused, pause, past_due, unpaid,",
  ],
  [{ cancelled: "no" }, 'data.attributes.cancelled: expected true or false, got "no"'],
  [
    { ends_at: "tomorrow" },
    'data.attributes.ends_at: expected an RFC 3339 time from 1970 to 9999, got "tomorrow"',
  ],
  [
    { first_subscription_item: { quantity: "5" } },
    'data.attributes.first_subscription_item.quantity: expected a whole number from 0 to 1000000, got "5"',
  ],
  [{ variant_id: false }, "data.attributes.variant_id: expected text or a whole number, got false"],
])("fails for %j, and names the field", (attributes, message) => {
  expect(() => updated(attributes)).toThrow(UnreadablePayload);
  expect(() => updated(attributes)).toThrow(message);
});

function updated(attributes: object) {
  return lemonSqueezy.interpret("subscription_updated", { data: { attributes } });
}
