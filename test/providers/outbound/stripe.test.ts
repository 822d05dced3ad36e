import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { PaymentApi } from "../../../src/domain/providers/payment-api.ts";
import { createPaymentApi } from "../../../src/providers/create-payment-api.ts";
import { stripe } from "../../../src/providers/stripe/webhook.ts";
import { loadFixture } from "../../fixtures/fixture.ts";
import { type LocalProvider, localProvider, type Reply } from "./local-provider.ts";
import { KEY, ORDER, PAYER, providerApiOf, successfulReplies } from "./provider-apis.ts";

describe("Stripe's API", () => {
  const providerApi = providerApiOf("stripe");
  let provider: LocalProvider;
  let api: PaymentApi;
  const warnings: unknown[][] = [];
  beforeAll(async () => {
    provider = await localProvider();
    api = createPaymentApi({
      slot: "provider-a",
      format: "stripe",
      apiKey: KEY,
      apiUrl: provider.url,
      log: { warn: (...warning) => void warnings.push(warning) },
    });
  });
  afterAll(() => provider.close());

  it("receives a session with user and plan, also as subscription metadata", async () => {
    provider.respondWith(successfulReplies(providerApi));
    expect(await api.createCheckout(ORDER)).toEqual({
      id: "cs_test_a1",
      url: providerApi.checkoutUrl,
      expiresAt: new Date("2026-03-02T12:00:00Z"),
    });
    const request = provider.requests.at(-1);
    expect(request?.headers).toMatchObject({
      "idempotency-key": "checkout-1",
      "content-type": "application/x-www-form-urlencoded",
      "stripe-version": expect.stringMatching(/^\d{4}-\d\d-\d\d/),
    });
    expect(Object.fromEntries(new URLSearchParams(request?.body))).toEqual({
      mode: "subscription",
      "line_items[0][price]": "21",
      "line_items[0][quantity]": "3",
      success_url: ORDER.successUrl,
      cancel_url: ORDER.cancelUrl,
      client_reference_id: "user_7",
      customer: "cus_0",
      "metadata[userId]": "user_7",
      "metadata[planId]": "pro",
      "subscription_data[metadata][userId]": "user_7",
      "subscription_data[metadata][planId]": "pro",
      allow_promotion_codes: "true",
    });
  });

  it.each([
    [14, "14"],
    [0, null],
  ])("starts a trial of %i days as %s", async (trialDays, sent) => {
    provider.respondWith(successfulReplies(providerApi));
    await api.createCheckout({ ...ORDER, trialDays });
    const params = new URLSearchParams(provider.requests.at(-1)?.body);
    expect(params.get("subscription_data[trial_period_days]")).toBe(sent);
  });

  it("leaves out a reference that is longer than Stripe takes, and names the user in the metadata", async () => {
    provider.respondWith(successfulReplies(providerApi));
    const userId = "a".repeat(201);
    await api.createCheckout({ ...ORDER, userId });
    const params = new URLSearchParams(provider.requests.at(-1)?.body);
    expect(params.get("client_reference_id")).toBeNull();
    expect(params.get("subscription_data[metadata][userId]")).toBe(userId);
    await api.createCheckout({ ...ORDER, userId: userId.slice(1) });
    expect(new URLSearchParams(provider.requests.at(-1)?.body).get("client_reference_id")).toHaveLength(200);
  });

  const answering = (others: Record<string, Reply>) => {
    provider.respondWith(
      (incoming) => others[`${incoming.method} ${incoming.path}`] ?? successfulReplies(providerApi)(incoming),
    );
  };
  const requested = () =>
    provider.requests.map(({ method, path }) => `${method} ${path.replace("/provider-a/v1", "")}`);
  const session = () => new URLSearchParams(provider.requests.at(-1)?.body);

  it.each([
    [{ status: "expired" }, { status: "closed" }],
    [
      { status: "complete", subscription: "sub_1" },
      { status: "paid", providerSubscriptionId: "sub_1" },
    ],
    [
      { status: "complete", subscription: null },
      { status: "paid", providerSubscriptionId: null },
    ],
    [null, { status: "closed" }],
    [{ status: "open" }, null],
  ])("says what has become of a session that cannot be expired: %j", async (session, end) => {
    const error = { message: "Only open sessions can be expired." };
    const unknown = { message: "No such checkout.session.", code: "resource_missing" };
    provider.respondWith(({ method }) => {
      if (method === "POST") return { status: 400, body: { error } };
      return session === null
        ? { status: 404, body: { error: unknown } }
        : { body: { id: "cs_1", ...session } };
    });
    const closing = api.closeCheckout({ id: "cs_1", userId: "user_7", email: ORDER.email });
    if (end === null) await expect(closing).rejects.toMatchObject({ failure: "rejected" });
    else expect(await closing).toEqual(end);
  });

  it("refunds each payment of the latest invoice, by its intent or by a charge without one", async () => {
    const payments = [
      { id: "inpay_1", payment: { type: "payment_intent", payment_intent: "pi_1" } },
      { id: "inpay_2", payment: { type: "charge", charge: "ch_2" } },
      { id: "inpay_3", payment: { type: "payment_record", payment_record: "by hand" } },
    ];
    answering({
      "GET /provider-a/v1/subscriptions/sub_1": { body: { id: "sub_1", latest_invoice: "in_1" } },
      "GET /provider-a/v1/invoice_payments": { body: { object: "list", data: payments, has_more: false } },
      "POST /provider-a/v1/refunds": { body: { id: "re_1", object: "refund" } },
    });
    expect(await api.refundSubscription("sub_1")).toBe(true);
    // Without the invoice Stripe would list the payments of everybody.
    const listed = provider.requests.find(({ path }) => path.endsWith("/invoice_payments"));
    expect(Object.fromEntries(listed?.query ?? [])).toEqual({ invoice: "in_1", status: "paid" });
    const refunds = provider.requests.filter(({ method }) => method === "POST");
    expect(refunds.map(({ body }) => body)).toEqual(["payment_intent=pi_1", "charge=ch_2"]);
  });

  it("refunds the rest where a payment has been refunded already", async () => {
    const payments = ["pi_1", "pi_2"].map((payment_intent) => ({ id: "inpay", payment: { payment_intent } }));
    const error = { code: "charge_already_refunded", message: "Charge ch_1 has already been refunded." };
    const refunded: string[] = [];
    provider.respondWith(({ method, path, body }) => {
      if (path.endsWith("/sub_1")) return { body: { id: "sub_1", latest_invoice: { id: "in_1" } } };
      if (method === "GET") return { body: { object: "list", data: payments, has_more: false } };
      refunded.push(body);
      return refunded.length === 1 ? { status: 400, body: { error } } : { body: { id: "re_2" } };
    });
    expect(await api.refundSubscription("sub_1")).toBe(true);
    expect(refunded).toEqual(["payment_intent=pi_1", "payment_intent=pi_2"]);
  });

  it("refunds nothing before there is an invoice, or a payment of it", async () => {
    const ofOthers = [{ id: "inpay_9", payment: { type: "payment_intent", payment_intent: "pi_9" } }];
    for (const [latest_invoice, data] of [
      [null, ofOthers],
      ["in_1", []],
    ]) {
      answering({
        "GET /provider-a/v1/subscriptions/sub_1": { body: { id: "sub_1", latest_invoice } },
        "GET /provider-a/v1/invoice_payments": { body: { object: "list", data, has_more: false } },
        "POST /provider-a/v1/refunds": { body: { id: "re_1", object: "refund" } },
      });
      expect(await api.refundSubscription("sub_1")).toBe(false);
    }
  });

  it("refunds what it could not refund before, although Stripe repeats its answer to the same key", async () => {
    const payments = [{ id: "inpay_1", payment: { type: "payment_intent", payment_intent: "pi_1" } }];
    const error = { code: "balance_insufficient", message: "Insufficient funds." };
    const answers = new Map<string, Reply>();
    let isFunded = false;
    provider.respondWith(({ method, path, headers }) => {
      if (path.endsWith("/sub_1")) return { body: { id: "sub_1", latest_invoice: "in_1" } };
      if (method === "GET") return { body: { object: "list", data: payments, has_more: false } };
      const key = String(headers["idempotency-key"]);
      const refund = isFunded ? { body: { id: "re_1", object: "refund" } } : { status: 400, body: { error } };
      const answer = answers.get(key) ?? refund;
      answers.set(key, answer);
      return answer;
    });
    await expect(api.refundSubscription("sub_1")).rejects.toMatchObject({ code: "balance_insufficient" });
    isFunded = true;
    expect(await api.refundSubscription("sub_1")).toBe(true);
  });

  it("creates the person's customer with their id, unless there is one", async () => {
    const list = { body: { object: "list", data: [], has_more: false } };
    answering({
      "GET /provider-a/v1/customers": list,
      "POST /provider-a/v1/customers": { body: { id: "cus_new", object: "customer" } },
    });
    await api.createCheckout(ORDER);
    expect(requested()).toEqual(["GET /customers", "POST /customers", "POST /checkout/sessions"]);
    expect(Object.fromEntries(new URLSearchParams(provider.requests[1]?.body))).toEqual({
      email: ORDER.email,
      "metadata[userId]": ORDER.userId,
    });
    expect([session().get("customer"), session().get("customer_email")]).toEqual(["cus_new", null]);

    answering({});
    await api.createCheckout({ ...ORDER, customerId: "cus_0" });
    expect(requested()).toEqual(["GET /customers/cus_0", "POST /checkout/sessions"]);
    expect(session().get("customer")).toBe("cus_0");
  });

  it("uses no customer of another person's", async () => {
    const foreign = { id: "cus_8", object: "customer", metadata: { userId: "user_8" } };
    answering({ "GET /provider-a/v1/customers/cus_8": { body: foreign } });
    await api.createCheckout({ ...ORDER, customerId: "cus_8" });
    expect(session().get("customer")).toBe("cus_0");
    const opening = api.openPortal({ ...PAYER, customerId: "cus_8" });
    await expect(opening).rejects.toMatchObject({ failure: "taken" });
    expect(requested().filter((call) => call.includes("portal"))).toEqual([]);
  });

  it("lets Checkout create the customer when the key may not, and warns", async () => {
    const refused = { status: 403, body: providerApi.refusal("The key lacks rak_customer_write.") };
    answering({ "GET /provider-a/v1/customers": refused, "GET /provider-a/v1/customers/cus_0": refused });
    warnings.length = 0;
    await api.createCheckout(ORDER);
    expect([session().get("customer"), session().get("customer_email")]).toEqual([null, ORDER.email]);
    await api.openPortal({ ...PAYER, customerId: "cus_0" });
    const why = {
      slot: "provider-a",
      userId: ORDER.userId,
      reason: expect.stringContaining("rak_customer_write"),
    };
    expect(warnings).toEqual([
      [why, expect.stringContaining("customer")],
      [why, expect.stringContaining("customer")],
    ]);
  });

  it("does not warn of a customer who is gone", async () => {
    answering({ "GET /provider-a/v1/customers/cus_0": { status: 404, body: providerApi.missing } });
    warnings.length = 0;
    await api.createCheckout({ ...ORDER, customerId: "cus_0" });
    expect(warnings).toEqual([]);
  });

  it("neither opens a portal nor sells while it is unknown whose the customer is", async () => {
    answering({ "GET /provider-a/v1/customers/cus_0": { status: 503, body: providerApi.refusal("Down") } });
    const opening = api.openPortal({ ...PAYER, customerId: "cus_0" });
    await expect(opening).rejects.toMatchObject({ failure: "unreachable" });
    const selling = api.createCheckout({ ...ORDER, customerId: "cus_0" });
    await expect(selling).rejects.toMatchObject({ failure: "unreachable" });
    expect(requested().filter((call) => call.startsWith("POST"))).toEqual([]);
  });

  it("opens the portal with a return URL", async () => {
    provider.respondWith(successfulReplies(providerApi));
    await api.openPortal({ ...PAYER, customerId: "cus_0", providerSubscriptionId: "sub_0" });
    expect(Object.fromEntries(session())).toEqual({ customer: "cus_0", return_url: ORDER.successUrl });
  });

  describe("changes of a subscription", () => {
    const items = [
      { id: "si_addon", price: { id: "price_addon" }, quantity: 1, current_period_end: 200 },
      { id: "si_1", price: { id: "price_pro" }, quantity: 2, current_period_end: 200 },
    ];
    const subscription = (schedule: string | null) => ({
      body: { id: "sub_1", object: "subscription", schedule, items: { data: items } },
    });
    const phase = {
      start_date: 100,
      end_date: 200,
      trial_end: null,
      currency: "jpy",
      description: null,
      default_payment_method: null,
      collection_method: null,
      automatic_tax: { enabled: true },
      default_tax_rates: [{ id: "txr_1" }],
      discounts: [{ discount: "di_1", coupon: null, promotion_code: null }],
      items: items.map(({ price, quantity }) => ({ price: price.id, quantity, discounts: [] })),
    };
    const schedule = {
      body: { id: "sub_sched_1", phases: [phase], current_phase: { start_date: 100, end_date: 200 } },
    };
    const change = {
      priceId: "price_team",
      currentPriceId: "price_pro",
      seats: 6,
      resultingPriceId: "price_team",
      resultingSeats: 6,
    };
    const subscriptionPath = "/provider-a/v1/subscriptions/sub_1";
    const schedulePath = "/provider-a/v1/subscription_schedules/sub_sched_1";

    it.each([null, "sub_sched_1"])(
      "wait for the end of the period in a schedule that keeps what is paid, after %s",
      async (attached) => {
        answering({
          [`GET ${subscriptionPath}`]: subscription(attached),
          "POST /provider-a/v1/subscription_schedules": schedule,
          [`GET ${schedulePath}`]: schedule,
          "GET /provider-a/v1/prices/price_team": {
            body: { id: "price_team", recurring: { interval: "year", interval_count: 1 } },
          },
          [`POST ${schedulePath}`]: schedule,
        });
        await api.changeSubscription("sub_1", { ...change, when: "period_end" });
        expect(requested()).toEqual([
          "GET /subscriptions/sub_1",
          attached === null ? "POST /subscription_schedules" : "GET /subscription_schedules/sub_sched_1",
          "GET /prices/price_team",
          "POST /subscription_schedules/sub_sched_1",
        ]);
        const retained = (at: number) => ({
          [`phases[${at}][currency]`]: "jpy",
          [`phases[${at}][discounts][0][discount]`]: "di_1",
          [`phases[${at}][automatic_tax][enabled]`]: "true",
          [`phases[${at}][default_tax_rates][0]`]: "txr_1",
          [`phases[${at}][items][0][price]`]: "price_addon",
          [`phases[${at}][items][0][quantity]`]: "1",
        });
        expect(Object.fromEntries(session())).toEqual({
          end_behavior: "release",
          proration_behavior: "none",
          ...retained(0),
          "phases[0][items][1][price]": "price_pro",
          "phases[0][items][1][quantity]": "2",
          "phases[0][start_date]": "100",
          "phases[0][end_date]": "200",
          ...retained(1),
          "phases[1][items][1][price]": "price_team",
          "phases[1][items][1][quantity]": "6",
          "phases[1][duration][interval]": "year",
          "phases[1][duration][interval_count]": "1",
          "phases[1][proration_behavior]": "none",
        });
      },
    );

    it("keep the payment method, the trial and all that a phase and its items have", async () => {
      const added = { discounts: [{ discount: null, coupon: { id: "co_1" } }], tax_rates: [{ id: "txr_2" }] };
      const full = {
        ...phase,
        trial_end: 150,
        description: "Offer 7",
        default_payment_method: { id: "pm_1" },
        collection_method: "send_invoice",
        items: phase.items.map((item) => ({ ...item, ...added })),
      };
      const schedule = { body: { id: "sub_sched_1", phases: [full], current_phase: { start_date: 100 } } };
      answering({
        [`GET ${subscriptionPath}`]: subscription(null),
        "POST /provider-a/v1/subscription_schedules": schedule,
        "GET /provider-a/v1/prices/price_team": { body: { id: "price_team", recurring: null } },
        [`POST ${schedulePath}`]: schedule,
      });
      await api.changeSubscription("sub_1", { ...change, when: "period_end" });
      const sent = session();
      expect([sent.get("phases[0][trial_end]"), sent.get("phases[1][trial_end]")]).toEqual(["150", null]);
      for (const at of [0, 1]) {
        const kept = (name: string) => sent.get(`phases[${at}]${name}`);
        expect(kept("[default_payment_method]")).toBe("pm_1");
        expect(kept("[collection_method]")).toBe("send_invoice");
        expect(kept("[description]")).toBe("Offer 7");
        expect(kept("[items][1][discounts][0][coupon]")).toBe("co_1");
        expect(kept("[items][1][tax_rates][0]")).toBe("txr_2");
      }
    });

    it("leave as it is what is not to change at the end of the period, also when it was changed elsewhere", async () => {
      const elsewhere = { ...phase, items: [{ price: "price_max", quantity: 9, discounts: [] }] };
      const changedElsewhere = { body: { ...schedule.body, phases: [elsewhere] } };
      answering({
        [`GET ${subscriptionPath}`]: {
          body: {
            ...subscription(null).body,
            items: { data: [{ ...items[1], price: { id: "price_max" } }] },
          },
        },
        "POST /provider-a/v1/subscription_schedules": changedElsewhere,
        "GET /provider-a/v1/prices/price_max": { body: { id: "price_max", recurring: null } },
        [`POST ${schedulePath}`]: changedElsewhere,
      });
      await api.changeSubscription("sub_1", { ...change, priceId: null, when: "period_end" });
      expect([
        session().get("phases[1][items][0][price]"),
        session().get("phases[1][items][0][quantity]"),
      ]).toEqual(["price_max", "6"]);
    });

    it.each([
      ["", { cancel_at_period_end: true }],
      [" by the portal", { cancel_at: 200 }],
    ])("are not scheduled after an end that was scheduled%s", async (_, end) => {
      const { body } = subscription(null);
      answering({ [`GET ${subscriptionPath}`]: { body: { ...body, ...end } } });
      const changing = api.changeSubscription("sub_1", { ...change, when: "period_end" });
      await expect(changing).rejects.toMatchObject({ failure: "unsupported", obstacle: "ending" });
      expect(requested()).toEqual(["GET /subscriptions/sub_1"]);
    });

    it.each(["now", "period_end"] as const)(
      "are refused when several items are paid and none at the known price: %s",
      async (when) => {
        answering({ [`GET ${subscriptionPath}`]: subscription(null) });
        const changing = api.changeSubscription("sub_1", { ...change, currentPriceId: "price_old", when });
        await expect(changing).rejects.toMatchObject({ failure: "rejected" });
        expect(requested()).toEqual(["GET /subscriptions/sub_1"]);
      },
    );

    it("are read from the schedule's next phase, beside an add-on", async () => {
      const next = {
        ...phase,
        start_date: 200,
        end_date: 300,
        items: phase.items.map((item) =>
          item.price === "price_pro" ? { ...item, price: { id: "price_team" }, quantity: 6 } : item,
        ),
      };
      const scheduled = (...phases: object[]) =>
        answering({
          [`GET ${subscriptionPath}`]: subscription("sub_sched_1"),
          [`GET ${schedulePath}`]: { body: { ...schedule.body, phases } },
        });
      scheduled(phase, next);
      expect(await api.fetchScheduledChange("sub_1", "price_pro")).toEqual({
        priceId: "price_team",
        seats: 6,
        at: new Date(200_000),
      });
      scheduled(phase);
      expect(await api.fetchScheduledChange("sub_1", "price_pro")).toBeNull();
    });

    it("release a schedule when they are made at once", async () => {
      answering({
        [`GET ${subscriptionPath}`]: subscription("sub_sched_1"),
        [`POST ${schedulePath}/release`]: schedule,
        [`POST ${subscriptionPath}`]: subscription(null),
      });
      await api.changeSubscription("sub_1", { ...change, when: "now" });
      expect(requested()).toEqual([
        "GET /subscriptions/sub_1",
        "POST /subscription_schedules/sub_sched_1/release",
        "POST /subscriptions/sub_1",
      ]);
      expect(Object.fromEntries(session())).toEqual({
        proration_behavior: "always_invoice",
        payment_behavior: "error_if_incomplete",
        "items[0][id]": "si_1",
        "items[0][price]": "price_team",
        "items[0][quantity]": "6",
      });
    });

    it("only release a schedule when nothing else is to change", async () => {
      answering({
        [`GET ${subscriptionPath}`]: subscription("sub_sched_1"),
        [`POST ${schedulePath}/release`]: schedule,
      });
      await api.changeSubscription("sub_1", { ...change, priceId: null, seats: null, when: "now" });
      expect(requested()).toEqual([
        "GET /subscriptions/sub_1",
        "POST /subscription_schedules/sub_sched_1/release",
      ]);
    });

    it.each([
      ["sub_sched_1", true],
      [null, false],
    ])(
      "say, when refused, whether a schedule was released: %s, %s",
      async (attached, hasWithdrawnSchedule) => {
        answering({
          [`GET ${subscriptionPath}`]: subscription(attached),
          [`POST ${schedulePath}/release`]: schedule,
          [`POST ${subscriptionPath}`]: {
            status: 402,
            body: { error: { type: "card_error", code: "card_declined", message: "Declined." } },
          },
        });
        const changing = api.changeSubscription("sub_1", { ...change, when: "now" });
        await expect(changing).rejects.toMatchObject({ failure: "declined", hasWithdrawnSchedule });
      },
    );

    it.each([null, "resource_missing"])(
      "are declined where the customer has no payment method: code %s",
      async (code) => {
        const message =
          "This customer has no attached payment source or default payment method. Please consider adding a default payment method.";
        answering({
          [`GET ${subscriptionPath}`]: subscription(null),
          [`POST ${subscriptionPath}`]: {
            status: 400,
            body: { error: { type: "invalid_request_error", ...(code === null ? {} : { code }), message } },
          },
        });
        const changing = api.changeSubscription("sub_1", { ...change, when: "now" });
        await expect(changing).rejects.toMatchObject({ failure: "declined" });
      },
    );

    it.each([
      ["what is due", { total: 3_000, amount_due: 2_500 }, 2_500],
      ["what is credited", { total: -1_200, amount_due: 0 }, -1_200],
    ])("are previewed with %s", async (_, amounts, amountDue) => {
      answering({
        [`GET ${subscriptionPath}`]: subscription(null),
        "POST /provider-a/v1/invoices/create_preview": { body: { ...amounts, currency: "eur" } },
      });
      const proration = () => session().get("subscription_details[proration_behavior]");
      const later = await api.previewChange("sub_1", { ...change, when: "period_end" });
      expect(later).toEqual({ amountDue, currency: "EUR", at: new Date(200_000) });
      expect(proration()).toBe("none");
      const before = Date.now();
      const atOnce = await api.previewChange("sub_1", { ...change, when: "now" });
      expect(atOnce).toMatchObject({ amountDue, currency: "EUR" });
      expect(atOnce?.at.getTime()).toBeGreaterThanOrEqual(before);
      expect(proration()).toBe("always_invoice");
      expect(session().get("subscription_details[items][0][id]")).toBe("si_1");
    });

    it("cost nothing at once in a trial", async () => {
      const trial = { ...subscription(null).body, status: "trialing", currency: "eur" };
      const later = { total: 3_000, amount_due: 3_000, currency: "eur" };
      answering({
        [`GET ${subscriptionPath}`]: { body: trial },
        "POST /provider-a/v1/invoices/create_preview": { body: later },
      });
      const preview = (when: "now" | "period_end") => api.previewChange("sub_1", { ...change, when });
      expect(await preview("now")).toMatchObject({ amountDue: 0, currency: "EUR" });
      expect(requested()).toEqual(["GET /subscriptions/sub_1"]);
      expect(await preview("period_end")).toMatchObject({ amountDue: 3_000 });
    });

    it.each([
      ["cancel", "true"],
      ["release", null],
    ])("keep the end that a schedule which is to %s has set: %s", async (end_behavior, kept) => {
      const { body } = subscription("sub_sched_1");
      answering({
        [`GET ${subscriptionPath}`]: { body: { ...body, cancel_at: 200 } },
        [`GET ${schedulePath}`]: { body: { ...schedule.body, end_behavior } },
        [`POST ${schedulePath}/release`]: schedule,
        [`POST ${subscriptionPath}`]: subscription(null),
      });
      await api.changeSubscription("sub_1", { ...change, when: "now" });
      const release = provider.requests.find(({ path }) => path === `${schedulePath}/release`);
      expect(new URLSearchParams(release?.body).get("preserve_cancel_date")).toBe(kept);
    });
  });

  it("treats a 400 for an unknown customer as missing", async () => {
    const error = {
      type: "invalid_request_error",
      code: "resource_missing",
      param: "customer",
      message: "No such customer: 'cus_0'",
    };
    provider.respondWith(() => ({ status: 400, body: { error } }));
    await expect(api.openPortal({ ...PAYER, customerId: "cus_0" })).rejects.toMatchObject({
      failure: "missing",
    });
  });

  it("is called again while the idempotency key or the object is in use", async () => {
    for (const code of ["idempotency_key_in_use", "lock_timeout"]) {
      const locked = { status: 409, body: providerApi.refusal("Wait for the other request", code) };
      provider.respondWith((incoming, nth) =>
        nth === 0 ? locked : successfulReplies(providerApi)(incoming),
      );
      await api.createCheckout(ORDER);
      expect(provider.requests).toHaveLength(3);
    }
  });

  it("lists customers with the language they prefer", async () => {
    const customer = { id: "cus_1", object: "customer", email: "ada@example.com", name: "Ada", metadata: {} };
    const customers = [
      { ...customer, preferred_locales: ["de-AT", "en"], metadata: { userId: "user_1" } },
      { ...customer, id: "cus_2", name: null, preferred_locales: [] },
      { ...customer, id: "cus_3", email: null, preferred_locales: null },
    ];
    answering({ "GET /provider-a/v1/customers": { body: { data: customers, has_more: true } } });
    const { email, name } = customer;
    expect(await api.listCustomerPage?.("cus_0")).toEqual({
      customers: [
        { id: "cus_1", email, name, locale: "de-AT", userId: "user_1" },
        { id: "cus_2", email, name: null, locale: null, userId: null },
        { id: "cus_3", email: null, name, locale: null, userId: null },
      ],
      next: "cus_3",
    });
    expect(provider.requests[0]?.query.get("starting_after")).toBe("cus_0");
    answering({ "GET /provider-a/v1/customers": { body: { data: customers, has_more: false } } });
    expect(await api.listCustomerPage?.(null)).toMatchObject({ next: null });
    expect(provider.requests[0]?.query.has("starting_after")).toBe(false);
  });

  it("lists events page by page, oldest first, as delivered", async () => {
    const { body } = loadFixture("stripe", "customer.subscription.updated");
    const retainedEvents = [5, 4, 3, 2, 1].map((n) => ({
      ...body,
      id: `evt_${n}`,
      created: 1_772_370_000 + n,
    }));
    provider.respondWith(({ query }) => {
      const after = retainedEvents.findIndex(({ id }) => id === query.get("starting_after"));
      const data = retainedEvents.slice(after + 1, after + 3);
      return {
        body: { object: "list", data, has_more: after + 3 < retainedEvents.length, url: "/v1/events" },
      };
    });
    const listed = await Array.fromAsync(api.listEvents?.(new Date(1_772_370_000_500)) ?? none());
    expect(listed.map(({ eventId }) => eventId)).toEqual(["evt_1", "evt_2", "evt_3", "evt_4", "evt_5"]);
    const [first] = listed;
    expect(JSON.parse(String(first?.rawBody))).toEqual(retainedEvents[4]);
    expect(first?.eventType).toBe("customer.subscription.updated");
    const [request] = provider.requests;
    expect([request?.path, request?.query.get("created[gte]"), request?.query.get("limit")]).toEqual([
      "/provider-a/v1/events",
      "1772370000",
      "100",
    ]);
    const types = [...(request?.query ?? [])]
      .filter(([name]) => name.startsWith("types"))
      .map(([, type]) => type);
    expect(types).toContain("checkout.session.async_payment_succeeded");
    // Stripe accepts at most 20.
    expect(types.length).toBeLessThanOrEqual(20);
    const paid = { id: "in_1", amount_paid: 1, amount_due: 1, currency: "eur" };
    const object = {
      ...paid,
      amount: 1,
      payment_intent: "pi_1",
      invoice: "in_1",
      payment: { charge: "ch_1" },
    };
    for (const type of types) expect(stripe.interpret(type, { data: { object } }).kind).not.toBe("ignored");
    expect(provider.requests).toHaveLength(3);
  });
});

async function* none() {}
