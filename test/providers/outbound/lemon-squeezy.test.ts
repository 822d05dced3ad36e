import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { PaymentApi } from "../../../src/domain/providers/payment-api.ts";
import { createPaymentApi } from "../../../src/providers/create-payment-api.ts";
import { type LocalProvider, localProvider } from "./local-provider.ts";
import { KEY, ORDER, PAYER, providerApiOf, successfulReplies } from "./provider-apis.ts";

describe("Lemon Squeezy's API", () => {
  const providerApi = providerApiOf("lemon-squeezy");
  let provider: LocalProvider;
  let api: PaymentApi;
  beforeAll(async () => {
    provider = await localProvider();
  });
  beforeEach(() => {
    api = createPaymentApi({
      slot: "provider-a",
      format: "lemon-squeezy",
      apiKey: KEY,
      apiUrl: provider.url,
    });
  });
  afterAll(() => provider.close());

  it.each([
    ["paid", "while it was open", "2026-11-01T12:29:59Z"],
    ["open", "after its end, to another product", "2026-11-01T12:40:00Z"],
    ["open", "before", "2026-11-01T11:59:59Z"],
  ])("finds a checkout %s whose address has subscribed %s", async (status, _, startedAt) => {
    const times = { created_at: "2026-11-01T12:00:00Z", expires_at: "2026-11-01T12:30:00Z" };
    const subscription = { id: "50", attributes: { status: "active", created_at: startedAt } };
    provider.respondWith(({ path }) => ({
      body: { data: path.includes("/checkouts/") ? { id: "30", attributes: times } : [subscription] },
    }));
    const closing = { id: "30", userId: "user_7", email: ORDER.email };
    expect(await api.closeCheckout(closing)).toMatchObject({ status });
    // Of all customers' subscriptions, one of somebody else's would be taken for the payment.
    expect(Object.fromEntries(provider.requests[1]?.query ?? [])).toEqual({
      "filter[user_email]": ORDER.email,
    });
    subscription.attributes.status = "expired";
    expect(await api.closeCheckout(closing)).toEqual({ status: "open" });
  });

  it.each([
    [[{ status: "pending" }, { status: "paid" }], true, "/2/refund"],
    [[{ status: "partial_refund" }], true, "/1/refund"],
    [[{ status: "refunded" }, { status: "paid" }], true, null],
    [[{ status: "paid", total: 0 }], false, null],
    [[{ status: "pending" }], false, null],
    [[], false, null],
  ])("refunds of a subscription's invoices, the latest first, %j", async (invoices, isRefunded, path) => {
    const data = invoices.map((attributes, at) => ({
      id: String(at + 1),
      attributes: { total: 900, ...attributes },
    }));
    provider.respondWith(({ method }) => ({ body: { data: method === "GET" ? data : {} } }));
    expect(await api.refundSubscription("40")).toBe(isRefunded);
    const [list, ...refunds] = provider.requests;
    expect(Object.fromEntries(list?.query ?? [])).toEqual({ "filter[subscription_id]": "40" });
    expect(refunds.map((refund) => refund.path)).toEqual(
      path === null ? [] : [`/provider-a/v1/subscription-invoices${path}`],
    );
  });

  it("takes no subscription to another product for the payment of a checkout", async () => {
    const times = { created_at: "2026-11-01T12:00:00Z", expires_at: "2026-11-01T12:30:00Z" };
    const bought = { status: "active", created_at: "2026-11-01T12:10:00Z" };
    const subscriptions = [{ id: "50", attributes: { ...bought, variant_id: 99 } }];
    provider.respondWith(({ path }) => ({
      body: {
        data: path.includes("/checkouts/")
          ? { id: "30", attributes: { ...times, variant_id: 21 } }
          : subscriptions,
      },
    }));
    const closing = { id: "30", userId: "user_7", email: ORDER.email };
    expect(await api.closeCheckout(closing)).toEqual({ status: "open" });

    subscriptions.push({ id: "51", attributes: { ...bought, variant_id: 21 } });
    expect(await api.closeCheckout(closing)).toEqual({ status: "paid", providerSubscriptionId: "51" });
  });

  it("receives a checkout with user and plan for the key's only store", async () => {
    provider.respondWith(successfulReplies(providerApi));
    await api.createCheckout(ORDER);
    const [, request] = provider.requests;
    expect(request?.headers).toMatchObject({
      accept: "application/vnd.api+json",
      "content-type": "application/vnd.api+json",
    });
    expect(JSON.parse(request?.body ?? "")).toEqual({
      data: {
        type: "checkouts",
        attributes: {
          expires_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
          product_options: { redirect_url: ORDER.successUrl, enabled_variants: [21] },
          checkout_options: { discount: true },
          checkout_data: {
            email: ORDER.email,
            custom: { userId: "user_7", planId: "pro" },
            variant_quantities: [{ variant_id: 21, quantity: 3 }],
          },
        },
        relationships: {
          store: { data: { type: "stores", id: "1" } },
          variant: { data: { type: "variants", id: "21" } },
        },
      },
    });
    await api.createCheckout({ ...ORDER, trialDays: 14 });
    const options = () =>
      JSON.parse(provider.requests.at(-1)?.body ?? "").data.attributes.checkout_options as unknown;
    expect(options()).toEqual({ discount: true });
    await api.createCheckout({ ...ORDER, trialDays: 0 });
    expect(options()).toEqual({ discount: true, skip_trial: true });
    // The store is fetched once.
    await api.createCheckout(ORDER);
    expect(provider.requests.map(({ path }) => path)).toEqual([
      "/provider-a/v1/stores",
      ...Array.from({ length: 4 }, () => "/provider-a/v1/checkouts"),
    ]);
  });

  it.each([0, 2])(
    "reports how to fix a key for %i stores, and checks again on the next call",
    async (count) => {
      const stores = Array.from({ length: count }, (_, n) => ({ type: "stores", id: String(n) }));
      provider.respondWith(() => ({ body: { data: stores } }));
      await expect(api.createCheckout(ORDER)).rejects.toMatchObject({
        failure: "rejected",
        message: expect.stringMatching(new RegExp(`${count} stores.*exactly one store`)),
      });
      provider.respondWith(successfulReplies(providerApi));
      await api.createCheckout(ORDER);
    },
  );

  it("changes no plan where the seats that go with it cannot be changed, as in a trial", async () => {
    provider.respondWith(() => ({
      body: { data: { type: "subscriptions", id: "50", attributes: { first_subscription_item: null } } },
    }));
    const changing = api.changeSubscription("50", {
      when: "now",
      priceId: "31",
      currentPriceId: "21",
      seats: 6,
      resultingPriceId: "31",
      resultingSeats: 6,
    });
    await expect(changing).rejects.toMatchObject({ failure: "unsupported", obstacle: "trial" });
    expect(provider.requests.map(({ method }) => method)).toEqual(["GET"]);
  });

  // There are four at Lemon Squeezy, and three as far as its events have arrived.
  it.each([
    ["resets the quantity", { id: 7, quantity: 1 }, ["PATCH /v1/subscription-items/7 4"]],
    ["keeps the quantity", { id: 7, quantity: 4 }, []],
    ["bills by usage", { id: 7, quantity: 0, is_usage_based: true }, []],
    ["has no item, as in a trial", null, []],
  ])("keeps the seats of a subscription whose new variant %s", async (_, item, expected) => {
    let items: unknown[] = [{ id: 7, quantity: 4 }, item, item];
    provider.respondWith(() => {
      const [first_subscription_item, ...later] = items;
      items = later;
      return { body: { data: { type: "subscriptions", id: "50", attributes: { first_subscription_item } } } };
    });
    await api.changeSubscription("50", {
      when: "now",
      priceId: "31",
      currentPriceId: "21",
      seats: null,
      resultingPriceId: "31",
      resultingSeats: 3,
    });
    const [before, variant, after, ...others] = provider.requests;
    expect([before?.method, variant?.method, after?.method]).toEqual(["GET", "PATCH", "GET"]);
    expect(
      others.map(({ method, path, body }) => {
        const { quantity } = JSON.parse(body ?? "").data.attributes;
        return `${method} ${path.replace("/provider-a", "")} ${quantity}`;
      }),
    ).toEqual(expected);
  });

  it.each([
    ["plan", { priceId: "31", seats: null }, ["PATCH /v1/subscriptions/50"]],
    ["plan and seats", { priceId: "31", seats: 6 }, ["PATCH /v1/subscriptions/50"]],
    ["seats", { priceId: null, seats: 6 }, ["PATCH /v1/subscription-items/7"]],
  ])(
    "says that the %s of what is paid through PayPal cannot be changed here",
    async (_, wanted, expected) => {
      const first_subscription_item = { id: 7, quantity: 4 };
      const subscription = { id: "50", attributes: { variant_id: 21, first_subscription_item } };
      provider.respondWith(({ path }) => ({
        body: {
          data: path.includes("subscription-items")
            ? { id: "7", attributes: first_subscription_item }
            : subscription,
        },
      }));
      const changing = api.changeSubscription("50", {
        ...({ when: "now", currentPriceId: "21", ...wanted } as const),
        resultingPriceId: wanted.priceId ?? "21",
        resultingSeats: wanted.seats ?? 4,
      });
      await expect(changing).rejects.toMatchObject({ failure: "unsupported", obstacle: "in_portal" });
      const sent = provider.requests.filter(({ method }) => method !== "GET");
      expect(sent.map(({ method, path }) => `${method} ${path.replace("/provider-a", "")}`)).toEqual(
        expected,
      );
    },
  );

  it("is done once Lemon Squeezy has the plan and the seats", async () => {
    let item = { id: 7, quantity: 4 };
    let variant_id = 21;
    provider.respondWith(({ method, path, body }) => {
      const wanted = method === "PATCH" ? JSON.parse(body).data.attributes : {};
      variant_id = wanted.variant_id ?? variant_id;
      item = { ...item, quantity: wanted.quantity ?? item.quantity };
      const attributes = { variant_id, first_subscription_item: item };
      return {
        body: { data: path.includes("subscription-items") ? { attributes: item } : { id: "50", attributes } },
      };
    });
    await api.changeSubscription("50", {
      ...({ when: "now", priceId: "31", currentPriceId: "21", seats: 6 } as const),
      resultingPriceId: "31",
      resultingSeats: 6,
    });
    expect([variant_id, item.quantity]).toEqual([31, 6]);
  });

  it.each([0, 1])(
    "changes the plan of %i seats without a read that could fail afterwards",
    async (quantity) => {
      provider.respondWith(({ method }) =>
        provider.requests.some((sent) => sent.method === "PATCH") && method === "GET"
          ? { status: 404, body: { errors: [{ detail: "No.", status: "404" }] } }
          : { body: { data: { id: "50", attributes: { first_subscription_item: { id: 7, quantity } } } } },
      );
      await api.changeSubscription("50", {
        when: "now",
        priceId: "31",
        currentPriceId: "21",
        seats: null,
        resultingPriceId: "31",
        resultingSeats: 1,
      });
      expect(provider.requests.map(({ method }) => method)).toEqual(["GET", "PATCH"]);
    },
  );

  describe("the portal of an address that is not confirmed", () => {
    const own = { id: "50", attributes: { order_id: 40 } };
    const ownOrder = { id: "40" };
    const open = (subscriptions: object[], orders: object[], customer: object = { email: ORDER.email }) => {
      const attributes = { ...customer, urls: { customer_portal: "https://portal.example/squeezy" } };
      provider.respondWith(({ path }) => {
        if (path.endsWith("/v1/subscriptions")) return { body: { data: subscriptions } };
        if (path.endsWith("/v1/orders")) return { body: { data: orders } };
        return { body: { data: { id: "10", attributes } } };
      });
      const payer = { ...PAYER, isEmailConfirmed: false, ownSubscriptionIds: ["50"] };
      return api.openPortal({ ...payer, customerId: "10", providerSubscriptionId: "50" });
    };

    it("opens for whoever has bought all that was bought with it", async () => {
      expect(await open([own], [ownOrder])).toEqual({ url: "https://portal.example/squeezy" });
      expect(provider.requests.map(({ path, query }) => [path, query.get("filter[user_email]")])).toEqual([
        ["/provider-a/v1/customers/10", null],
        ["/provider-a/v1/subscriptions", ORDER.email],
        ["/provider-a/v1/orders", ORDER.email],
      ]);
    });

    it.each([
      ["another subscription", [own, { id: "51", attributes: { order_id: 40 } }], [ownOrder]],
      ["another order", [own], [ownOrder, { id: "41" }]],
      ["more orders than one page lists", [own], Array<object>(100).fill(ownOrder)],
      ["more subscriptions than one page lists", Array<object>(100).fill(own), [ownOrder]],
    ])("stays closed beside %s", async (_, subscriptions, orders) => {
      await expect(open(subscriptions, orders)).rejects.toMatchObject({ failure: "taken" });
    });

    it("stays closed for a customer without an address", async () => {
      await expect(open([], [], { email: null })).rejects.toMatchObject({ failure: "taken" });
    });
  });

  it("accepts a cancellation that is already scheduled", async () => {
    provider.respondWith(({ method }) =>
      method === "DELETE"
        ? providerApi.alreadyOver
        : { body: providerApi.subscription("subscription_cancelled") },
    );
    await api.cancelSubscription("50");
    expect(provider.requests.map(({ method }) => method)).toEqual(["DELETE", "GET"]);
  });

  it.each([404, 422])("reports the rejected field, if one is named: with %i", async (status) => {
    const pointer = "/data/relationships/variant";
    const errors = [
      { detail: "The related resource does not exist.", source: { pointer }, status: `${status}` },
      { title: "Unprocessable Entity", status: `${status}` },
    ];
    provider.respondWith((incoming) =>
      incoming.method === "POST" ? { status, body: { errors } } : successfulReplies(providerApi)(incoming),
    );
    await expect(api.createCheckout(ORDER)).rejects.toMatchObject({
      failure: "rejected",
      message: expect.stringContaining(
        `The related resource does not exist. (${pointer}); Unprocessable Entity"`,
      ),
    });
  });

  it("reports a wrong API path, not an unknown subscription", async () => {
    provider.respondWith(() => ({ status: 404, body: { message: "The route could not be found." } }));
    await expect(api.cancelSubscription("50")).rejects.toMatchObject({ failure: "rejected" });
    provider.respondWith(() => ({ status: 401, body: { message: "Unauthenticated." } }));
    await expect(api.cancelSubscription("50")).rejects.toThrow('401: "Unauthenticated"');
  });

  it("lists a subscription as changed when only its item is newer, as after a change of seats, or when no time is known", async () => {
    const since = new Date("2026-03-10T12:00:00Z");
    const before = "2026-03-10T11:00:00.000000Z";
    const subscription = (id: string, itemUpdatedAt: string | null, updatedAt: string | null = before) => ({
      type: "subscriptions",
      id,
      attributes: {
        customer_id: 7,
        variant_id: 21,
        status: "active",
        updated_at: updatedAt,
        first_subscription_item: { quantity: 4, updated_at: itemUpdatedAt },
      },
    });
    const data = [
      subscription("1", before),
      subscription("2", "2026-03-10T12:30:00.000000Z"),
      subscription("3", null, null),
    ];
    provider.respondWith(() => ({ body: { data, meta: { page: { lastPage: 1 } } } }));
    const options = { withEmails: false, changedSince: since };
    const { subscriptions } = await api.listSubscriptionPage(null, options);
    const changed = subscriptions.map(({ state }) => state);
    expect(changed).toMatchObject([
      {
        providerSubscriptionId: "2",
        items: [{ seats: 4 }],
        occurredAtMicros: null,
        changedAtMicros: Date.parse("2026-03-10T12:30:00Z") * 1000,
      },
      { providerSubscriptionId: "3" },
    ]);
    expect(changed[1]).not.toHaveProperty("changedAtMicros");
  });

  it("does not list events", () => {
    expect(api.listEvents).toBeNull();
  });
});
