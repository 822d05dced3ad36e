import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { text } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import { SLOTS } from "../../src/domain/slot.ts";
import { fixtureDelivery } from "../fixtures/fixture.ts";
import { freshServer } from "../support/fresh-server.ts";
import { sendRequest } from "../support/http.ts";
import { SECRETS } from "../support/variables.ts";

const FORMATS = { "provider-a": "stripe", "provider-b": "paddle", "provider-c": "polar" } as const;

const MEGABYTE = 1024 * 1024;

const { test, server } = freshServer({ users: 3, variables: { WEBHOOK_MAX_BYTES: `${64 * MEGABYTE}` } });

function created(slot: (typeof SLOTS)[number], eventId: string) {
  return fixtureDelivery(FORMATS[slot], "customer.subscription.created", {
    secret: SECRETS[slot],
    nowSeconds: Math.floor(Date.now() / 1000),
    eventId,
    subscriptionId: `${slot} ${eventId}`,
    customerId: `${slot} ${eventId}`,
    userId: "user_1",
    planId: "pro",
  });
}

function post(path: string, { rawBody, headers }: { rawBody: Buffer; headers: Record<string, string> }) {
  return sendRequest(server.url, "POST", path, { body: rawBody, headers });
}

const subscriptionsOf = (eventId: string) =>
  test.rows("select provider from subscription where provider_subscription_id like $1 order by 1", [
    `%${eventId}`,
  ]);

describe.each(["v1", "v2"])("a signed delivery to /api/%s/webhooks", (version) => {
  it.each(SLOTS)("is verified and applied once, as without a version: %s", async (slot) => {
    const eventId = `${version}-${slot}`;
    const delivery = created(slot, eventId);
    const path = `/api/${version}/webhooks/${slot}`;
    const [first, second] = [await post(path, delivery), await post(path, delivery)];
    expect([first.status, first.body]).toEqual([200, { received: true }]);
    expect([second.status, second.body]).toEqual([200, { received: true, duplicate: true }]);
    expect(first.headers.get("x-api-version")).toBe(version);
    expect(await subscriptionsOf(eventId)).toEqual([{ provider: slot }]);
  });

  it("returns 400 when a byte has changed", async () => {
    const { rawBody, headers } = created("provider-a", `${version}-changed`);
    const changed = Buffer.from(rawBody.toString().replace("user_1", "user_2"));
    const response = await post(`/api/${version}/webhooks/provider-a`, { rawBody: changed, headers });
    expect([response.status, response.body]).toEqual([400, { error: "Invalid signature" }]);
  });
});

it("applies the same event id once in each slot, as ids are unique per provider only", async () => {
  for (const slot of SLOTS) {
    const response = await post(`/api/webhooks/${slot}`, created(slot, "evt_shared"));
    expect([slot, response.body]).toEqual([slot, { received: true }]);
  }
  for (const slot of SLOTS) {
    const response = await post(`/api/webhooks/${slot}`, created(slot, "evt_shared"));
    expect([slot, response.body]).toEqual([slot, { received: true, duplicate: true }]);
  }
  const claimed = await test.rows(
    "select provider, status from webhook_delivery where event_id = 'evt_shared' order by provider",
  );
  expect(claimed).toEqual(SLOTS.map((provider) => ({ provider, status: "successful" })));
  expect(await subscriptionsOf("evt_shared")).toEqual(SLOTS.map((provider) => ({ provider })));
});

it("applies deliveries of one event id in several slots that arrive at once", async () => {
  const responses = await Promise.all(
    SLOTS.map((slot) => post(`/api/webhooks/${slot}`, created(slot, "evt_at_once"))),
  );
  expect(responses.map(({ body }) => body)).toEqual(SLOTS.map(() => ({ received: true })));
  expect(await subscriptionsOf("evt_at_once")).toEqual(SLOTS.map((provider) => ({ provider })));
});

it("is to be sent again where stalled bodies take too much memory", async () => {
  const stalled = async () => {
    const sending = request(`${server.url}/api/webhooks/provider-a`, {
      method: "POST",
      headers: { "content-length": 60 * MEGABYTE },
    });
    sending.on("error", () => {});
    await new Promise((resolve) => sending.write(Buffer.alloc(40 * MEGABYTE), resolve));
    return sending;
  };
  const first = await stalled();
  const answered = once(first, "response");
  const second = await stalled();
  const [response] = (await answered) as [IncomingMessage];
  expect([response.statusCode, JSON.parse(await text(response))]).toEqual([
    503,
    { error: "Service unavailable" },
  ]);
  expect(response.headers["retry-after"]).toMatch(/^\d+$/);
  first.destroy();
  second.destroy();
});
