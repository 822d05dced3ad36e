import { describe, expect, it } from "vitest";
import { EVENT_KINDS } from "../../src/domain/events/payment-event.ts";
import type { WireFormat } from "../../src/providers/adapter.ts";
import { ADAPTERS, wireFormats } from "../../src/providers/registry.ts";
import { fixtureDelivery, loadFixture } from "../fixtures/fixture.ts";
import { freshServer } from "../support/fresh-server.ts";
import { deliverWebhook } from "../support/http.ts";
import { SECRETS } from "../support/variables.ts";
import "../fixtures/fifth-provider.ts";
import { flood } from "../support/raw-connection.ts";

const secret = SECRETS["provider-a"];
const now = () => Math.floor(Date.now() / 1000);

const UNUSABLE_IDS: [string, unknown][] = [
  ["missing", undefined],
  ["empty", ""],
  ["a number", 7],
  ["too long", "e".repeat(256)],
  ["with a NUL", "evt_\u0000"],
  ["not well-formed", "evt_\ud800"],
];

describe.each(wireFormats())("a slot bound to %s", (format) => {
  const { test, server } = freshServer({
    users: 20,
    variables: {
      PROVIDER_A_ADAPTER: format,
      PROVIDER_B_ADAPTER: format,
      PROVIDER_B_WEBHOOK_SECRET: "",
      WEBHOOK_MAX_BYTES: "100000",
      WEBHOOK_TOLERANCE_SECONDS: "200",
    },
  });

  const send = (delivery: { rawBody: Buffer; headers: Record<string, string> }) =>
    deliverWebhook(server.url, "provider-a", delivery);
  const event = (name: string, overrides: object = {}) =>
    fixtureDelivery(format, name, {
      secret,
      nowSeconds: now(),
      userId: "user_1",
      planId: "pro",
      ...overrides,
    });
  const log = () => test.rows("select * from webhook_delivery order by id");
  const logged = async (eventId: string) => (await log()).find((row) => row.event_id === eventId);

  it.each(EVENT_KINDS)("applies %s and acknowledges a repeat as a duplicate", async (kind) => {
    const delivery = event(kind, { subscriptionId: `sub_${kind}` });
    expect(await send(delivery)).toMatchObject({ status: 200, body: { received: true } });
    expect((await send(delivery)).body).toEqual({ received: true, duplicate: true });
    expect(await logged(delivery.eventId)).toMatchObject({
      provider: "provider-a",
      event_type: delivery.eventType,
      status: "successful",
      format,
      claim_no: 1,
      last_error: null,
      lease_until: null,
      next_attempt_at: null,
    });
    const attempts = await test.rows("select * from webhook_attempts where delivery_id = $1", [
      (await logged(delivery.eventId))?.id,
    ]);
    expect(attempts).toMatchObject([
      { claim_no: 1, source: "delivery", outcome: "successful", reason: null },
    ]);
  });

  it("returns exactly {received: true} with a request id for a first delivery", async () => {
    const response = await send(
      event("customer.subscription.updated", { subscriptionId: "sub_exact", eventId: "evt_exact" }),
    );
    expect(response.body).toEqual({ received: true });
    expect(response.fields["x-request-id"]).toMatch(/^[0-9a-f-]{36}$/);
  });

  it("stores the payload byte for byte", async () => {
    const { body } = loadFixture(format, "customer.subscription.updated", {
      eventId: "kept",
      userId: "user_1",
      planId: "pro",
      subscriptionId: "sub_kept",
    });
    const text = JSON.stringify({ zz: "\u0000 \u001e é 𝄞 \\", ...body, a: [1.0, 1e3] }, null, 3);
    const delivery = rawDelivery(format, text, "kept");
    expect((await send(delivery)).status).toBe(200);
    const [row] = await test.rows<{ payload: string }>(
      "select payload::text as payload from webhook_delivery order by id desc limit 1",
    );
    expect(row?.payload).toBe(text);
  });

  it("acknowledges and logs an unhandled event type without effects", async () => {
    const before = await test.rows("select * from subscription order by id");
    const delivery = event("customer.subscription.updated", {
      eventType: "something.else",
      eventId: "other_type",
    });
    expect((await send(delivery)).body).toEqual({ received: true, ignored: true });
    expect(await logged(delivery.eventId)).toMatchObject({
      status: "successful",
      event_type: "something.else",
    });
    expect(await test.rows("select * from subscription order by id")).toEqual(before);
    expect((await send(delivery)).body).toEqual({ received: true, duplicate: true });
  });

  it.each([
    [
      "a user who does not exist",
      { userId: "nobody" },
      /user: there is no user "nobody"/,
      "user_not_found",
      { userId: "nobody" },
    ],
    [
      "a plan that does not exist",
      { planId: "gold", priceId: "price_unknown" },
      /plan: there is no plan "gold"/,
      "plan_unknown",
      { planId: "gold" },
    ],
  ])("fails an event with %s, and keeps it for the retry", async (name, wrong, sentence, reason, params) => {
    const delivery = event("customer.subscription.created", {
      subscriptionId: `sub_${name}`,
      eventId: `evt ${name}`,
      ...wrong,
    });
    const response = await send(delivery);
    if (format === "polar")
      expect(response).toMatchObject({ status: 200, body: { received: true, deferred: true } });
    else expect(response).toMatchObject({ status: 500, body: { error: "Processing failed" } });
    const row = await logged(delivery.eventId);
    expect(row).toMatchObject({ status: "failed", claim_no: 1, lease_until: null });
    expect(row?.last_error).toMatch(sentence);
    expect(row?.last_reason).toBe(reason);
    expect(
      await test.rows(
        "select reason, reason_id, reason_params from webhook_attempts where delivery_id = $1::bigint",
        [row?.id],
      ),
    ).toEqual([{ reason: row?.last_error, reason_id: reason, reason_params: params }]);
    const wait = Number(row?.next_attempt_at) - Number(row?.completed_at);
    expect(wait).toBeGreaterThanOrEqual(12_000);
    expect(wait).toBeLessThanOrEqual(18_000 + 5_000);
    expect(
      await test.rows("select * from subscription where provider_subscription_id = $1", [`sub_${name}`]),
    ).toEqual([]);
  });

  it("reclaims a failed event on redelivery and applies it once the cause is gone", async () => {
    const delivery = event("customer.subscription.created", {
      subscriptionId: "sub_later",
      eventId: "evt_later",
      userId: "user_later",
    });
    await send(delivery);
    await test.rows(
      `insert into "user" (id, name, email) values ('user_later', 'Later', 'later@example.com')`,
    );
    expect((await send(delivery)).body).toEqual({ received: true });
    expect(await logged(delivery.eventId)).toMatchObject({
      status: "successful",
      claim_no: 2,
      last_error: null,
      last_reason: null,
    });
    const attempts = await test.rows(
      "select source, outcome from webhook_attempts where delivery_id = $1 order by claim_no",
      [(await logged(delivery.eventId))?.id],
    );
    expect(attempts).toEqual([
      { source: "delivery", outcome: "failed" },
      { source: "delivery", outcome: "successful" },
    ]);
  });

  it("returns 400 for a missing, malformed or wrong signature and logs nothing", async () => {
    const count = (await log()).length;
    const good = event("customer.subscription.updated", { eventId: "forged" });
    const wrong = fixtureDelivery(format, "customer.subscription.updated", {
      secret: "other",
      nowSeconds: now(),
    });
    const bare = { "content-type": "application/json" };
    const garbled = Object.fromEntries(
      Object.entries(good.headers).map(([name, value]) => [name, `${value}x`]),
    );
    for (const delivery of [
      { rawBody: good.rawBody, headers: bare },
      { rawBody: good.rawBody, headers: garbled },
      { rawBody: Buffer.concat([good.rawBody, Buffer.from(" ")]), headers: good.headers },
      wrong,
    ]) {
      expect(await send(delivery)).toMatchObject({ status: 400, body: { error: "Invalid signature" } });
    }
    expect((await log()).length).toBe(count);
  });

  it.each(format === "lemon-squeezy" ? [] : [-201, 202])(
    "returns 400 for a timestamp %i s away and accepts one inside the tolerance",
    async (offset) => {
      const at = (seconds: number) =>
        fixtureDelivery(format, "customer.subscription.updated", {
          secret,
          nowSeconds: now() + seconds,
          userId: "user_1",
          planId: "pro",
          eventId: `evt_at_${seconds}`,
        });
      expect((await send(at(offset))).status).toBe(400);
      expect((await send(at(Math.sign(offset) * 190))).status).toBe(200);
    },
  );

  it("returns 400 for every delivery to a slot without a secret", async () => {
    const response = await deliverWebhook(server.url, "provider-b", event("customer.subscription.updated"));
    expect(response).toMatchObject({ status: 400, body: { error: "Invalid signature" } });
  });

  it.each([
    ["is not UTF-8", Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d])],
    ["starts with a byte order mark", Buffer.from(`\ufeff${"{}"}`)],
    ["is not JSON", Buffer.from("{nope")],
    ["is empty", Buffer.alloc(0)],
    ["is a list", Buffer.from("[]")],
    ["is null", Buffer.from("null")],
    ["is nested 101 deep", Buffer.from(`{"a":${"[".repeat(100)}${"]".repeat(100)}}`)],
    ["is nested 20,000 deep", Buffer.from(`${'{"a":'.repeat(10_000)}${"[".repeat(10_000)}`)],
    ["has no type", Buffer.from(`{"id":"evt_1","event_id":"evt_1","meta":{}}`)],
    ["has a type that is too long", Buffer.from(typed(format, "x".repeat(256)))],
    ["has a type with a NUL", Buffer.from(typed(format, "a\u0000b"))],
  ])("rejects a signed body that %s", async (_, bytes) => {
    const count = (await log()).length;
    const response = await send(rawDelivery(format, bytes, "evt_invalid"));
    expect(response.status).toBe(400);
    expect(response.body.error).toMatch(/^Invalid payload: ./);
    expect((await log()).length).toBe(count);
  });

  it("accepts a body nested exactly 100 levels deep", async () => {
    const { body } = loadFixture(format, "customer.subscription.updated", {
      eventId: "deep",
      userId: "user_1",
      planId: "pro",
    });
    const deep = JSON.parse(`${"[".repeat(99)}${"]".repeat(99)}`);
    const response = await send(rawDelivery(format, JSON.stringify({ ...body, deep }), "deep"));
    expect(response.status).toBe(200);
  });

  it.each(format === "stripe" || format === "paddle" ? UNUSABLE_IDS : [])(
    "returns 400 for an event id that is %s",
    async (_, id) => {
      const { body } = loadFixture(format, "customer.subscription.updated");
      const response = await send(
        rawDelivery(format, JSON.stringify({ ...body, id, event_id: id }), "unused"),
      );
      expect(response.status).toBe(400);
      expect(response.body.error).toMatch(/^Invalid payload: event id/);
    },
  );

  it("accepts an event id of 255 characters", async () => {
    const eventId = "e".repeat(255);
    const delivery = event("customer.subscription.updated", { eventId });
    expect((await send(delivery)).status).toBe(200);
    expect(await logged(delivery.eventId)).toBeDefined();
  });

  it("returns 413 for a body above the limit while it streams in", async () => {
    const count = (await log()).length;
    const big = rawDelivery(format, Buffer.alloc(100_001, 0x20), "big");
    expect(await send(big)).toMatchObject({ status: 413, body: { error: "Payload too large" } });
    for (const megabytes of [5, 40]) {
      const huge = rawDelivery(format, Buffer.alloc(megabytes * 1_000_000, 0x20), "huge");
      expect((await send(huge)).status).toBe(413);
    }
    const { status, sentBytes } = await flood(server.url, ["POST /api/webhooks/provider-a HTTP/1.1"]);
    expect(status).toBe(413);
    expect(sentBytes).toBeLessThan(5_000_000);
    expect((await log()).length).toBe(count);
  });

  it("accepts a body of exactly the limit", async () => {
    const { body } = loadFixture(format, "customer.subscription.updated", {
      eventId: "limit",
      userId: "user_1",
    });
    const text = JSON.stringify(body);
    const delivery = rawDelivery(format, text + " ".repeat(100_000 - Buffer.byteLength(text)), "limit");
    expect((await send(delivery)).status).toBe(200);
  });

  it("returns 404 for an unknown slot and 405 for another method", async () => {
    const delivery = event("customer.subscription.updated");
    expect((await deliverWebhook(server.url, "provider-d", delivery)).status).toBe(404);
    expect((await deliverWebhook(server.url, "__proto__", delivery)).status).toBe(404);
    for (const method of ["GET", "PUT", "DELETE", "PATCH", "OPTIONS"]) {
      const response = await deliverWebhook(server.url, "provider-a", delivery, { method });
      expect(response.status, method).toBe(405);
      expect(response.fields.allow).toBe("POST");
    }
  });
});

/** Bytes that are not a fixture, signed as they are. */
function rawDelivery(format: WireFormat, bytes: Buffer | string, eventId: string) {
  const rawBody = Buffer.from(bytes);
  const nowSeconds = now();
  const eventType = eventName(rawBody.toString());
  const headers = ADAPTERS.of(format).sign(rawBody, { secret, nowSeconds, eventId, eventType });
  // A header cannot carry every name; then it is left out, as the format allows.
  const sendable = Object.entries(headers).filter(([, value]) => /^[\x20-\x7e]+$/.test(value));
  return { rawBody, headers: { "content-type": "application/json", ...Object.fromEntries(sendable) } };
}

function eventName(text: string): string {
  try {
    return JSON.parse(text).meta.event_name ?? "";
  } catch {
    return "";
  }
}

function typed(format: WireFormat, type: string): string {
  const { body } = loadFixture(format, "customer.subscription.updated");
  const meta = { ...(body.meta as object), event_name: type };
  return JSON.stringify({
    ...body,
    type,
    event_type: type,
    name: type,
    ...(format === "lemon-squeezy" ? { meta } : {}),
  });
}
