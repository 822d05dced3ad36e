import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { InvalidPayload } from "../../src/domain/deliveries/payload-problems.ts";
import { ADAPTERS, wireFormats } from "../../src/providers/registry.ts";
import { fixtureDelivery, loadFixture } from "../fixtures/fixture.ts";
import { requestOf } from "./request.ts";

test.each([
  ["stripe", { id: "evt_1", type: "a" }, {}],
  ["paddle", { event_id: "evt_1", notification_id: "ntf_1", event_type: "a" }, {}],
  ["polar", { id: "not this", type: "a" }, { "webhook-id": "evt_1" }],
] as const)("identifies %s events by the provider's id and name", (format, body, headers) => {
  const identity = ADAPTERS.of(format).identify(requestOf("", headers), body);
  expect(identity).toEqual({ eventId: "evt_1", eventType: "a" });
});

test.each(wireFormats())("rejects %s bodies that are not an object", (format) => {
  for (const body of [null, [], "text", 5, true]) {
    const identify = () => ADAPTERS.of(format).identify(requestOf("", { "webhook-id": "evt_1" }), body);
    expect(identify).toThrow(InvalidPayload);
    expect(identify).toThrow("expected a JSON object");
  }
});

describe.each([
  ["is missing", undefined],
  ["is missing", null],
  ["is not a string", 5],
  ["is not a string", ["evt_1"]],
  ["is not a string", {}],
  ["is empty", ""],
  ["is longer than 255 characters", "x".repeat(256)],
  ["is longer than 255 characters", "😀".repeat(256)],
  ["contains a NUL character", "a\0b"],
  ["is not well-formed Unicode", "a\ud800b"],
])("rejects an id or type that %s", (problem, value) => {
  test("as the event id", () => {
    for (const [format, body] of [
      ["stripe", { id: value, type: "a" }],
      ["paddle", { event_id: value, event_type: "a" }],
    ] as const) {
      const identify = () => ADAPTERS.of(format).identify(requestOf("", {}), body);
      expect(identify).toThrow(InvalidPayload);
      expect(identify).toThrow(`event id ${problem}`);
    }
  });

  test("as the event type", () => {
    for (const [format, body] of [
      ["stripe", { id: "evt_1", type: value }],
      ["paddle", { event_id: "evt_1", event_type: value }],
      ["polar", { type: value }],
      ["lemon-squeezy", { meta: { event_name: value, webhook_id: "wh_1" } }],
    ] as const) {
      const identify = () => ADAPTERS.of(format).identify(requestOf("", { "webhook-id": "evt_1" }), body);
      expect(identify).toThrow(InvalidPayload);
      expect(identify).toThrow(`event type ${problem}`);
    }
  });
});

test("reads polar ids from a header, with the same checks", () => {
  const identify = (id?: string) => () =>
    ADAPTERS.of("polar").identify(requestOf("", id === undefined ? {} : { "webhook-id": id }), { type: "a" });
  expect(identify()).toThrow("event id is missing");
  expect(identify("")).toThrow("event id is empty");
  expect(identify("x".repeat(256))).toThrow("event id is longer than 255 characters");
});

test("accepts 255 characters", () => {
  const [id, type] = ["i".repeat(255), "\u{1f600}".repeat(255)];
  expect(ADAPTERS.of("stripe").identify(requestOf("", {}), { id, type })).toEqual({
    eventId: id,
    eventType: type,
  });
});

test("ignores inherited properties of an event", () => {
  const body = Object.assign(Object.create({ id: "evt_1" }), { type: "a" });
  expect(() => ADAPTERS.of("stripe").identify(requestOf("", {}), body)).toThrow("event id is missing");
});

describe("lemon-squeezy ids", () => {
  const identify = (body: unknown, rawBody = JSON.stringify(body)) =>
    ADAPTERS.of("lemon-squeezy").identify(requestOf(rawBody, {}), body).eventId;

  test("are built from the webhook's id, the event and its content", () => {
    const attributes = { b: [1, { d: null, c: "x" }], a: 1.5, urls: { receipt: "https://a.example" } };
    const body = {
      meta: { webhook_id: "wh_1", event_name: "order_created" },
      data: { type: "orders", id: 40, attributes },
    };
    const hash = createHash("sha256").update('{"a":1.5,"b":[1,{"c":"x","d":null}]}').digest("hex");
    expect(identify(body)).toBe(`wh_1:order_created:orders:40:${hash.slice(0, 32)}`);
  });

  test("stay the same when a repeated delivery has new links or another key order", () => {
    const { body } = loadFixture("lemon-squeezy", "subscription_updated");
    const repeated = structuredClone(body) as { data: { attributes: { [key: string]: unknown } } };
    repeated.data.attributes = Object.fromEntries(Object.entries(repeated.data.attributes).reverse());
    repeated.data.attributes.urls = { customer_portal: "https://other.example/?expires=1" };
    expect(identify(repeated)).toBe(identify(body));
  });

  test("differ when any other content differs", () => {
    const at = (seconds: number) =>
      loadFixture("lemon-squeezy", "subscription_updated", { occurredAt: new Date(seconds * 1000) }).body;
    const ids = [
      identify(at(1_772_366_400)),
      identify(at(1_772_366_401)),
      identify(loadFixture("lemon-squeezy", "subscription_updated", { seats: 2 }).body),
      identify(
        loadFixture("lemon-squeezy", "subscription_updated", { eventType: "subscription_paused" }).body,
      ),
      identify(loadFixture("lemon-squeezy", "subscription_updated", { subscriptionId: "51" }).body),
    ];
    expect(new Set(ids).size).toBe(5);
  });

  test("without a webhook id are the hash of the raw bytes", () => {
    const rawBody = '{ "meta": {"event_name": "order_created"} }';
    const hex = createHash("sha256").update(rawBody).digest("hex");
    expect(identify(JSON.parse(rawBody), rawBody)).toBe(`sha256:${hex}`);
  });

  test("are hashed when they are too long", () => {
    const body = { meta: { webhook_id: "w".repeat(300), event_name: "order_created" } };
    expect(identify(body)).toMatch(/^sha256:[0-9a-f]{64}$/);
    const orderEvent = { meta: { webhook_id: "w".repeat(301), event_name: "order_created" } };
    expect(identify(orderEvent)).not.toBe(identify(body));
  });

  test("are refused for deeply nested attributes", () => {
    const deep = JSON.parse(`${"[".repeat(50_000)}${"]".repeat(50_000)}`);
    const body = { meta: { webhook_id: "wh_1", event_name: "a" }, data: { attributes: deep } };
    expect(() => identify(body, "")).toThrow(InvalidPayload);
  });
});

test.each(wireFormats())("renders a %s fixture with the given id, name and values", (format) => {
  const fields = {
    eventId: "evt_7",
    userId: "user_7",
    planId: "team",
    subscriptionId: "sub_7",
    customerId: "cus_7",
    priceId: "price_7",
    seats: 7,
    status: "past_due",
    occurredAt: new Date("2026-06-01T00:00:00Z"),
    currentPeriodEnd: new Date("2026-07-01T00:00:00Z"),
  } as const;
  const options = { secret: "secret", nowSeconds: 1_772_366_400 };
  const delivery = fixtureDelivery(format, "customer.subscription.updated", { ...options, ...fields });
  expect(delivery.eventId).toMatch(/^evt_7(:|$)/);
  const event = ADAPTERS.of(format).interpret(delivery.eventType, JSON.parse(delivery.rawBody.toString()));
  expect(event).toMatchObject({
    kind: "customer.subscription.updated",
    occurredAtMicros: 1_780_272_000_000_000,
    userId: "user_7",
    planId: "team",
    providerSubscriptionId: "sub_7",
    customerId: "cus_7",
    status: "past_due",
    currentPeriodEnd: fields.currentPeriodEnd,
  });
  expect(event.items[0]?.priceIds[0]).toBe("price_7");
  expect(event.items[0]?.seats).toBe(7);
  const ending = fixtureDelivery(format, "customer.subscription.created", {
    ...options,
    cancelAtPeriodEnd: true,
  });
  expect(ADAPTERS.of(format).interpret(ending.eventType, ending.body).cancelAtPeriodEnd).toBe(true);
});
