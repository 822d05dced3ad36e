import { describe, expect, test } from "vitest";
import { EVENT_KINDS, type EventKind } from "../../src/domain/events/payment-event.ts";
import type { WireFormat } from "../../src/providers/adapter.ts";
import { ADAPTERS, wireFormats } from "../../src/providers/registry.ts";
import { loadFixture } from "../fixtures/fixture.ts";

const COMPLETED = "checkout.session.completed";
const CREATED = "customer.subscription.created";
const UPDATED = "customer.subscription.updated";
const DELETED = "customer.subscription.deleted";

const NAMES: Record<WireFormat, Record<EventKind, string[]>> = {
  stripe: {
    [COMPLETED]: ["checkout.session.completed", "checkout.session.async_payment_succeeded"],
    [CREATED]: ["customer.subscription.created"],
    [UPDATED]: [
      "customer.subscription.updated",
      "customer.subscription.paused",
      "customer.subscription.resumed",
    ],
    [DELETED]: ["customer.subscription.deleted"],
  },
  paddle: {
    [COMPLETED]: ["transaction.completed"],
    [CREATED]: ["subscription.created"],
    [UPDATED]: [
      "subscription.updated",
      "subscription.activated",
      "subscription.trialing",
      "subscription.past_due",
      "subscription.paused",
      "subscription.resumed",
      "subscription.imported",
    ],
    [DELETED]: ["subscription.canceled"],
  },
  polar: {
    [COMPLETED]: ["order.paid"],
    [CREATED]: ["subscription.created"],
    [UPDATED]: [
      "subscription.updated",
      "subscription.active",
      "subscription.uncanceled",
      "subscription.past_due",
      "subscription.paused",
      "subscription.resumed",
      "subscription.canceled",
    ],
    [DELETED]: ["subscription.revoked"],
  },
  "lemon-squeezy": {
    [COMPLETED]: ["order_created"],
    [CREATED]: ["subscription_created"],
    [UPDATED]: [
      "subscription_updated",
      "subscription_resumed",
      "subscription_paused",
      "subscription_unpaused",
      "subscription_cancelled",
    ],
    [DELETED]: ["subscription_expired"],
  },
};

test.each<[WireFormat, string, { status?: string | null; cancelAtPeriodEnd?: boolean }]>([
  ["stripe", "customer.subscription.paused", { status: "paused" }],
  ["stripe", "customer.subscription.resumed", { status: "active" }],
  ["paddle", "subscription.activated", { status: "active" }],
  ["paddle", "subscription.trialing", { status: "trialing" }],
  ["paddle", "subscription.past_due", { status: "past_due" }],
  ["paddle", "subscription.paused", { status: "paused" }],
  ["paddle", "subscription.resumed", { status: "active" }],
  ["polar", "subscription.active", { status: "active" }],
  ["polar", "subscription.past_due", { status: "past_due" }],
  ["polar", "subscription.paused", { status: "paused" }],
  ["polar", "subscription.resumed", { status: "active" }],
  ["polar", "subscription.canceled", { status: null, cancelAtPeriodEnd: true }],
  ["polar", "subscription.uncanceled", { status: null, cancelAtPeriodEnd: false }],
  ["lemon-squeezy", "subscription_paused", { status: "paused" }],
  ["lemon-squeezy", "subscription_unpaused", { status: "active" }],
  ["lemon-squeezy", "subscription_cancelled", { status: null, cancelAtPeriodEnd: true }],
  ["lemon-squeezy", "subscription_resumed", { status: null, cancelAtPeriodEnd: false }],
])("without a status, the name of the event says it: %s %s", (format, name, state) => {
  expect(ADAPTERS.of(format).interpret(name, {})).toMatchObject(state);
});

test("a pause of Lemon Squeezy's in which the service goes on is none, also by the name of the event", () => {
  const event = { data: { attributes: { pause: { mode: "free" } } } };
  expect(ADAPTERS.of("lemon-squeezy").interpret("subscription_paused", event).status).toBe("active");
});

test("the status says it where there is one, whatever the name of the event", () => {
  const event = { data: { status: "past_due" } };
  expect(ADAPTERS.of("paddle").interpret("subscription.paused", event).status).toBe("past_due");
});

describe.each(wireFormats())("the event names of %s", (format) => {
  const kindOf = (name: string) => ADAPTERS.of(format).interpret(name, {}).kind;

  test.each(EVENT_KINDS)("include each documented name of %s", (kind) => {
    const names = NAMES[format]?.[kind] ?? [];
    expect(names).not.toEqual([]);
    for (const name of names) expect([name, kindOf(name)]).toEqual([name, kind]);
  });

  test("say that a deleted subscription is canceled, whatever its status says", () => {
    const { body } = loadFixture(format, UPDATED, { status: "active" });
    for (const name of NAMES[format]?.[DELETED] ?? [])
      expect(ADAPTERS.of(format).interpret(name, body).status).toBe("canceled");
  });

  test("include the specification's names", () => {
    for (const kind of EVENT_KINDS) expect(kindOf(kind)).toBe(kind);
  });

  test("exclude all others, such as the names of object properties", () => {
    for (const name of [
      "invoice.created",
      "constructor",
      "__proto__",
      "hasOwnProperty",
      "toString",
      "",
      " ",
    ]) {
      expect(kindOf(name)).toBe("ignored");
    }
  });
});

describe("an event without effects", () => {
  const ignored = (format: WireFormat, type: string, body: unknown) => {
    const { kind, userId } = ADAPTERS.of(format).interpret(type, body);
    return { kind, userId };
  };

  test.each<[WireFormat, string, unknown]>([
    ["stripe", "customer.updated", { data: { object: { metadata: { userId: "user_1" } } } }],
    [
      "stripe",
      "checkout.session.completed",
      { data: { object: { mode: "setup", metadata: { userId: "user_1" } } } },
    ],
    ["paddle", "transaction.created", { data: { custom_data: { userId: "user_1" } } }],
    ["polar", "customer.state_changed", { data: { external_id: "user_1" } }],
    ["polar", "checkout.updated", { data: { external_customer_id: "user_1" } }],
    ["polar", "benefit_grant.created", { data: { customer: { external_id: "user_1" } } }],
    ["lemon-squeezy", "license_key_created", { meta: { custom_data: { user_id: "user_1" } } }],
  ])("names its user: %s %s", (format, type, body) => {
    expect(ignored(format, type, body)).toEqual({ kind: "ignored", userId: "user_1" });
  });

  test.each(wireFormats())("is ignored too where it is not as expected: %s", (format) => {
    for (const body of [
      { data: "text" },
      { meta: 1, data: { object: [], custom_data: 1, external_id: {} } },
      "text",
    ])
      expect(ignored(format, "customer.updated", body)).toEqual({ kind: "ignored", userId: null });
  });
});
