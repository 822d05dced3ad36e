import { describe, expect, it } from "vitest";
import type { WireFormat } from "../../src/providers/adapter.ts";
import { wireFormats } from "../../src/providers/registry.ts";
import { SECRETS } from "../support/variables.ts";
import { endpoint } from "./endpoint.ts";
import { API_KEY, control, order, press, simulator } from "./test-context.ts";

const HOUR_SECONDS = 3_600;
const CARD = { action: "pay", email: "user@example.com", card: "4242424242424242" };

/** A simulated provider that delivers to an endpoint, with a subscription to act on. */
async function provider(format: WireFormat) {
  const hook = await endpoint(format, SECRETS["provider-a"]);
  const sim = await simulator({
    formats: { "provider-a": format },
    deliverTo: () => hook.url,
    timeScale: 1_000,
  });
  // biome-ignore lint/suspicious/noExplicitAny: the tests look into it as they please.
  type Answer = { status: number; body: any };
  const send = async (method: string, path: string, body?: object): Promise<Answer> => {
    const headers = { authorization: `Bearer ${API_KEY}` };
    const sent = body ? { body: JSON.stringify(body) } : {};
    const response = await fetch(`${sim.url}/provider-a${path}`, { method, headers, ...sent });
    return { status: response.status, body: await response.json() };
  };
  const ask = (path: string, body?: object) => send(body ? "POST" : "GET", path, body);
  const change = (path: string, body: object) => send("PATCH", path, body);
  const buy = async (fields: Record<string, string> = {}) => {
    const checkout = await order(sim.url, format);
    await press(checkout.url, { ...CARD, ...fields });
    await sim.settle();
    return checkout;
  };
  const act = async (action: string, fields: Record<string, string> = {}) => {
    const [{ id, portalUrl }] = (await control(sim.url, "/state")).slots["provider-a"].subscriptions;
    expect((await press(portalUrl, { subscription: id, action, ...fields })).status).toBe(303);
    await sim.settle();
  };
  // biome-ignore lint/suspicious/noExplicitAny: the tests look into it as they please.
  const bodies = () => hook.arrivals.map(({ eventType, body }) => ({ eventType, body: body as any }));
  return { sim, ask, change, buy, act, bodies };
}

describe.each(wireFormats())("a renewal that is owed in the format %s", (format) => {
  it("is paid as it was invoiced when the seats have changed meanwhile", async () => {
    const { sim, buy, act } = await provider(format);
    await buy();
    await act("fail_renewal");
    await sim.passTime("month");
    await act("seats", { seats: "3" });
    await act("allow_renewal");
    await act("pay_owed");
    expect(sim.payments("provider-a").map(({ amount }) => amount)).toEqual([2_000, 2_000]);
    await sim.passTime("month");
    expect(sim.payments("provider-a").at(-1)?.amount).toBeGreaterThan(6_000);
  });
});

describe.each(wireFormats())("a trial in the format %s", (format) => {
  it("is charged at its end, not at the checkout", async () => {
    const { sim, buy } = await provider(format);
    await buy({ trial: "on" });
    const charged = () =>
      sim
        .payments("provider-a")
        .map(({ amount }) => amount)
        .filter((amount) => amount > 0);
    expect(charged()).toEqual([]);
    await sim.passTime("next");
    expect(charged()).toEqual([2_000]);
  });
});

describe("Stripe", () => {
  it("creates a subscription as incomplete, and activates it with the next event", async () => {
    const { buy, bodies } = await provider("stripe");
    await buy();
    const statusOf = (type: string) =>
      bodies().find(({ eventType }) => eventType === type)?.body.data.object.status;
    expect(statusOf("customer.subscription.created")).toBe("incomplete");
    expect(statusOf("customer.subscription.updated")).toBe("active");
  });

  it("reports a scheduled cancellation only by its time", async () => {
    const { buy, act, bodies } = await provider("stripe");
    await buy();
    await act("cancel_at_period_end");
    expect(bodies().at(-1)?.body.data.object).toMatchObject({
      status: "active",
      cancel_at_period_end: false,
      cancel_at: expect.any(Number),
    });
  });
});

describe("Polar", () => {
  it("keeps a checkout open for 24 hours, and never names the subscription that it started", async () => {
    const { sim, ask, buy } = await provider("polar");
    const late = await order(sim.url, "polar");
    const { id } = await buy();
    const { body: paid } = await ask(`/v1/checkouts/${id}`);
    expect(paid).toMatchObject({ status: "succeeded", subscription_id: null });
    expect(Date.parse(paid.expires_at) - Date.parse(paid.created_at)).toBe(24 * HOUR_SECONDS * 1_000);
    await control(sim.url, "/clock", { by: 24 * HOUR_SECONDS });
    expect((await press(late.url, CARD)).status).toBe(409);
    expect((await ask(`/v1/checkouts/${late.id}`)).body.status).toBe("expired");
  });

  it("changes neither product nor seats of a subscription that is to end", async () => {
    const { sim, buy, act, change } = await provider("polar");
    await buy();
    await act("cancel_at_period_end");
    const [subscription] = sim.subscriptions("provider-a");
    const path = `/v1/subscriptions/${subscription?.providerSubscriptionId}`;
    for (const order of [{ product_id: "price_team_monthly" }, { seats: 3 }])
      for (const proration_behavior of ["invoice", "next_period"])
        expect(await change(path, { ...order, proration_behavior })).toMatchObject({
          status: 403,
          body: { error: "AlreadyCanceledSubscription" },
        });
    expect((await change(path, { cancel_at_period_end: false })).status).toBe(200);
    expect((await change(path, { seats: 3, proration_behavior: "invoice" })).body.seats).toBe(3);
  });

  it("takes only the seats that the present product allows, for the next period too", async () => {
    const { sim, buy, change } = await provider("polar");
    await buy();
    const [subscription] = sim.subscriptions("provider-a");
    const path = `/v1/subscriptions/${subscription?.providerSubscriptionId}`;
    const changed = async (order: object) => {
      const { status, body } = await change(path, order);
      return body.error ?? status;
    };
    for (const proration_behavior of ["invoice", "next_period"])
      expect(await changed({ seats: 6, proration_behavior })).toBe("AboveMaximumSeats");
    const [team, pro] = ["price_team_monthly", "price_pro_monthly"].map((product_id) => ({ product_id }));
    expect(await changed({ ...team, proration_behavior: "invoice" })).toBe(200);
    expect(await changed({ seats: 8, proration_behavior: "invoice" })).toBe(200);
    for (const proration_behavior of ["invoice", "next_period"])
      expect(await changed({ ...pro, proration_behavior })).toBe("InvalidQuantityError");
    expect(await changed({ seats: 3, proration_behavior: "next_period" })).toBe("BelowMinimumSeats");
  });

  it("opens the portal of a customer with members only for one of them", async () => {
    const { ask, buy } = await provider("polar");
    await buy();
    const open = (member: object) =>
      ask("/v1/customer-sessions/", { external_customer_id: "user_0", ...member });
    expect((await open({})).status).toBe(422);
    expect((await open({ external_member_id: "user_1" })).status).toBe(422);
    expect((await open({ external_member_id: "user_0" })).status).toBe(201);
  });
});

describe("Lemon Squeezy", () => {
  it("gives each event its own webhook id", async () => {
    const { buy, act, bodies } = await provider("lemon-squeezy");
    await buy();
    await act("seats", { seats: "4" });
    const ids = bodies().map(({ body }) => body.meta.webhook_id);
    expect(ids.length).toBeGreaterThan(2);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it("moves only the item's time when the seats change", async () => {
    const { buy, act, bodies } = await provider("lemon-squeezy");
    await buy();
    await act("seats", { seats: "4" });
    const attributes = bodies().at(-1)?.body.data.attributes;
    expect(attributes.first_subscription_item.quantity).toBe(4);
    expect(attributes.updated_at).toBe(attributes.created_at);
    expect(Date.parse(attributes.first_subscription_item.updated_at)).toBeGreaterThan(
      Date.parse(attributes.updated_at),
    );
  });

  it("accepts payments until the checkout's `expires_at`, and always without one", async () => {
    const { sim, ask } = await provider("lemon-squeezy");
    const limited = await order(sim.url, "lemon-squeezy");
    const related = (type: string, id: string) => ({ data: { type, id } });
    const relationships = {
      store: related("stores", "1"),
      variant: related("variants", "price_pro_monthly"),
    };
    const { body } = await ask("/v1/checkouts", {
      data: { type: "checkouts", attributes: {}, relationships },
    });
    expect(body.data.attributes.expires_at).toBeNull();
    await control(sim.url, "/clock", { by: "month" });
    expect((await press(limited.url, CARD)).status).toBe(409);
    expect((await press(body.data.attributes.url, CARD)).status).toBeLessThan(400);
  });
});
