import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { PaymentApi } from "../../../src/domain/providers/payment-api.ts";
import { createPaymentApi } from "../../../src/providers/create-payment-api.ts";
import { loadFixture } from "../../fixtures/fixture.ts";
import { type LocalProvider, localProvider } from "./local-provider.ts";
import { KEY, ORDER, PAYER, providerApiOf, successfulReplies } from "./provider-apis.ts";

describe("Polar's API", () => {
  const providerApi = providerApiOf("polar");
  let provider: LocalProvider;
  let api: PaymentApi;
  beforeAll(async () => {
    provider = await localProvider();
    api = createPaymentApi({ slot: "provider-c", format: "polar", apiKey: KEY, apiUrl: provider.url });
  });
  afterAll(() => provider.close());

  const checkout = {
    products: ["21"],
    metadata: { userId: "user_7", planId: "pro" },
    success_url: ORDER.successUrl,
    return_url: ORDER.cancelUrl,
    seats: 3,
    allow_discount_codes: true,
  };
  const product = (amountType: string) => ({
    status: 200,
    body: { id: ORDER.priceId, prices: [{ amount_type: amountType }] },
  });
  const bodies = () => provider.requests.map(({ body }) => JSON.parse(body));

  it("finds the subscription of a paid checkout, not another one of the person's", async () => {
    const id = "00000000-0000-4000-8000-000000000030";
    const subscriptions = [
      { id: "00000000-0000-4000-8000-000000000051", checkout_id: "00000000-0000-4000-8000-000000000031" },
      { id: "00000000-0000-4000-8000-000000000052", checkout_id: null },
    ];
    provider.respondWith(({ path }) => ({
      body: path.includes("/checkouts/") ? { id, status: "succeeded" } : { items: subscriptions },
    }));
    const closing = { id, userId: "user_7", email: ORDER.email };
    expect(await api.closeCheckout(closing)).toEqual({ status: "paid", providerSubscriptionId: null });

    subscriptions.push({ id: "00000000-0000-4000-8000-000000000050", checkout_id: id });
    expect(await api.closeCheckout(closing)).toEqual({
      status: "paid",
      providerSubscriptionId: "00000000-0000-4000-8000-000000000050",
    });
  });

  it.each([
    ["open", "open"],
    ["confirmed", "paid"],
    ["succeeded", "paid"],
    ["expired", "closed"],
    ["failed", "closed"],
    [null, "closed"],
  ])("takes a checkout that is %s for %s", async (status, end) => {
    const id = "00000000-0000-4000-8000-000000000030";
    provider.respondWith(({ path }) => {
      if (!path.includes("/checkouts/")) return { body: { items: [] } };
      if (status === null) return { status: 404, body: { error: "ResourceNotFound", detail: "Not found" } };
      return { body: { id, status } };
    });
    const closing = { id, userId: "user_7", email: ORDER.email };
    expect(await api.closeCheckout(closing)).toMatchObject({ status: end });
  });

  it("receives a checkout with user and plan", async () => {
    provider.respondWith(successfulReplies(providerApi));
    expect(await api.createCheckout(ORDER)).toEqual({
      id: "00000000-0000-4000-8000-000000000030",
      url: providerApi.checkoutUrl,
      expiresAt: new Date("2026-03-02T12:00:00.123Z"),
    });
    await api.createCheckout({ ...ORDER, customerId: providerApi.customerId });
    expect(bodies()).toEqual([
      { ...checkout, external_customer_id: "user_7", customer_email: ORDER.email },
      { ...checkout, external_customer_id: "user_7", customer_email: ORDER.email },
    ]);
  });

  it.each([
    [14, { trial_interval: "day", trial_interval_count: 14 }],
    [0, { allow_trial: false }],
  ])("starts a trial of %i days", async (trialDays, sent) => {
    provider.respondWith(successfulReplies(providerApi));
    await api.createCheckout({ ...ORDER, trialDays });
    expect(bodies()).toEqual([
      { ...checkout, external_customer_id: "user_7", customer_email: ORDER.email, ...sent },
    ]);
  });

  it("sells one seat of a product without seats, but not three", async () => {
    const detail = [
      {
        type: "value_error",
        loc: ["body", "seats"],
        msg: "Seats can only be set for seat-based pricing.",
        input: 1,
      },
    ];
    provider.respondWith((incoming) => {
      if (incoming.method === "GET") return product("fixed");
      return "seats" in JSON.parse(incoming.body)
        ? { status: 422, body: { detail } }
        : successfulReplies(providerApi)(incoming);
    });
    await api.createCheckout({ ...ORDER, seats: 1 });
    const sent = provider.requests.filter(({ method }) => method === "POST");
    expect(sent.map(({ body }) => JSON.parse(body).seats)).toEqual([1, undefined]);
    await expect(api.createCheckout(ORDER)).rejects.toMatchObject({
      failure: "rejected",
      message: expect.stringContaining("body.seats: Seats can only be set for seat-based pricing"),
    });
  });

  it("rejects the checkout when Polar refuses the seat count, without retrying", async () => {
    const detail = [{ type: "value_error", loc: ["body", "seats"], msg: "At least 5 seats.", input: 1 }];
    provider.respondWith((incoming) =>
      incoming.method === "GET" ? product("seat_based") : { status: 422, body: { detail } },
    );
    await expect(api.createCheckout({ ...ORDER, seats: 1 })).rejects.toMatchObject({ failure: "rejected" });
    expect(provider.requests.filter(({ method }) => method === "POST")).toHaveLength(1);
  });

  it.each([
    ["the plan was changed, but not the seats", "30", "incomplete"],
    ["the first of the requests failed", null, "rejected"],
  ])("says whether %s", async (_, priceId, failure) => {
    const detail = [{ type: "value_error", loc: ["body", "seats"], msg: "At most 5 seats.", input: 9 }];
    const subscription = { id: "00000000-0000-4000-8000-000000000050", pending_update: null };
    provider.respondWith((incoming) =>
      incoming.body.includes('"seats"')
        ? { status: 422, body: { detail } }
        : { status: 200, body: subscription },
    );
    const change = {
      when: "now",
      priceId,
      currentPriceId: "29",
      seats: 9,
      resultingSeats: 9,
      resultingPriceId: priceId ?? "29",
    } as const;
    await expect(api.changeSubscription(subscription.id, change)).rejects.toMatchObject({ failure });
  });

  it("withdraws the part of a change for the next period whose other part was refused", async () => {
    const subscription = { id: "00000000-0000-4000-8000-000000000050", pending_update: { id: "1" } };
    provider.respondWith((incoming) =>
      incoming.body.includes('"seats"')
        ? { status: 422, body: { detail: [{ type: "value_error", loc: ["body"], msg: "No.", input: 9 }] } }
        : { status: 200, body: subscription },
    );
    const change = {
      when: "period_end",
      priceId: "30",
      currentPriceId: "29",
      seats: 9,
      resultingSeats: 9,
      resultingPriceId: "30",
    } as const;
    await expect(api.changeSubscription(subscription.id, change)).rejects.toMatchObject({
      failure: "rejected",
      hasWithdrawnSchedule: true,
    });
    const sent = provider.requests.filter(({ method }) => method === "PATCH");
    expect(sent.map(({ body }) => Object.keys(JSON.parse(body))[0])).toEqual([
      "pending_update",
      "product_id",
      "seats",
      "pending_update",
    ]);
  });

  it.each([
    ["period_end", "next_period"],
    ["now", "invoice"],
  ] as const)("reports a change for %s that was refused, and leaves it at that", async (when, proration) => {
    const subscription = { id: "00000000-0000-4000-8000-000000000050", pending_update: null };
    const detail = [{ type: "value_error", loc: ["body"], msg: "No.", input: "30" }];
    provider.respondWith(({ method }) =>
      method === "GET" ? { body: subscription } : { status: 422, body: { detail } },
    );
    const prices = { priceId: "30", currentPriceId: "29", resultingPriceId: "30" };
    const change = { when, ...prices, seats: null, resultingSeats: 1 };
    await expect(api.changeSubscription(subscription.id, change)).rejects.toMatchObject({
      failure: "rejected",
    });
    const sent = provider.requests.filter(({ method }) => method === "PATCH");
    expect(sent.map(({ body }) => JSON.parse(body))).toEqual([
      { product_id: "30", proration_behavior: proration },
    ]);
  });

  it.each([
    [{ status: "paid", refundable_amount: 700 }, true, [700]],
    [{ status: "refunded", refundable_amount: 0 }, true, []],
    [{ status: "paid", refundable_amount: 0 }, false, []],
    [null, false, []],
  ])("refunds of the last order %j what can be refunded", async (order, isRefunded, amounts) => {
    const items = order === null ? [] : [{ id: "order_1", ...order }];
    provider.respondWith(({ method }) => ({
      body: method === "GET" ? { items, pagination: { max_page: 1 } } : { id: "refund_1" },
    }));
    expect(await api.refundSubscription(providerApi.subscriptionId)).toBe(isRefunded);
    const [list, ...refunds] = provider.requests;
    expect(Object.fromEntries(list?.query ?? [])).toMatchObject({
      subscription_id: providerApi.subscriptionId,
      sorting: "-created_at",
      limit: "1",
    });
    expect(refunds.map(({ body }) => JSON.parse(body))).toEqual(
      amounts.map((amount) => ({ order_id: "order_1", reason: "customer_request", amount })),
    );
  });

  it("fetches a revoked subscription as ended, as its event says, whatever its status is", async () => {
    const { data } = loadFixture("polar", "customer.subscription.deleted").body as { data: object };
    provider.respondWith(() => ({ status: 200, body: { ...data, status: "unpaid" } }));
    expect(await api.fetchSubscription("00000000-0000-4000-8000-000000000050")).toMatchObject({
      kind: "customer.subscription.deleted",
      status: "canceled",
    });
  });

  it("opens the portal with a return URL", async () => {
    provider.respondWith(successfulReplies(providerApi));
    await api.openPortal({ ...PAYER, customerId: providerApi.customerId });
    const session = { external_customer_id: "user_7", return_url: ORDER.successUrl };
    expect(JSON.parse(provider.requests.at(-1)?.body ?? "")).toEqual({
      ...session,
      external_member_id: "user_7",
    });
    expect(provider.requests.slice(0, -1).map(({ query }) => query.get("external_customer_id"))).toEqual([
      "user_7",
      "user_7",
    ]);
  });

  describe("the portal of a customer", () => {
    const own = { metadata: { userId: "user_7" }, customer: { email: ORDER.email } };
    const foreign = { ...own, metadata: { userId: "user_8" } };
    const open = (subscriptions: object[], orders: object[], payer: object = { isEmailConfirmed: false }) => {
      provider.respondWith((incoming) => {
        if (incoming.path.endsWith("/v1/subscriptions/")) return { body: { items: subscriptions } };
        if (incoming.path.endsWith("/v1/orders/")) return { body: { items: orders } };
        return successfulReplies(providerApi)(incoming);
      });
      return api.openPortal({ ...PAYER, customerId: providerApi.customerId, ...payer });
    };

    it("opens for whoever has bought everything", async () => {
      expect((await open([own], [own, own])).url).toBe("https://portal.example/polar");
    });

    it.each([
      ["a foreign subscription", [own, foreign], [own]],
      ["a foreign order", [own], [foreign]],
      ["more orders than one page lists", [own], Array<object>(100).fill(own)],
    ])("stays closed beside %s, unless the address is confirmed", async (_, subscriptions, orders) => {
      await expect(open(subscriptions, orders)).rejects.toMatchObject({ failure: "taken" });
      expect(provider.requests.map(({ method }) => method)).toEqual(["GET", "GET"]);
      await open(subscriptions, orders, { isEmailConfirmed: true });
      const otherAddress = { isEmailConfirmed: true, email: "eve@example.com" };
      await expect(open(subscriptions, orders, otherAddress)).rejects.toMatchObject({ failure: "taken" });
    });
  });

  it("opens the portal of a customer without members", async () => {
    const detail = [
      { type: "value_error", loc: ["body", "external_member_id"], msg: "Member does not exist." },
    ];
    provider.respondWith((incoming) =>
      incoming.body.includes("external_member_id")
        ? { status: 422, body: { detail } }
        : successfulReplies(providerApi)(incoming),
    );
    const { url } = await api.openPortal({ ...PAYER, customerId: providerApi.customerId });
    expect(url).toBe("https://portal.example/polar");
  });

  it("returns null for a malformed id", async () => {
    const detail = [
      { type: "uuid_parsing", loc: ["path", "id"], msg: "Input should be a valid UUID", input: "sub_0" },
    ];
    provider.respondWith(() => ({ status: 422, body: { detail } }));
    expect(await api.fetchSubscription("sub_0")).toBeNull();
  });

  it("blames no key for a subscription that has ended meanwhile", async () => {
    const detail = "This subscription is already canceled or will be at the end of the period.";
    provider.respondWith(({ method }) =>
      method === "GET"
        ? { body: { id: "sub", pending_update: null } }
        : { status: 403, body: { error: "AlreadyCanceledSubscription", detail } },
    );
    const changing = api.changeSubscription(providerApi.subscriptionId, {
      ...({ when: "now", priceId: null, currentPriceId: "21", seats: 3 } as const),
      resultingPriceId: "21",
      resultingSeats: 3,
    });
    await expect(changing).rejects.toMatchObject({ failure: "rejected" });
    await expect(changing).rejects.not.toThrow("API_KEY");
  });

  it.each(["PaymentFailed", "PaymentActionRequired"])(
    "says that the payment for a change was declined: %s",
    async (error) => {
      provider.respondWith(({ method }) =>
        method === "GET"
          ? { body: { id: "sub", pending_update: null } }
          : { status: 402, body: { error, detail: "The card was declined." } },
      );
      const changing = api.changeSubscription(providerApi.subscriptionId, {
        ...({ when: "now", priceId: null, currentPriceId: "21", seats: 3 } as const),
        resultingPriceId: "21",
        resultingSeats: 3,
      });
      await expect(changing).rejects.toMatchObject({ failure: "declined" });
    },
  );

  it.each([
    ["RefundsBlocked", "rejected"],
    ["RefundDisputedPayment", "rejected"],
    ["NotPermitted", "unauthorized"],
    ["insufficient_scope", "unauthorized"],
  ])("takes the status 403 of %s for %s", async (error, failure) => {
    const order = { id: "order_1", status: "paid", refundable_amount: 100 };
    provider.respondWith(({ method }) =>
      method === "GET"
        ? { body: { items: [order], pagination: { max_page: 1 } } }
        : { status: 403, body: { error, detail: "Refunds are blocked for order: order_1" } },
    );
    await expect(api.refundSubscription(providerApi.subscriptionId)).rejects.toMatchObject({ failure });
  });

  it("is called again while the subscription is locked", async () => {
    const locked = {
      status: 409,
      body: { error: "SubscriptionLocked", detail: "Subscription is pending an update." },
    };
    provider.respondWith((incoming, nth) => (nth === 0 ? locked : successfulReplies(providerApi)(incoming)));
    await api.cancelSubscription(providerApi.subscriptionId);
    expect(provider.requests).toHaveLength(2);
  });

  it("lists each delivered event once, oldest first, with its unchanged body", async () => {
    const { body } = loadFixture("polar", "subscription.updated");
    const payload = JSON.stringify(body, null, 2);
    const delivery = (id: string, more: object = {}) => ({
      id: `attempt-${id}`,
      succeeded: false,
      webhook_event: { id, type: "subscription.updated", payload, is_archived: false, ...more },
    });
    // Event 1 was tried twice, event 3 has no payload left, event 4 is of an unhandled type.
    const attempts = [
      delivery("5"),
      delivery("1"),
      delivery("4", { type: "benefit.created" }),
      delivery("3", { payload: null, is_archived: true }),
      delivery("2"),
      delivery("1"),
    ];
    const endpoints = [
      { id: "chat", url: "https://chat.example/webhooks/provider-c", format: "slack" },
      { id: "other", url: "https://other.example/hooks", format: "raw" },
      { id: "ours", url: "https://app.example.com/api/webhooks/provider-c", format: "raw", enabled: true },
    ];
    provider.respondWith(({ path, query }) => {
      if (path === "/provider-a/v1/webhooks/endpoints") return { body: { items: endpoints } };
      const page = Number(query.get("page"));
      const items = attempts.slice((page - 1) * 4, page * 4);
      return { body: { items, pagination: { total_count: 6, max_page: 2 } } };
    });
    const listed = await Array.fromAsync(api.listEvents?.(new Date("2026-03-01T13:00:00Z")) ?? none());
    expect(listed.map(({ eventId, eventType }) => [eventId, eventType])).toEqual([
      ["1", "subscription.updated"],
      ["2", "subscription.updated"],
      ["5", "subscription.updated"],
    ]);
    expect(String(listed[0]?.rawBody)).toBe(payload);
    expect(provider.requests.map(({ path }) => path).slice(1)).toEqual(
      Array(2).fill("/provider-a/v1/webhooks/deliveries"),
    );
    const [, request] = provider.requests;
    expect(request?.query.get("start_timestamp")).toBe("2026-03-01T13:00:00.000Z");
    expect(request?.query.get("endpoint_id")).toBe("ours");
    expect(await api.isEndpointDisabled?.()).toBe(false);
    Object.assign(endpoints[2] as object, { enabled: false });
    expect(await api.isEndpointDisabled?.()).toBe(true);
    // Only the operator knows which of two endpoints is right.
    endpoints.push({ id: "staging", url: "https://staging.example/api/webhooks/provider-c", format: "raw" });
    await expect(Array.fromAsync(api.listEvents?.(new Date()) ?? none())).rejects.toMatchObject({
      failure: "rejected",
      message: expect.stringMatching(/2 webhook endpoints.*an organization of its own/),
    });
  });

  it("counts an endpoint that is missing as disabled, as no events are made for it", async () => {
    const chat = {
      id: "chat",
      url: "https://chat.example/webhooks/provider-c",
      format: "slack",
      enabled: true,
    };
    provider.respondWith(() => ({ body: { items: [chat], pagination: { total_count: 1, max_page: 1 } } }));
    expect(await api.isEndpointDisabled?.()).toBe(true);
    expect(await Array.fromAsync(api.listEvents?.(new Date()) ?? none())).toEqual([]);
  });
});

async function* none() {}
