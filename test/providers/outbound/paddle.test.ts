import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { PaymentApi } from "../../../src/domain/providers/payment-api.ts";
import { createPaymentApi } from "../../../src/providers/create-payment-api.ts";
import { loadFixture } from "../../fixtures/fixture.ts";
import { type LocalProvider, localProvider, type Reply } from "./local-provider.ts";
import { KEY, ORDER, PAYER, providerApiOf, successfulReplies } from "./provider-apis.ts";

const PORTAL = { data: { urls: { general: { overview: "https://portal.example/paddle" } } } };

describe("Paddle's API", () => {
  const providerApi = providerApiOf("paddle");
  let provider: LocalProvider;
  let api: PaymentApi;
  beforeAll(async () => {
    provider = await localProvider();
    api = createPaymentApi({ slot: "provider-b", format: "paddle", apiKey: KEY, apiUrl: provider.url });
  });
  afterAll(() => provider.close());

  it("receives a transaction with user and plan", async () => {
    provider.respondWith(successfulReplies(providerApi));
    const checkout = await api.createCheckout({ ...ORDER, customerId: "ctm_0" });
    expect(checkout).toEqual({ id: "txn_1", url: providerApi.checkoutUrl, expiresAt: null });
    expect(JSON.parse(provider.requests.at(-1)?.body ?? "")).toEqual({
      items: [{ price_id: "21", quantity: 3 }],
      customer_id: "ctm_0",
      collection_mode: "automatic",
      custom_data: { userId: "user_7", planId: "pro" },
    });
    expect(provider.requests.at(-1)?.headers).toMatchObject({
      "paddle-version": "1",
      "content-type": "application/json",
    });
  });

  it("finds the customer by email address, or creates one", async () => {
    provider.respondWith(successfulReplies(providerApi));
    await api.createCheckout(ORDER);
    expect(provider.requests[0]?.query.get("email")).toBe("ada+shop@example.com");
    expect(JSON.parse(provider.requests[1]?.body ?? "")).toMatchObject({ customer_id: "ctm_0" });
    provider.respondWith((incoming) => {
      if (incoming.path !== "/provider-a/customers") return successfulReplies(providerApi)(incoming);
      return incoming.method === "GET"
        ? { body: { data: [] } }
        : { status: 201, body: { data: { id: "ctm_new" } } };
    });
    await api.createCheckout(ORDER);
    expect(provider.requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
      "GET /provider-a/customers",
      "POST /provider-a/customers",
      "POST /provider-a/transactions",
    ]);
    const transaction = { email: ORDER.email, custom_data: { userId: ORDER.userId } };
    expect(JSON.parse(provider.requests[1]?.body ?? "")).toEqual(transaction);
    expect(JSON.parse(provider.requests[2]?.body ?? "")).toMatchObject({ customer_id: "ctm_new" });
  });

  it.each([
    ["a stranger's", null],
    ["another person's", { userId: "user_8" }],
  ])("does not use %s customer for an unconfirmed email address", async (_, custom_data) => {
    const customer = { id: "ctm_0", email: ORDER.email, custom_data };
    provider.respondWith((incoming) =>
      incoming.path === "/provider-a/customers"
        ? { body: { data: [customer] } }
        : successfulReplies(providerApi)(incoming),
    );
    const unconfirmed = { ...ORDER, isEmailConfirmed: false };
    const refused = api.createCheckout(unconfirmed);
    await expect(refused).rejects.toMatchObject({
      failure: "taken",
      message: expect.stringContaining("REQUIRE_EMAIL_CONFIRMATION"),
    });
    expect(provider.requests.map(({ method }) => method)).toEqual(["GET"]);
    // Nor when an event has attached the person to it.
    provider.respondWith((incoming) => {
      if (incoming.path === "/provider-a/customers") return { body: { data: [customer] } };
      return incoming.path === "/provider-a/customers/ctm_0"
        ? { body: { data: customer } }
        : successfulReplies(providerApi)(incoming);
    });
    const attached = api.createCheckout({ ...unconfirmed, customerId: "ctm_0" });
    await expect(attached).rejects.toMatchObject({ failure: "taken" });
    const opening = api.openPortal({ ...PAYER, isEmailConfirmed: false, customerId: "ctm_0" });
    await expect(opening).rejects.toMatchObject({ failure: "taken" });
    expect(provider.requests.map(({ method }) => method)).toEqual(["GET", "GET", "GET"]);
  });

  it("uses the customer that was created for the same user", async () => {
    const customer = { id: "ctm_0", email: ORDER.email, custom_data: { userId: ORDER.userId } };
    provider.respondWith((incoming) =>
      incoming.path === "/provider-a/customers"
        ? { body: { data: [customer] } }
        : successfulReplies(providerApi)(incoming),
    );
    await api.createCheckout({ ...ORDER, isEmailConfirmed: false });
    expect(JSON.parse(provider.requests[1]?.body ?? "")).toMatchObject({ customer_id: "ctm_0" });
  });

  it.each([null, "ctm_0"])(
    "makes a customer who was there before the person's, and an archived one active: %s",
    async (customerId) => {
      const customer = { id: "ctm_0", email: ORDER.email, status: "archived", custom_data: { crm: 7 } };
      provider.respondWith((incoming) => {
        if (incoming.path === "/provider-a/customers") return { body: { data: [customer] } };
        return incoming.path === "/provider-a/customers/ctm_0"
          ? { body: { data: customer } }
          : successfulReplies(providerApi)(incoming);
      });
      await api.createCheckout({ ...ORDER, customerId });
      const [found, reactivated, opened] = provider.requests;
      if (customerId === null) expect(found?.query.get("status")).toBe("active,archived");
      expect(reactivated).toMatchObject({ method: "PATCH", path: "/provider-a/customers/ctm_0" });
      expect(JSON.parse(reactivated?.body ?? "")).toEqual({
        status: "active",
        custom_data: { crm: 7, userId: ORDER.userId },
      });
      expect(JSON.parse(opened?.body ?? "")).toMatchObject({ customer_id: "ctm_0" });
    },
  );

  it("opens the portal of an archived customer, whom it neither activates nor has to change", async () => {
    const customer = { id: "ctm_0", email: ORDER.email, status: "archived", custom_data: null };
    provider.respondWith((incoming) => {
      if (incoming.path !== "/provider-a/customers/ctm_0") return successfulReplies(providerApi)(incoming);
      return incoming.method === "PATCH" ? { status: 400, body: {} } : { body: { data: customer } };
    });
    expect((await api.openPortal({ ...PAYER, customerId: "ctm_0" })).url).toMatch(/^https:/);
    expect(JSON.parse(provider.requests[1]?.body ?? "")).toEqual({ custom_data: { userId: PAYER.userId } });
  });

  it("warns when the customer whose portal it opens could not be made the person's", async () => {
    const warnings: unknown[][] = [];
    const log = { warn: (...warning: unknown[]) => void warnings.push(warning) };
    const withLog = createPaymentApi({
      slot: "provider-b",
      format: "paddle",
      apiKey: KEY,
      apiUrl: provider.url,
      log,
    });
    const refusal = { error: { code: "forbidden", detail: "You aren't permitted" } };
    provider.respondWith(({ method, path }) => {
      if (path.endsWith("/portal-sessions")) return { body: PORTAL };
      if (method === "PATCH") return { status: 403, body: refusal };
      return { body: { data: { id: "ctm_0", email: ORDER.email, custom_data: null } } };
    });
    expect((await withLog.openPortal({ ...PAYER, customerId: "ctm_0" })).url).toMatch(/^https:/);
    expect(warnings).toEqual([
      [
        { slot: "provider-b", userId: PAYER.userId, reason: expect.stringContaining("PROVIDER_B_API_KEY") },
        expect.stringContaining("change of address"),
      ],
    ]);
  });

  it("does not repeat the creation of a customer, which Paddle would refuse as a second one", async () => {
    provider.respondWith(({ method }) => (method === "GET" ? { body: { data: [] } } : "hang-up"));
    await expect(api.createCheckout(ORDER)).rejects.toMatchObject({ failure: "unreachable" });
    expect(provider.requests.map(({ method }) => method)).toEqual(["GET", "POST"]);
  });

  it("explains a missing default payment link", async () => {
    provider.respondWith((incoming) =>
      incoming.path === providerApi.checkoutPath
        ? { body: { data: { id: "txn_1", checkout: { url: null } } } }
        : successfulReplies(providerApi)(incoming),
    );
    await expect(api.createCheckout(ORDER)).rejects.toThrow(/default payment link/);
  });

  it("treats 403 as a wrong key", async () => {
    provider.respondWith(() => ({
      status: 403,
      body: providerApi.refusal("Invalid or revoked API key.", "invalid_token"),
    }));
    await expect(api.fetchSubscription("sub_0")).rejects.toMatchObject({
      failure: "unauthorized",
      message: expect.stringContaining("PROVIDER_B_API_KEY"),
    });
  });

  it("reports the rejected fields", async () => {
    const { error } = providerApi.refusal("Invalid request.") as { error: object };
    const errors = [{ field: "items.0.price_id", message: "does not match the pattern" }];
    provider.respondWith((incoming) =>
      incoming.path === providerApi.checkoutPath
        ? { status: 400, body: { error: { ...error, errors } } }
        : successfulReplies(providerApi)(incoming),
    );
    await expect(api.createCheckout(ORDER)).rejects.toThrow("items.0.price_id: does not match the pattern");
  });

  it("cancels immediately", async () => {
    provider.respondWith(successfulReplies(providerApi));
    await api.cancelSubscription("sub_0");
    expect(JSON.parse(provider.requests[0]?.body ?? "")).toEqual({ effective_from: "immediately" });
  });

  const refused = (status: number, code: string, headers: Record<string, string> = {}): Reply => ({
    status,
    headers,
    body: { error: { type: "request_error", code, detail: "cannot update subscription" } },
  });
  const sent = () =>
    provider.requests.map(({ method, body }) => [method, body === "" ? null : JSON.parse(body)] as const);

  it("takes a subscription for canceled that ends with its period, whose end Paddle does not move", async () => {
    const scheduled_change = { action: "cancel", effective_at: "2026-04-02T12:00:00Z", resume_at: null };
    provider.respondWith(({ method }) =>
      method === "GET"
        ? { body: { data: { id: "sub_0", status: "active", scheduled_change } } }
        : refused(400, "subscription_locked_pending_changes"),
    );
    expect(await api.cancelSubscription("sub_0")).toBe("canceled");
    expect(sent().map(([method]) => method)).toEqual(["POST", "GET"]);
  });

  it.each(["pause", "resume"])(
    "withdraws a scheduled %s, which keeps it from being canceled",
    async (action) => {
      let scheduled_change: object | null = { action, effective_at: "2026-04-02T12:00:00Z" };
      provider.respondWith(({ method }) => {
        if (method === "PATCH") scheduled_change = null;
        return method === "POST" && scheduled_change !== null
          ? refused(400, "subscription_locked_pending_changes")
          : { body: { data: { id: "sub_0", status: "active", scheduled_change } } };
      });
      expect(await api.cancelSubscription("sub_0")).toBe("canceled");
      expect(sent()).toEqual([
        ["POST", { effective_from: "immediately" }],
        ["GET", null],
        ["PATCH", { scheduled_change: null }],
        ["POST", { effective_from: "immediately" }],
      ]);
    },
  );

  it.each([
    [400, "subscription_locked_pending_changes", { failure: "unsupported", obstacle: "scheduled_change" }],
    [409, "subscription_locked_renewal", { failure: "unsupported", obstacle: "renewing" }],
    [409, "subscription_locked_processing", { failure: "unsupported", obstacle: "renewing" }],
    [409, "subscription_outstanding_transaction", { failure: "unsupported", obstacle: "payment_open" }],
    [400, "subscription_update_when_past_due", { failure: "unsupported", obstacle: "payment_open" }],
    [
      400,
      "subscription_credit_creation_against_uncompleted_transaction_not_allowed",
      { failure: "unsupported", obstacle: "payment_open" },
    ],
    [400, "subscription_outstanding_pending_refund", { failure: "unsupported", obstacle: "refund_open" }],
    [
      400,
      "subscription_update_transaction_balance_less_than_charge_limit",
      { failure: "unsupported", obstacle: "charge_too_small" },
    ],
    [400, "subscription_update_when_canceled", { failure: "unsupported", obstacle: "not_offered" }],
    [400, "subscription_payment_declined", { failure: "declined" }],
    [400, "subscription_missing_payment_method_cannot_update", { failure: "declined" }],
    [400, "subscription_price_requires_payment_method_on_cardless_trial", { failure: "declined" }],
  ])("says why it doesn't change a subscription: %d %s", async (status, code, refusal) => {
    const items = [{ price: { id: "pri_pro" }, quantity: 2 }];
    provider.respondWith(({ method }) =>
      method === "GET" ? { body: { data: { id: "sub_0", status: "active", items } } } : refused(status, code),
    );
    const changing = api.changeSubscription("sub_0", {
      ...({ when: "now", priceId: null, currentPriceId: "pri_pro", seats: 6 } as const),
      resultingPriceId: "pri_pro",
      resultingSeats: 6,
    });
    await expect(changing).rejects.toMatchObject(refusal);
  });

  it.each(["hour", "24_hour"])(
    "says that a subscription has been changed too often (%s), and holds up no other request",
    async (span) => {
      const items = [{ price: { id: "pri_pro" }, quantity: 2 }];
      provider.respondWith(({ method }) =>
        method === "GET"
          ? { body: { data: { id: "sub_0", status: "active", items } } }
          : refused(429, `subscription_immediate_charge_${span}_limit_exceeded`, { "retry-after": "3600" }),
      );
      const changing = () =>
        api.changeSubscription("sub_0", {
          ...({ when: "now", priceId: null, currentPriceId: "pri_pro", seats: 6 } as const),
          resultingPriceId: "pri_pro",
          resultingSeats: 6,
        });
      const refusal = { failure: "unsupported", obstacle: "changed_often" };
      await expect(changing()).rejects.toMatchObject(refusal);
      await expect(changing()).rejects.toMatchObject(refusal);
      expect(provider.requests.map(({ method }) => method)).toEqual(["GET", "PATCH", "GET", "PATCH"]);
    },
  );

  it.each([
    ["after another modification at the same time", 409, "concurrent_modification"],
    [
      "while the payment that a change credits is processed",
      400,
      "subscription_credit_creation_against_processing_transaction",
    ],
  ])("is called again %s", async (_, status, code) => {
    provider.respondWith((incoming, nth) =>
      nth === 0 ? refused(status, code) : successfulReplies(providerApi)(incoming),
    );
    await api.cancelSubscription("sub_0");
    expect(provider.requests).toHaveLength(2);
  });

  it.each([
    ["canceled", { status: "closed" }],
    ["draft", { status: "open" }],
    ["paid", { status: "paid", providerSubscriptionId: "sub_1" }],
    ["completed", { status: "paid", providerSubscriptionId: "sub_1" }],
    ["billed", { status: "paid", providerSubscriptionId: "sub_1" }],
    ["past_due", { status: "paid", providerSubscriptionId: "sub_1" }],
    ["ready", null],
  ])("says what has become of a transaction that cannot be canceled: %s", async (status, end) => {
    provider.respondWith(({ method }) =>
      method === "GET"
        ? { body: { data: { id: "txn_1", status, subscription_id: "sub_1" } } }
        : refused(400, "transaction_immutable"),
    );
    const closing = api.closeCheckout({ id: "txn_1", userId: "user_7", email: ORDER.email });
    if (end === null) await expect(closing).rejects.toMatchObject({ failure: "rejected" });
    else expect(await closing).toEqual(end);
  });

  it("refunds nothing of a trial, whose transaction is completed as well", async () => {
    const trial = { id: "txn_1", status: "completed", details: { totals: { grand_total: "0" } } };
    provider.respondWith(() => ({ body: { data: [trial] } }));
    expect(await api.refundSubscription("sub_0")).toBe(false);
    expect(provider.requests.map(({ method }) => method)).toEqual(["GET"]);
  });

  it.each([
    [{ status: "pending_approval" }, false],
    [{ status: "approved" }, false],
    [{ status: "rejected" }, true],
    [{ status: "approved", type: "partial" }, true],
    [{ status: "approved", action: "credit" }, true],
  ])("asks for a refund in spite of %j: %s", async (adjustment, asksAgain) => {
    const chargeback = { action: "chargeback", type: "partial", status: "reversed" };
    const adjustments = [chargeback, { action: "refund", type: "full", ...adjustment }];
    const paid = { id: "txn_1", details: { totals: { grand_total: "2000" } }, adjustments };
    provider.respondWith(() => ({ body: { data: [paid] } }));
    expect(await api.refundSubscription("sub_0")).toBe(true);
    const [listed] = provider.requests;
    expect(Object.fromEntries(listed?.query ?? [])).toEqual({
      subscription_id: "sub_0",
      status: "completed",
      order_by: "created_at[DESC]",
      per_page: "1",
      include: "adjustments",
    });
    const asked = provider.requests.filter(({ method }) => method === "POST");
    // Names both reasons for a refund: the call does not know which applies.
    const reason = expect.stringMatching(/deleted, or already had a subscription/);
    const refund = { action: "refund", type: "full", transaction_id: "txn_1", reason };
    expect(asked.map(({ body }) => JSON.parse(body))).toEqual(asksAgain ? [refund] : []);
  });

  it("asks for a refund once, as a repeated request would be a second one", async () => {
    const paid = { id: "txn_1", details: { totals: { grand_total: "2000" } }, adjustments: [] };
    provider.respondWith(({ method }) => (method === "GET" ? { body: { data: [paid] } } : { status: 502 }));
    await expect(api.refundSubscription("sub_0")).rejects.toMatchObject({ failure: "unreachable" });
    expect(provider.requests.filter(({ method }) => method === "POST")).toHaveLength(1);
  });

  it.each([
    ["active", "prorated_immediately"],
    ["trialing", "do_not_bill"],
  ])("changes a subscription that is %s with the billing mode %s", async (status, mode) => {
    const items = [
      { price: { id: "pri_addon" }, quantity: 1 },
      { price: { id: "pri_pro" }, quantity: 2 },
    ];
    provider.respondWith(() => ({ body: { data: { id: "sub_0", status, items } } }));
    const change = {
      ...({ when: "now", priceId: null, currentPriceId: "pri_pro", seats: 6 } as const),
      resultingPriceId: "pri_pro",
      resultingSeats: 6,
    };
    await api.changeSubscription("sub_0", change);
    await api.previewChange("sub_0", change);
    const sent = provider.requests.filter(({ method }) => method === "PATCH");
    expect(sent.map(({ path }) => path.split("/").at(-1))).toEqual(["sub_0", "preview"]);
    for (const { body } of sent) {
      expect(JSON.parse(body)).toEqual({
        items: [
          { price_id: "pri_pro", quantity: 6 },
          { price_id: "pri_addon", quantity: 1 },
        ],
        proration_billing_mode: mode,
      });
    }
  });

  it.each([
    ["what the change costs", { action: "charge", amount: "500" }, null, 500],
    ["what the balance leaves of it", { action: "charge", amount: "500" }, "300", 300],
    ["what is credited", { action: "credit", amount: "500" }, "0", -500],
    ["a credit of nothing", { action: "credit", amount: "0" }, null, 0],
  ])("previews %s", async (_, result, grand_total, amountDue) => {
    const summary = { update_summary: { result: { ...result, currency_code: "EUR" } } };
    expect(await preview({ ...summary, immediate_transaction: transactionOf(grand_total) })).toMatchObject({
      amountDue,
      currency: "EUR",
    });
  });

  it.each([
    ["nothing", {}],
    ["no amount", { update_summary: { result: { action: "charge", currency_code: "EUR" } } }],
    ["no currency", { update_summary: { result: { action: "charge", amount: "500" } } }],
    ["a part of a cent", { update_summary: { result: { amount: "0.5", currency_code: "EUR" } } }],
  ])("makes no preview of a response with %s", async (_, summary) => {
    expect(await preview(summary)).toBeNull();
  });

  const transactionOf = (grand_total: string | null) =>
    grand_total === null ? null : { details: { totals: { grand_total } } };
  const preview = (response: object) => {
    const items = [{ price: { id: "pri_pro" }, quantity: 2 }];
    provider.respondWith(({ method }) => ({
      body: { data: method === "GET" ? { id: "sub_0", status: "active", items } : response },
    }));
    return api.previewChange("sub_0", {
      ...({ when: "now", priceId: null, currentPriceId: "pri_pro", seats: 6 } as const),
      resultingPriceId: "pri_pro",
      resultingSeats: 6,
    });
  };

  it("leaves as it is what is not to change, also when it was changed elsewhere", async () => {
    const items = [{ price: { id: "pri_team" }, quantity: 9 }];
    provider.respondWith(() => ({ body: { data: { id: "sub_0", status: "active", items } } }));
    const known = { when: "now", currentPriceId: "pri_pro", resultingPriceId: "pri_pro" } as const;
    await api.changeSubscription("sub_0", { ...known, priceId: null, seats: 6, resultingSeats: 6 });
    await api.changeSubscription("sub_0", { ...known, priceId: "pri_max", seats: null, resultingSeats: 2 });
    const sent = provider.requests.filter(({ method }) => method === "PATCH");
    expect(sent.map(({ body }) => JSON.parse(body).items)).toEqual([
      [{ price_id: "pri_team", quantity: 6 }],
      [{ price_id: "pri_max", quantity: 9 }],
    ]);
  });

  it("adds no second plan when several items are paid and none at the known price", async () => {
    const items = [{ price: { id: "pri_addon" } }, { price: { id: "pri_team" } }];
    provider.respondWith(() => ({ body: { data: { id: "sub_0", status: "active", items } } }));
    const changing = api.changeSubscription("sub_0", {
      ...({ when: "now", priceId: "pri_max", currentPriceId: "pri_pro", seats: null } as const),
      resultingPriceId: "pri_max",
      resultingSeats: 2,
    });
    await expect(changing).rejects.toMatchObject({ failure: "rejected" });
    expect(provider.requests.map(({ method }) => method)).toEqual(["GET"]);
  });

  it("lists events page by page, oldest first", async () => {
    const { body } = loadFixture("paddle", "subscription.updated");
    const retainedEvents = [6, 5, 4, 3, 2, 1].map((n) => ({
      ...body,
      event_id: `evt_${n}`,
      event_type: n === 4 ? "address.updated" : "subscription.updated",
      occurred_at: `2026-03-01T13:00:0${n}.000001Z`,
    }));
    provider.respondWith(({ query }) => {
      const after = retainedEvents.findIndex(({ event_id }) => event_id === query.get("after"));
      const next = "https://elsewhere.example/events?after=evt_0";
      return {
        body: {
          data: retainedEvents.slice(after + 1, after + 3),
          meta: { pagination: { has_more: true, next } },
        },
      };
    });
    const listed = await Array.fromAsync(api.listEvents?.(new Date("2026-03-01T13:00:03Z")) ?? none());
    expect(listed.map(({ eventId }) => eventId)).toEqual(["evt_3", "evt_5", "evt_6"]);
    expect(JSON.parse(String(listed[0]?.rawBody))).toEqual(retainedEvents[3]);
    expect(provider.requests.map(({ query }) => query.get("order_by"))).toEqual([
      "id[DESC]",
      "id[DESC]",
      "id[DESC]",
    ]);
    expect(provider.requests[0]?.query.get("event_type")).toContain("transaction.completed");
  });

  it("names the customer's address of each subscription of an import, and asks for fifty at a time", async () => {
    const { body } = loadFixture("paddle", "subscription.updated");
    const subscriptions = Array.from({ length: 60 }, (_, n) => ({
      ...(body.data as object),
      id: `sub_${n}`,
      customer_id: n === 0 ? "ctm_1" : `ctm_${n}`,
    }));
    const asked: string[][] = [];
    provider.respondWith(({ path, query }) => {
      if (path.endsWith("/subscriptions")) return { body: { data: subscriptions } };
      const ids = (query.get("id") as string).split(",");
      asked.push(ids);
      return { body: { data: ids.slice(1).map((id) => ({ id, email: `${id}@example.com` })) } };
    });
    const page = await api.listSubscriptionPage(null, { withEmails: true, changedSince: null });
    expect(asked.map(({ length }) => length)).toEqual([50, 9]);
    // Customers that Paddle leaves out have none.
    const unknown = asked.map(([id]) => id);
    expect(page.subscriptions.map(({ email }) => email)).toEqual(
      subscriptions.map(({ customer_id: id }) => (unknown.includes(id) ? null : `${id}@example.com`)),
    );
  });

  it("lists an event without a time, and those behind it", async () => {
    const { body } = loadFixture("paddle", "subscription.updated");
    const event = { ...body, event_type: "subscription.updated", occurred_at: "2026-03-01T13:00:00Z" };
    const data = [
      { ...event, event_id: "evt_2", occurred_at: null },
      { ...event, event_id: "evt_1" },
    ];
    provider.respondWith(({ query }) => {
      const isFirst = !query.has("after");
      const page = isFirst ? data.slice(0, 1) : data.slice(1);
      return { body: { data: page, meta: { pagination: { has_more: isFirst } } } };
    });
    const listed = await Array.fromAsync(api.listEvents?.(new Date("2026-03-01T12:00:00Z")) ?? none());
    expect(listed.map(({ eventId }) => eventId)).toEqual(["evt_1", "evt_2"]);
  });
});

async function* none() {}
