import Stripe from "stripe";
import { beforeAll, describe, expect, it } from "vitest";
import { API_KEY, control, press } from "../test-context.ts";
import { sdkContext } from "./sdk-context.ts";

const PRICE = "price_pro_monthly";

let provider: Awaited<ReturnType<typeof sdkContext>>;
let stripe: Stripe;
beforeAll(async () => {
  provider = await sdkContext("stripe");
  const { hostname, port } = new URL(provider.sim.url);
  stripe = new Stripe(API_KEY, { host: hostname, port, protocol: "http", telemetry: false });
});

function openSession(changes: Stripe.Checkout.SessionCreateParams = {}) {
  return stripe.checkout.sessions.create({
    mode: "subscription",
    line_items: [{ price: PRICE, quantity: 2 }],
    success_url: "http://localhost:3000/done",
    metadata: { order: "1" },
    subscription_data: { metadata: { userId: "user_0" } },
    ...changes,
  });
}

async function subscribe(email = "buyer@example.com", changes: Stripe.Checkout.SessionCreateParams = {}) {
  const session = await openSession(changes);
  await provider.pay(String(session.url), email);
  const paid = await stripe.checkout.sessions.retrieve(session.id, { expand: ["subscription"] });
  return paid.subscription as Stripe.Subscription;
}

function itemIdOf({ items }: Stripe.Subscription): string {
  return String(items.data[0]?.id);
}

describe("customers", () => {
  it("are created, retrieved, updated and listed by address", async () => {
    const email = "customer@example.com";
    const created = await stripe.customers.create({ email, name: "Ada", metadata: { userId: "user_1" } });
    expect(created.lastResponse.requestId).toMatch(/^req_/);
    await stripe.customers.update(created.id, { metadata: { team: "7", userId: "" } });
    expect(await stripe.customers.retrieve(created.id)).toMatchObject({
      email,
      name: "Ada",
      metadata: { team: "7" },
      object: "customer",
    });
    const twin = await stripe.customers.create({ email });
    const { data } = await stripe.customers.list({ email });
    expect(data.map(({ id }) => id)).toEqual([twin.id, created.id]);
    await expect(stripe.customers.retrieve("cus_none")).rejects.toMatchObject({ code: "resource_missing" });
  });

  it("are created anew by each checkout without one, without metadata", async () => {
    const first = await subscribe("same@example.com", { client_reference_id: "user_2" });
    const second = await subscribe("same@example.com");
    expect(second.customer).not.toBe(first.customer);
    const customer = await stripe.customers.retrieve(String(first.customer));
    expect(customer).toMatchObject({ email: "same@example.com", metadata: {} });
  });
});

describe("checkout sessions", () => {
  it("are created, retrieved with their line items, listed and expired", async () => {
    const session = await openSession({ customer_email: "a@example.com", allow_promotion_codes: true });
    expect(session).toMatchObject({
      object: "checkout.session",
      status: "open",
      ui_mode: "hosted_page",
      mode: "subscription",
      amount_total: 4_000,
      currency: "eur",
      allow_promotion_codes: true,
      metadata: { order: "1" },
    });
    const lineItems = await stripe.checkout.sessions.listLineItems(session.id);
    expect(lineItems.data).toMatchObject([{ quantity: 2, amount_total: 4_000, price: { id: PRICE } }]);
    const expanded = await stripe.checkout.sessions.retrieve(session.id, { expand: ["line_items"] });
    expect(expanded.line_items?.data).toEqual(lineItems.data);
    const open = await stripe.checkout.sessions.list({ status: "open", limit: 1 });
    expect(open.data.map(({ id }) => id)).toEqual([session.id]);
    expect(await stripe.checkout.sessions.expire(session.id)).toMatchObject({ status: "expired", url: null });
    await expect(stripe.checkout.sessions.expire(session.id)).rejects.toMatchObject({ statusCode: 400 });
  });

  it("return the stored response for a repeated idempotency key", async () => {
    const parameters: Stripe.Checkout.SessionCreateParams = {
      mode: "subscription",
      line_items: [{ price: PRICE, quantity: 1 }],
      success_url: "http://localhost:3000/done",
    };
    const options = { idempotencyKey: "stripe-sdk-1" };
    const first = await stripe.checkout.sessions.create(parameters, options);
    const second = await stripe.checkout.sessions.create(parameters, options);
    expect(second.id).toBe(first.id);
    await expect(
      stripe.checkout.sessions.create({ ...parameters, locale: "auto" }, options),
    ).rejects.toBeInstanceOf(Stripe.errors.StripeIdempotencyError);
  });

  it("start a trial without a payment, and keep the requested expiry time", async () => {
    const expires_at = Math.floor(Date.now() / 1_000) + 3_600;
    const session = await openSession({ subscription_data: { trial_period_days: 14 }, expires_at });
    expect(session).toMatchObject({ expires_at, amount_total: 0 });
    await provider.pay(String(session.url));
    const paid = await stripe.checkout.sessions.retrieve(session.id, { expand: ["subscription"] });
    expect(paid).toMatchObject({
      payment_status: "no_payment_required",
      invoice: null,
      subscription: { status: "trialing", latest_invoice: null },
    });
  });
});

describe("subscriptions", () => {
  it("are retrieved with expanded objects and listed by customer, status and price", async () => {
    const subscription = await subscribe();
    const customer = String(subscription.customer);
    const expand = ["customer", "latest_invoice.payments", "items.data.price.product"];
    expect(await stripe.subscriptions.retrieve(subscription.id, { expand })).toMatchObject({
      status: "active",
      metadata: { userId: "user_0" },
      customer: { id: customer, object: "customer" },
      latest_invoice: { status: "paid", payments: { data: [{ status: "paid" }] } },
      items: { data: [{ quantity: 2, price: { id: PRICE, product: { object: "product", name: "Pro" } } }] },
    });
    const { data } = await stripe.subscriptions.list({ customer, status: "active", price: PRICE });
    expect(data.map(({ id }) => id)).toEqual([subscription.id]);
    expect((await stripe.subscriptions.list({ customer, status: "past_due" })).data).toEqual([]);
  });

  it("are created without a checkout: paid, with a trial, or awaiting the first payment", async () => {
    const { id: customer } = await stripe.customers.create({ email: "api@example.com" });
    const items = [{ price: PRICE, quantity: 2 }];
    const metadata = { userId: "user_3", planId: "pro" };
    const order = { customer, items, metadata };
    const paid = await stripe.subscriptions.create({
      ...order,
      default_payment_method: "pm_card_visa",
      expand: ["latest_invoice"],
    });
    expect(paid).toMatchObject({
      status: "active",
      customer,
      metadata,
      latest_invoice: { status: "paid", amount_paid: 4_000 },
      items: { data: [{ quantity: 2, price: { id: PRICE } }] },
    });
    const trial = await stripe.subscriptions.create({ ...order, trial_period_days: 7 });
    expect(trial).toMatchObject({ status: "trialing", latest_invoice: null });
    await expect(stripe.subscriptions.create(order)).rejects.toMatchObject({
      code: "resource_missing",
      param: "default_payment_method",
    });

    const awaiting = await stripe.subscriptions.create({
      ...order,
      payment_behavior: "default_incomplete",
      expand: ["latest_invoice.confirmation_secret"],
    });
    const invoice = awaiting.latest_invoice as Stripe.Invoice;
    expect(awaiting.status).toBe("incomplete");
    expect(invoice).toMatchObject({ status: "open", amount_due: 4_000, amount_paid: 0 });
    expect(invoice.confirmation_secret?.client_secret).toMatch(/^pi_\w+_secret_\w+$/);
    expect((await stripe.invoices.list({ customer, status: "open" })).data).toMatchObject([
      { id: invoice.id },
    ]);
    const invoiceId = String(invoice.id);
    expect(await stripe.invoices.pay(invoiceId)).toMatchObject({ status: "paid", amount_remaining: 0 });
    await expect(stripe.invoices.pay(invoiceId)).rejects.toThrow("Invoice is already paid");
    expect((await stripe.subscriptions.retrieve(awaiting.id)).status).toBe("active");
    const { data } = await stripe.subscriptions.list({ customer });
    expect(data.map(({ id }) => id)).toEqual([awaiting.id, trial.id, paid.id]);
  });

  it("expire when the first payment is not made within 23 hours", async () => {
    const { id: customer } = await stripe.customers.create({ email: "late@example.com" });
    const items = [{ price: PRICE }];
    const payment_behavior = "default_incomplete";
    const { id } = await stripe.subscriptions.create({ customer, items, payment_behavior });
    await control(provider.sim.url, "/clock", { by: 22 * 3_600 });
    expect((await stripe.subscriptions.retrieve(id)).status).toBe("incomplete");
    await control(provider.sim.url, "/clock", { by: 3_601 });
    expect((await stripe.subscriptions.retrieve(id)).status).toBe("incomplete_expired");
    const { data } = await stripe.events.list({ type: "customer.subscription.updated", limit: 100 });
    const expired = data.find((event) => (event.data.object as Stripe.Subscription).id === id);
    expect(expired?.data).toMatchObject({
      object: { status: "incomplete_expired" },
      previous_attributes: { status: "incomplete" },
    });
  });

  it("are listed page by page", async () => {
    for (const email of ["p1@example.com", "p2@example.com"]) await subscribe(email);
    const all = await stripe.subscriptions.list({ status: "all", limit: 100 });
    const paged = await stripe.subscriptions
      .list({ status: "all", limit: 1 })
      .autoPagingToArray({ limit: 1_000 });
    expect(paged.map(({ id }) => id)).toEqual(all.data.map(({ id }) => id));
    const ending_before = String(all.data.at(-1)?.id);
    const before = await stripe.subscriptions.list({ status: "all", limit: 1, ending_before });
    expect(before.data[0]?.id).toBe(all.data.at(-2)?.id);
  });

  it("change seats, plan and metadata", async () => {
    const subscription = await subscribe();
    const item = itemIdOf(subscription);
    const quantity = await stripe.subscriptions.update(subscription.id, {
      items: [{ id: item, quantity: 3 }],
    });
    expect(quantity.items.data).toMatchObject([{ id: item, quantity: 3 }]);
    const preview = await stripe.invoices.createPreview({
      subscription: subscription.id,
      subscription_details: { items: [{ id: item, price: "price_team_monthly", quantity: 5 }] },
    });
    expect(preview).toMatchObject({ object: "invoice", currency: "eur" });
    const plan = await stripe.subscriptions.update(subscription.id, {
      items: [{ id: item, price: "price_team_monthly", quantity: 5 }],
      metadata: { planId: "team" },
      proration_behavior: "always_invoice",
    });
    expect(plan).toMatchObject({
      metadata: { userId: "user_0", planId: "team" },
      items: { data: [{ quantity: 5, price: { id: "price_team_monthly", unit_amount: 1_500 } }] },
    });
  });

  it("cancel at the period's end, resume, and cancel at once", async () => {
    const { id } = await subscribe();
    const scheduled = await stripe.subscriptions.update(id, { cancel_at_period_end: true });
    expect(scheduled).toMatchObject({ status: "active", cancel_at_period_end: true });
    expect(scheduled.cancel_at).toBe(scheduled.items.data[0]?.current_period_end);
    const resumed = await stripe.subscriptions.update(id, { cancel_at_period_end: false });
    expect(resumed).toMatchObject({ cancel_at_period_end: false, cancel_at: null, canceled_at: null });
    expect(await stripe.subscriptions.cancel(id)).toMatchObject({ status: "canceled" });
    await expect(stripe.subscriptions.cancel(id)).rejects.toMatchObject({ code: "resource_missing" });
    await expect(stripe.subscriptions.update(id, { cancel_at_period_end: true })).rejects.toThrow(/canceled/);
  });
});

describe("prorations", () => {
  const DAY_SECONDS = 86_400;
  const TEAM = "price_team_monthly";

  /** Half a period after it began; the rounding of a second is less than a cent. */
  async function subscribeHalfAPeriodAgo(changes: Stripe.Checkout.SessionCreateParams = {}) {
    const subscription = await subscribe("half@example.com", changes);
    const [item] = subscription.items.data;
    const period = Number(item?.current_period_end) - Number(item?.current_period_start);
    await control(provider.sim.url, "/clock", { by: period / 2 });
    return { id: subscription.id, item: itemIdOf(subscription), period };
  }

  const listInvoices = async (subscription: string) =>
    (await stripe.invoices.list({ subscription })).data.map((invoice) => [
      invoice.billing_reason,
      ...invoice.lines.data.map(({ amount }) => amount),
      `due ${invoice.amount_due}`,
    ]);

  it("are invoiced at once with always_invoice, as previewed", async () => {
    const { id, item } = await subscribeHalfAPeriodAgo();
    const change = {
      items: [{ id: item, price: TEAM, quantity: 10 }],
      proration_behavior: "always_invoice" as const,
    };
    const preview = await stripe.invoices.createPreview({ subscription: id, subscription_details: change });
    const changed = await stripe.subscriptions.update(id, { ...change, expand: ["latest_invoice"] });
    const invoice = changed.latest_invoice as Stripe.Invoice;
    // Half of 2 x 20.00 back, half of 10 x 15.00 to pay.
    expect(invoice).toMatchObject({
      billing_reason: "subscription_update",
      status: "paid",
      total: 5_500,
      amount_paid: 5_500,
      lines: {
        data: [
          { amount: -2_000, parent: { subscription_item_details: { proration: true } } },
          { amount: 7_500, quantity: 10, pricing: { price_details: { price: TEAM } } },
        ],
      },
    });
    expect(preview.amount_due).toBe(5_500);
    const events = await stripe.events.list({ type: "invoice.paid", limit: 1 });
    expect(events.data).toMatchObject([{ data: { object: { id: invoice.id } } }]);
    const payments = await stripe.invoicePayments.list({ invoice: String(invoice.id) });
    const payment_intent = String(payments.data[0]?.payment.payment_intent);
    expect((await stripe.refunds.create({ payment_intent })).amount).toBe(5_500);
    await control(provider.sim.url, "/clock", { by: "month" });
    expect(await listInvoices(id)).toEqual([
      ["subscription_cycle", 15_000, "due 15000"],
      ["subscription_update", -2_000, 7_500, "due 5500"],
      ["subscription_create", 4_000, "due 4000"],
    ]);
  });

  it("are added to the next invoice with create_prorations, the default", async () => {
    const { id, item } = await subscribeHalfAPeriodAgo();
    const items = [{ id: item, quantity: 4 }];
    const preview = await stripe.invoices.createPreview({
      subscription: id,
      subscription_details: { items },
    });
    expect(preview).toMatchObject({ amount_due: 10_000, total: 10_000 });
    await stripe.subscriptions.update(id, { items });
    expect(await listInvoices(id)).toHaveLength(1);
    await control(provider.sim.url, "/clock", { by: "month" });
    expect(await listInvoices(id)).toEqual([
      ["subscription_cycle", 8_000, -2_000, 4_000, "due 10000"],
      ["subscription_create", 4_000, "due 4000"],
    ]);
  });

  it("are not made with none", async () => {
    const { id, item } = await subscribeHalfAPeriodAgo();
    await stripe.subscriptions.update(id, {
      items: [{ id: item, quantity: 1 }],
      proration_behavior: "none",
    });
    await control(provider.sim.url, "/clock", { by: "month" });
    expect((await listInvoices(id))[0]).toEqual(["subscription_cycle", 2_000, "due 2000"]);
  });

  it("become a credit of the customer when negative, which pays later invoices", async () => {
    const { id, item } = await subscribeHalfAPeriodAgo();
    const downgrade = {
      items: [{ id: item, quantity: 1 }],
      proration_behavior: "always_invoice" as const,
    };
    const preview = await stripe.invoices.createPreview({
      subscription: id,
      subscription_details: downgrade,
    });
    expect(preview).toMatchObject({ amount_due: 0, total: -1_000, ending_balance: -1_000 });
    await stripe.subscriptions.update(id, downgrade);
    await control(provider.sim.url, "/clock", { by: "month" });
    const { data } = await stripe.invoices.list({ subscription: id });
    expect(data.slice(0, 2)).toMatchObject([
      { total: 2_000, starting_balance: -1_000, ending_balance: 0, amount_paid: 1_000 },
      { total: -1_000, starting_balance: 0, ending_balance: -1_000, amount_paid: 0 },
    ]);
  });

  it("invoice a change of the interval at once, with a new period", async () => {
    const { id, item } = await subscribeHalfAPeriodAgo();
    const items = [{ id: item, price: "price_pro_yearly", quantity: 1 }];
    const changed = await stripe.subscriptions.update(id, { items, expand: ["latest_invoice"] });
    expect(changed.latest_invoice).toMatchObject({
      billing_reason: "subscription_update",
      amount_due: 18_000,
      lines: { data: [{ amount: -2_000 }, { amount: 20_000 }] },
    });
    const [{ current_period_start, current_period_end }] = changed.items.data as [Stripe.SubscriptionItem];
    expect(Math.round((current_period_end - current_period_start) / DAY_SECONDS)).toBeGreaterThan(364);
  });

  it("are not made during a trial", async () => {
    const { id, item } = await subscribeHalfAPeriodAgo({ subscription_data: { trial_period_days: 14 } });
    const items = [{ id: item, quantity: 5 }];
    await stripe.subscriptions.update(id, { items, proration_behavior: "always_invoice" });
    expect(await listInvoices(id)).toEqual([]);
  });
});

describe("coupons and promotion codes", () => {
  const invoicesOf = async (subscription: string) =>
    (await stripe.invoices.list({ subscription })).data.map(({ subtotal, total, amount_paid }) => [
      ...[subtotal, total, amount_paid],
    ]);

  it("are created, retrieved, updated, listed and deleted", async () => {
    const coupon = await stripe.coupons.create({ percent_off: 25, duration: "forever", name: "Quarter" });
    expect(coupon).toMatchObject({ object: "coupon", valid: true, times_redeemed: 0, amount_off: null });
    await stripe.coupons.update(coupon.id, { metadata: { campaign: "spring" } });
    const code = await stripe.promotionCodes.create({
      promotion: { type: "coupon", coupon: coupon.id },
      code: "SPRING",
      expand: ["promotion.coupon"],
    });
    expect(code).toMatchObject({
      active: true,
      code: "SPRING",
      promotion: { coupon: { id: coupon.id, metadata: { campaign: "spring" } } },
    });
    const { data } = await stripe.promotionCodes.list({ code: "spring", active: true });
    expect(data.map(({ id }) => id)).toEqual([code.id]);
    await stripe.promotionCodes.update(code.id, { active: false });
    expect((await stripe.promotionCodes.list({ code: "SPRING", active: true })).data).toEqual([]);
    expect((await stripe.coupons.list()).data[0]?.id).toBe(coupon.id);
    expect(await stripe.coupons.del(coupon.id)).toMatchObject({ deleted: true });
    await expect(stripe.coupons.retrieve(coupon.id)).rejects.toMatchObject({ code: "resource_missing" });
    await expect(stripe.coupons.create({ duration: "once" })).rejects.toMatchObject({ statusCode: 400 });
  });

  it("reduce a session, its subscription and the invoices for as long as they last", async () => {
    const coupon = await stripe.coupons.create({
      percent_off: 50,
      duration: "repeating",
      duration_in_months: 2,
    });
    const session = await openSession({ discounts: [{ coupon: coupon.id }] });
    expect(session).toMatchObject({
      amount_subtotal: 4_000,
      amount_total: 2_000,
      total_details: { amount_discount: 2_000 },
      discounts: [{ coupon: coupon.id, promotion_code: null }],
    });
    await provider.pay(String(session.url), "half@example.com");
    const paid = await stripe.checkout.sessions.retrieve(session.id, {
      expand: ["subscription.discounts", "invoice"],
    });
    const { id, discounts } = paid.subscription as Stripe.Subscription;
    expect(discounts).toMatchObject([{ object: "discount", source: { coupon: coupon.id } }]);
    expect(paid.invoice).toMatchObject({
      subtotal: 4_000,
      total: 2_000,
      total_discount_amounts: [{ amount: 2_000 }],
      lines: { data: [{ amount: 4_000, discount_amounts: [{ amount: 2_000 }] }] },
    });
    for (let month = 0; month < 2; month += 1) await control(provider.sim.url, "/clock", { by: "month" });
    expect(await invoicesOf(id)).toEqual([
      [4_000, 4_000, 4_000],
      [4_000, 2_000, 2_000],
      [4_000, 2_000, 2_000],
    ]);
    expect((await stripe.subscriptions.retrieve(id)).discounts).toEqual([]);
    expect((await stripe.coupons.retrieve(coupon.id)).times_redeemed).toBe(1);
  });

  it("can be entered on the payment page if the session allows it", async () => {
    const { id: coupon } = await stripe.coupons.create({
      amount_off: 500,
      currency: "eur",
      duration: "once",
    });
    const code = await stripe.promotionCodes.create({
      promotion: { type: "coupon", coupon },
      code: "LESS5",
      max_redemptions: 1,
    });
    const payWith = async (entered: string) => {
      const session = await openSession({ allow_promotion_codes: true });
      const fields = { email: "coded@example.com", card: "4242424242424242", action: "pay", code: entered };
      const { status } = await press(String(session.url), fields);
      return { status, id: session.id };
    };
    expect((await payWith("WRONG")).status).toBe(422);
    const { status, id } = await payWith("less5");
    expect(status).toBe(303);
    const session = await stripe.checkout.sessions.retrieve(id);
    expect(session).toMatchObject({ amount_total: 3_500, discounts: [{ promotion_code: code.id }] });
    expect((await payWith("LESS5")).status).toBe(422);
    await control(provider.sim.url, "/clock", { by: "month" });
    expect(await invoicesOf(String(session.subscription))).toEqual([
      [4_000, 4_000, 4_000],
      [4_000, 3_500, 3_500],
    ]);
    await expect(openSession({ allow_promotion_codes: true, discounts: [{ coupon }] })).rejects.toThrow(
      "You may only specify one of these parameters",
    );
  });

  it("can be added to a subscription, reduce its prorations, and can be removed", async () => {
    const { id: coupon } = await stripe.coupons.create({ percent_off: 10, duration: "forever" });
    const { id: customer } = await stripe.customers.create({ email: "given@example.com" });
    const created = await stripe.subscriptions.create({
      customer,
      items: [{ price: PRICE, quantity: 1 }],
      discounts: [{ coupon }],
      default_payment_method: "pm_card_visa",
      expand: ["latest_invoice"],
    });
    expect(created.latest_invoice).toMatchObject({ amount_paid: 1_800 });
    const preview = await stripe.invoices.createPreview({
      subscription: created.id,
      subscription_details: { items: [{ id: itemIdOf(created), quantity: 2 }], proration_behavior: "none" },
    });
    expect(preview.amount_due).toBe(3_600);
    const without = await stripe.subscriptions.deleteDiscount(created.id);
    expect(without).toMatchObject({ deleted: true, source: { coupon } });
    const [discount] = (await stripe.subscriptions.update(created.id, { discounts: [{ coupon }] })).discounts;
    expect(discount).toMatch(/^di_/);
    expect((await stripe.subscriptions.update(created.id, { discounts: "" })).discounts).toEqual([]);
    await expect(
      stripe.subscriptions.update(created.id, { discounts: [{ coupon: "none" }] }),
    ).rejects.toMatchObject({ code: "resource_missing", param: "discounts[0][coupon]" });
  });
});

describe("invoices and refunds", () => {
  it("are listed by subscription, and refunded", async () => {
    const { id, latest_invoice } = await subscribe();
    const { data } = await stripe.invoices.list({
      subscription: id,
      status: "paid",
      expand: ["data.payments"],
    });
    expect(data).toMatchObject([{ id: latest_invoice, amount_paid: 4_000, status: "paid" }]);
    expect(await stripe.invoices.retrieve(String(latest_invoice))).not.toHaveProperty("payments");
    const payments = await stripe.invoicePayments.list({ invoice: String(latest_invoice) });
    const payment_intent = String(payments.data[0]?.payment.payment_intent);
    const refund = await stripe.refunds.create({ payment_intent, reason: "requested_by_customer" });
    expect(refund).toMatchObject({ object: "refund", status: "succeeded", amount: 4_000, payment_intent });
    const refunds = await stripe.refunds.list({ payment_intent });
    expect(refunds.data.map((listed) => listed.id)).toEqual([refund.id]);
    await expect(stripe.refunds.create({ payment_intent })).rejects.toMatchObject({
      code: "charge_already_refunded",
    });
  });

  it("repeat a refusal for a repeated idempotency key, save that of an invalid parameter", async () => {
    const { latest_invoice } = await subscribe("refused-refund@example.com");
    const payments = await stripe.invoicePayments.list({ invoice: String(latest_invoice) });
    const payment_intent = String(payments.data[0]?.payment.payment_intent);
    await stripe.refunds.create({ payment_intent });
    const refund = () => stripe.refunds.create({ payment_intent }, { idempotencyKey: "refund-1" });
    const code = "charge_already_refunded";
    await expect(refund()).rejects.toMatchObject({ code, headers: expect.not.objectContaining(REPLAYED) });
    await expect(refund()).rejects.toMatchObject({ code, headers: expect.objectContaining(REPLAYED) });
    const open = (mode: "setup" | "subscription") =>
      stripe.checkout.sessions.create(
        { mode, line_items: [{ price: PRICE, quantity: 1 }], success_url: "http://localhost:3000/done" },
        { idempotencyKey: "open-1" },
      );
    await expect(open("setup")).rejects.toMatchObject({ statusCode: 400 });
    expect(await open("subscription")).toMatchObject({ status: "open" });
  });
});

const REPLAYED = { "idempotent-replayed": "true" };

it("invoices stay open when a renewal's charge fails, until they are paid", async () => {
  const { id, latest_invoice } = await subscribe("late-payer@example.com");
  const portal = provider.sim.portalUrl("provider-a", id);
  await press(portal, { subscription: id, action: "fail_renewal" });
  await control(provider.sim.url, "/clock", { by: "month" });
  const overdue = await stripe.subscriptions.retrieve(id, { expand: ["latest_invoice.payments"] });
  const invoice = overdue.latest_invoice as Stripe.Invoice;
  expect(overdue.status).toBe("past_due");
  expect(invoice).toMatchObject({
    status: "open",
    attempted: true,
    amount_paid: 0,
    amount_remaining: 4_000,
    payments: { data: [] },
  });
  expect(invoice.id).not.toBe(latest_invoice);
  expect((await stripe.invoices.list({ subscription: id, status: "open" })).data).toHaveLength(1);
  expect(await stripe.invoices.pay(String(invoice.id))).toMatchObject({ status: "paid" });
  expect((await stripe.subscriptions.retrieve(id)).status).toBe("active");
  const { data } = await stripe.events.list({
    types: ["invoice.payment_failed", "invoice.paid"],
    limit: 100,
  });
  const ofInvoice = data.filter((event) => (event.data.object as Stripe.Invoice).id === invoice.id);
  expect(ofInvoice.map(({ type }) => type)).toEqual(["invoice.paid", "invoice.payment_failed"]);
});

describe("prices and products", () => {
  it("are retrieved and listed", async () => {
    const price = await stripe.prices.retrieve(PRICE, { expand: ["product"] });
    expect(price).toMatchObject({ unit_amount: 2_000, product: { object: "product", name: "Pro" } });
    const { id } = price.product as Stripe.Product;
    expect(await stripe.products.retrieve(id)).toMatchObject({ id, name: "Pro", active: true });
    const prices = await stripe.prices.list({ product: id, active: true, recurring: { interval: "month" } });
    expect(prices.data.map((listed) => listed.id)).toContain(PRICE);
    const products = await stripe.products.list({ active: true, limit: 100 });
    expect(products.data.map(({ name }) => name)).toEqual(expect.arrayContaining(["Pro", "Team"]));
  });
});

it("opens the customer portal", async () => {
  const { customer } = await subscribe();
  const session = await stripe.billingPortal.sessions.create({
    customer: String(customer),
    return_url: "http://localhost:3000/billing",
  });
  expect(session).toMatchObject({ object: "billing_portal.session", customer });
  expect((await fetch(session.url)).status).toBe(200);
});

describe("webhooks", () => {
  it("are verified by the SDK, and listed as events", async () => {
    const { id } = await subscribe();
    const deliveries = await provider.deliveries();
    const events = deliveries.map(({ body, headers }) =>
      stripe.webhooks.constructEvent(body, String(headers["stripe-signature"]), provider.secret),
    );
    const types = events.filter(({ data }) => JSON.stringify(data).includes(id)).map(({ type }) => type);
    expect(types).toEqual(
      expect.arrayContaining([
        ...["customer.subscription.created", "customer.subscription.updated"],
        ...["checkout.session.completed", "invoice.paid"],
      ]),
    );
    const listed = await stripe.events.list({ types: ["customer.subscription.created"], limit: 1 });
    expect(listed.data[0]).toMatchObject({ data: { object: { id } } });
    expect(await stripe.events.retrieve(String(listed.data[0]?.id))).toEqual(
      expect.objectContaining({ type: "customer.subscription.created" }),
    );
  });

  it("contain the changed attributes of an update, and no others", async () => {
    const subscription = await subscribe();
    await stripe.subscriptions.update(subscription.id, {
      items: [{ id: itemIdOf(subscription), quantity: 4 }],
    });
    await stripe.subscriptions.update(subscription.id, { cancel_at_period_end: true });
    await provider.deliveries();
    const { data } = await stripe.events.list({ type: "customer.subscription.updated", limit: 3 });
    const previous = data.map((event) => event.data.previous_attributes);
    expect(previous).toEqual([
      {
        cancel_at: null,
        cancel_at_period_end: false,
        canceled_at: null,
        cancellation_details: { reason: null },
      },
      { items: { data: [expect.objectContaining({ quantity: 2 })] }, quantity: 2 },
      { status: "incomplete" },
    ]);
  });
});

describe("what is not supported", () => {
  const unknown = (name: string) => ({
    type: "StripeInvalidRequestError",
    statusCode: 400,
    code: "parameter_unknown",
    param: name,
    message: `Received unknown parameter: ${name}`,
  });

  it("is refused as an unknown parameter", async () => {
    const { id } = await subscribe();
    await expect(
      stripe.subscriptions.update(id, { pause_collection: { behavior: "void" } }),
    ).rejects.toMatchObject(unknown("pause_collection"));
    await expect(openSession({ discounts: [{ coupon: "ten" }, { coupon: "twenty" }] })).rejects.toMatchObject(
      unknown("discounts[1]"),
    );
    const line_items = [PRICE, "price_team_monthly"].map((price) => ({ price, quantity: 1 }));
    await expect(openSession({ line_items })).rejects.toMatchObject(unknown("line_items[1]"));
    const items = line_items;
    await expect(
      stripe.subscriptions.create({ customer: "cus_none", items, coupon: "ten" } as never),
    ).rejects.toMatchObject(unknown("items[1]"));
    await expect(stripe.refunds.create({ charge: "ch_1" })).rejects.toMatchObject(unknown("charge"));
    expect(await stripe.subscriptions.retrieve(id)).toMatchObject({ pause_collection: null });
  });

  it("is refused for an unknown value, expansion or limit, or a reference that is too long", async () => {
    const { id } = await subscribe();
    await expect(stripe.subscriptions.retrieve(id, { expand: ["default_payment_method"] })).rejects.toThrow(
      "This property cannot be expanded (default_payment_method).",
    );
    await expect(
      stripe.subscriptions.update(id, { payment_behavior: "pending_if_incomplete" }),
    ).rejects.toMatchObject({ statusCode: 400, param: "payment_behavior" });
    await expect(openSession({ client_reference_id: "a".repeat(201) })).rejects.toMatchObject({
      statusCode: 400,
      param: "client_reference_id",
    });
    await expect(stripe.subscriptions.list({ limit: 101 })).rejects.toMatchObject({ param: "limit" });
    await expect(stripe.subscriptions.update(id, { items: [{ quantity: 9 }] })).rejects.toMatchObject({
      code: "parameter_missing",
      param: "items[0][id]",
    });
  });
});
