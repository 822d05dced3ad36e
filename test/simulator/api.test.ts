import Stripe from "stripe";
import { beforeAll, describe, expect, it } from "vitest";
import { definePlans } from "../../src/domain/plans/plan.ts";
import type { Slot } from "../../src/domain/slot.ts";
import type { WireFormat } from "../../src/providers/adapter.ts";
import { PADDLE_EVENT_TYPES } from "../../src/providers/paddle/webhook.ts";
import { wireFormats } from "../../src/providers/registry.ts";
import type { ParameterTable } from "../../src/simulator/http/parameters.ts";
import { LEMON_SQUEEZY_PARAMETERS } from "../../src/simulator/lemon-squeezy/parameters.ts";
import { PADDLE_PARAMETERS } from "../../src/simulator/paddle/parameters.ts";
import { POLAR_PARAMETERS } from "../../src/simulator/polar/parameters.ts";
import { simulatedProviderOf } from "../../src/simulator/registry.ts";
import type { ProviderSlot } from "../../src/simulator/server/provider-slot.ts";
import type { Simulator } from "../../src/simulator/server/start-simulator.ts";
import { STRIPE_PARAMETERS } from "../../src/simulator/stripe/parameters.ts";
import { API_KEY, control, press, simulator } from "./test-context.ts";

let sim: Simulator;
let lemon: Simulator;
beforeAll(async () => {
  const deliverTo = () => "http://127.0.0.1:1/";
  sim = await simulator({ deliverTo });
  lemon = await simulator({ deliverTo, formats: { "provider-a": "lemon-squeezy" } });
});

type Asked = { key?: string | null; body?: object | URLSearchParams; method?: string; headers?: object };

async function ask(
  from: Simulator,
  slot: Slot,
  path: string,
  { key = API_KEY, body, method, headers }: Asked = {},
) {
  const response = await fetch(`${from.url}/${slot}${path}`, {
    method: method ?? (body ? "POST" : "GET"),
    headers: { ...(key === null ? {} : { authorization: `Bearer ${key}` }), ...headers },
    ...(body ? { body: body instanceof URLSearchParams ? body : JSON.stringify(body) } : {}),
  });
  // biome-ignore lint/suspicious/noExplicitAny: the tests look into it as they please.
  return { status: response.status, headers: response.headers, body: (await response.json()) as any };
}

const sessionOf = (changes: Record<string, string> = {}) =>
  new URLSearchParams({
    mode: "subscription",
    "line_items[0][price]": "price_pro_monthly",
    "line_items[0][quantity]": "2",
    success_url: "http://localhost:3000/done?session={CHECKOUT_SESSION_ID}",
    "metadata[userId]": "user_0",
    ...changes,
  });

describe("an unknown key", () => {
  it("is refused with each provider's error", async () => {
    const stripe = await ask(sim, "provider-a", "/v1/subscriptions/sub_1", { key: "sk_wrong_1234" });
    expect(stripe).toMatchObject({
      status: 401,
      body: { error: { type: "invalid_request_error", message: "Invalid API Key provided: ********1234" } },
    });
    const paddle = await ask(sim, "provider-b", "/subscriptions/sub_1", { key: "wrong" });
    expect(paddle).toMatchObject({
      status: 403,
      body: { error: { type: "request_error", code: "invalid_token" } },
    });
    const nobody = await ask(sim, "provider-b", "/subscriptions/sub_1", { key: null });
    expect(nobody).toMatchObject({ status: 403, body: { error: { code: "authentication_missing" } } });
    const polar = await ask(sim, "provider-c", "/v1/subscriptions/1", { key: "wrong" });
    expect(polar).toMatchObject({ status: 401, body: { error: "invalid_token" } });
    const squeezy = await ask(lemon, "provider-a", "/v1/stores", { key: "wrong" });
    expect(squeezy).toMatchObject({
      status: 401,
      body: { errors: [{ status: "401", title: "Unauthorized" }] },
    });
  });
});

describe("the provider of a slot", () => {
  it("opens one checkout for one idempotency key, and refuses the key for another request", async () => {
    const headers = { "idempotency-key": "key-1" };
    const ask2 = (body: URLSearchParams) =>
      ask(sim, "provider-a", "/v1/checkout/sessions", { body, headers });
    const [first, second] = [await ask2(sessionOf()), await ask2(sessionOf())];
    expect(second.body).toEqual(first.body);
    expect(second.headers.get("idempotent-replayed")).toBe("true");
    const otherAnswer = await ask2(sessionOf({ "line_items[0][quantity]": "3" }));
    expect(otherAnswer).toMatchObject({ status: 400, body: { error: { type: "idempotency_error" } } });
    const atOnce = { body: sessionOf(), headers: { "idempotency-key": "key-2" } };
    const responses = await Promise.all(
      [1, 2, 3].map(() => ask(sim, "provider-a", "/v1/checkout/sessions", atOnce)),
    );
    expect(new Set(responses.map(({ body }) => body.id)).size).toBe(1);
  });

  it("does not copy a session's metadata to its subscription", async () => {
    const { body: session } = await ask(sim, "provider-a", "/v1/checkout/sessions", { body: sessionOf() });
    const paid = await press(session.url, {
      action: "pay",
      email: "a@example.com",
      card: "4242424242424242",
    });
    expect(paid.headers.get("location")).toBe(`http://localhost:3000/done?session=${session.id}`);
    const { body: complete } = await ask(sim, "provider-a", `/v1/checkout/sessions/${session.id}`);
    expect(complete).toMatchObject({
      status: "complete",
      payment_status: "paid",
      metadata: { userId: "user_0" },
    });
    const { body: subscription } = await ask(sim, "provider-a", `/v1/subscriptions/${complete.subscription}`);
    expect(subscription).toMatchObject({
      status: "active",
      items: { data: [{ quantity: 2 }] },
    });
    expect(subscription.metadata).toEqual({});
    const { body: list } = await ask(
      sim,
      "provider-a",
      `/v1/subscriptions?customer=${subscription.customer}`,
    );
    expect(list.data.map(({ id }: { id: string }) => id)).toEqual([subscription.id]);
  });

  it("reports an invalid order and unknown objects", async () => {
    const wrong = async (changes: Record<string, string>) =>
      (await ask(sim, "provider-a", "/v1/checkout/sessions", { body: sessionOf(changes) })).body.error;
    expect(await wrong({ "line_items[0][price]": "price_x" })).toMatchObject({ code: "resource_missing" });
    expect(await wrong({ mode: "payment" })).toMatchObject({ param: "mode" });
    expect(await wrong({ success_url: "javascript:alert(1)" })).toMatchObject({ code: "url_invalid" });
    expect(await wrong({ cancel_url: "data:text/html,x" })).toMatchObject({ code: "url_invalid" });
    expect(await wrong({ "line_items[0][quantity]": "-1" })).toMatchObject({ type: "invalid_request_error" });
    expect(await wrong({ customer: "cus_x" })).toMatchObject({ code: "resource_missing" });
    for (const path of ["/v1/subscriptions/x", "/v1/checkout/sessions/x", "/v1/prices/x", "/v1/nothing"]) {
      expect((await ask(sim, "provider-a", path)).status).toBe(404);
    }
  });

  it("closes an expired session", async () => {
    const open = async () =>
      (await ask(sim, "provider-a", "/v1/checkout/sessions", { body: sessionOf() })).body;
    const session = await open();
    const path = `/v1/checkout/sessions/${session.id}/expire`;
    expect(await ask(sim, "provider-a", path, { method: "POST" })).toMatchObject({
      body: { status: "expired", url: null },
    });
    expect((await ask(sim, "provider-a", path, { method: "POST" })).status).toBe(400);
    const otherSession = await open();
    await control(sim.url, "/clock", { by: "day" });
    const paid = await press(otherSession.url, {
      action: "pay",
      email: "a@example.com",
      card: "4242424242424242",
    });
    expect(paid.status).toBe(409);
    expect(paid.text).toContain("This checkout has expired");
  });

  it("refuses event types that Paddle does not have, and accepts all that the product subscribes to", async () => {
    const types = (list: string) => ask(sim, "provider-b", `/events?event_type=${list}`);
    expect((await types("customer.subscription.updated")).status).toBe(400);
    expect((await types("subscription.updated,subscription_updated")).status).toBe(400);
    expect((await types(PADDLE_EVENT_TYPES.join(","))).status).toBe(200);
    expect(PADDLE_EVENT_TYPES.every((type) => /^(subscription|transaction|adjustment)\./.test(type))).toBe(
      true,
    );
  });

  it("lists its events in pages, newest first, by type and time", async () => {
    const pages: string[] = [];
    for (let after = ""; ; ) {
      const { body } = await ask(sim, "provider-a", `/v1/events?limit=1${after}`);
      pages.push(...body.data.map(({ id }: { id: string }) => id));
      if (!body.has_more) break;
      after = `&starting_after=${pages.at(-1)}`;
    }
    const { deliveries } = (await control(sim.url, "/state")).slots["provider-a"];
    expect(pages).toEqual(deliveries.map(({ eventId }: { eventId: string }) => eventId).reverse());
    const page = await ask(sim, "provider-a", "/v1/events?types[0]=customer.subscription.created");
    expect(page.body.data).toHaveLength(1);
    const later = Math.floor(Date.now() / 1_000) + 3 * 86_400;
    expect((await ask(sim, "provider-a", `/v1/events?created[gte]=${later}`)).body.data).toEqual([]);
    expect((await ask(sim, "provider-a", "/v1/events?limit=0")).status).toBe(400);
  });
});

describe("an invalid order", () => {
  it("is reported in each provider's format", async () => {
    const paddle = await ask(sim, "provider-b", "/transactions", { body: { items: [] } });
    expect(paddle).toMatchObject({
      status: 400,
      body: { error: { code: "bad_request", errors: [{ field: "items.0.price_id" }] } },
    });
    const unknown = await ask(sim, "provider-b", "/transactions/txn_x");
    expect(unknown).toMatchObject({ status: 404, body: { error: { code: "not_found" } } });
    const polar = await ask(sim, "provider-c", "/v1/checkouts/", { body: { products: ["nothing"] } });
    expect(polar).toMatchObject({ status: 422, body: { detail: [{ loc: ["body", "products", 0] }] } });
    expect(await ask(sim, "provider-c", "/v1/checkouts/x")).toMatchObject({
      status: 404,
      body: { error: "ResourceNotFound" },
    });
    const squeezy = await ask(lemon, "provider-a", "/v1/checkouts", {
      body: { data: { type: "checkouts" } },
    });
    expect(squeezy).toMatchObject({
      status: 422,
      body: { errors: [{ source: { pointer: "/data/relationships/store" } }] },
    });
    const broken = await fetch(`${sim.url}/provider-b/transactions`, {
      method: "POST",
      body: "{",
      headers: { authorization: `Bearer ${API_KEY}` },
    });
    expect(broken.status).toBe(400);
  });

  it("sells yearly prices and former price ids", async () => {
    const catalog = definePlans([
      {
        id: "big",
        name: "Big",
        price: { amount: 100_000, currency: "JPY", interval: "year" },
        features: [],
        seats: { min: 1, max: 9 },
        priceIds: { "provider-a": ["price_new", "price_old"] },
      },
    ]);
    const yearly = await simulator({ deliverTo: () => "http://127.0.0.1:1/", catalog });
    const body = sessionOf({ "line_items[0][price]": "price_old" });
    const { body: session } = await ask(yearly, "provider-a", "/v1/checkout/sessions", { body });
    expect(await (await fetch(session.url)).text()).toContain("Pay 200,000 JPY");
    await press(session.url, { action: "pay", email: "a@example.com", card: "4242424242424242" });
    const [bought] = (await control(yearly.url, "/state")).slots["provider-a"].subscriptions;
    const days = (bought.periodEndSeconds - bought.periodStartSeconds) / 86_400;
    expect([365, 366]).toContain(days);
    expect(bought.offer).toMatchObject({ priceId: "price_old", planId: "big", interval: "year" });
    await yearly.close();
  });

  it("knows every price of the catalog", async () => {
    expect(wireFormats()).toHaveLength(4);
    expect((await ask(sim, "provider-a", "/v1/prices/price_team_monthly")).body).toMatchObject({
      unit_amount: 1500,
      currency: "eur",
    });
    expect((await ask(sim, "provider-b", "/prices/pri_team_monthly")).body.data.unit_price).toEqual({
      amount: "1500",
      currency_code: "EUR",
    });
    expect((await ask(sim, "provider-c", "/v1/products/prod_team")).body).toMatchObject({
      id: "prod_team",
      name: "Team",
    });
    expect(
      (await ask(lemon, "provider-a", "/v1/variants/price_pro_monthly")).body.data.attributes,
    ).toMatchObject({ price: 2000 });
  });
});

it("serves Stripe's SDK at the root, by its documented host, port and protocol", async () => {
  const { hostname, port } = new URL(sim.url);
  const client = new Stripe(API_KEY, { host: hostname, port, protocol: "http", telemetry: false });
  const session = await client.checkout.sessions.create({
    mode: "subscription",
    success_url: "http://localhost:3000/done",
    line_items: [{ price: "price_pro_monthly", quantity: 2 }],
  });
  expect(session).toMatchObject({ object: "checkout.session", status: "open", ui_mode: "hosted_page" });
  await client.checkout.sessions.expire(session.id);
  expect(await client.checkout.sessions.retrieve(session.id)).toMatchObject({ status: "expired", url: null });
  expect((await client.prices.retrieve("price_pro_monthly")).active).toBe(true);
  await expect(client.subscriptions.retrieve("sub_none")).rejects.toMatchObject({ code: "resource_missing" });
});

it("lists the known parameters of each route, and of no other", () => {
  const tables: Record<WireFormat, ParameterTable> = {
    stripe: STRIPE_PARAMETERS,
    paddle: PADDLE_PARAMETERS,
    polar: POLAR_PARAMETERS,
    "lemon-squeezy": LEMON_SQUEEZY_PARAMETERS,
  };
  for (const [format, table] of Object.entries(tables)) {
    const slot = { name: "provider-a", apiKey: API_KEY, state: {} } as ProviderSlot;
    const { routes } = simulatedProviderOf(format).createApi(slot);
    const served = routes.filter(({ method }) => method !== "ALL");
    const names = new Set(served.map(({ method, path }) => `${method} ${path}`));
    expect(Object.keys(table).toSorted()).toEqual([...names].toSorted());
  }
});

it("serves each slot at the root by its key", async () => {
  const stripe = await fetch(`${lemon.url}/v1/stores`, { headers: { authorization: `Bearer ${API_KEY}` } });
  expect(stripe.status).toBe(200);
  const unknown = await fetch(`${lemon.url}/v1/stores`, { headers: { authorization: "Bearer unknown" } });
  expect(unknown.status).toBe(401);
});
