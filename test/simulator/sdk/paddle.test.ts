import { type Environment, LogLevel, Paddle, type ProrationBillingMode } from "@paddle/paddle-node-sdk";
import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { API_KEY, control, press } from "../test-context.ts";
import { sdkContext } from "./sdk-context.ts";

const PRICE = "price_pro_monthly";

// The SDK's type says `adjustment`; the API's name is in the plural.
const WITH_ADJUSTMENTS = { include: ["adjustments" as "adjustment", "customer" as const] };

let provider: Awaited<ReturnType<typeof sdkContext>>;
let paddle: Paddle;
beforeAll(async () => {
  provider = await sdkContext("paddle");
  // The SDK takes a base URL in place of the environment's name.
  paddle = new Paddle(API_KEY, {
    environment: provider.apiUrl as Environment,
    logLevel: LogLevel.none,
  });
});
afterEach(() => {
  vi.useRealTimers();
});

async function subscribe(userId: string) {
  const email = `${userId}@example.com`;
  const customer = await paddle.customers.create({ email, name: "Ada", customData: { userId } });
  const transaction = await paddle.transactions.create({
    items: [{ priceId: PRICE, quantity: 2 }],
    customerId: customer.id,
    customData: { userId },
    collectionMode: "automatic",
  });
  await provider.pay(String(transaction.checkout?.url), email);
  const paid = await paddle.transactions.get(transaction.id, WITH_ADJUSTMENTS);
  return { customer, transaction: paid, id: String(paid.subscriptionId) };
}

const itemOf = (priceId: string, quantity: number) => ({
  items: [{ priceId, quantity }],
  prorationBillingMode: "prorated_immediately" as const,
});

describe("customers", () => {
  it("are created once for an address, retrieved, updated and listed", async () => {
    const email = "customer@example.com";
    const customer = await paddle.customers.create({ email, customData: { userId: "user_1" } });
    expect(customer).toMatchObject({ email, status: "active", customData: { userId: "user_1" } });
    await expect(paddle.customers.create({ email })).rejects.toMatchObject({
      code: "customer_already_exists",
    });
    expect(await paddle.customers.update(customer.id, { name: "Ada" })).toMatchObject({ name: "Ada" });
    expect(await paddle.customers.get(customer.id)).toMatchObject({ name: "Ada", email });
    const listed = await paddle.customers.list({ email: [email] }).next();
    expect(listed.map(({ id }) => id)).toEqual([customer.id]);
    await expect(paddle.customers.get("ctm_none")).rejects.toMatchObject({ code: "not_found" });
  });
});

describe("transactions", () => {
  it("are created, changed, canceled and listed", async () => {
    const created = await paddle.transactions.create({ items: [{ priceId: PRICE, quantity: 1 }] });
    expect(created).toMatchObject({ status: "ready", origin: "api", customerId: null });
    const changed = await paddle.transactions.update(created.id, {
      items: [{ priceId: PRICE, quantity: 3 }],
    });
    expect(changed.details?.lineItems).toMatchObject([{ priceId: PRICE, quantity: 3 }]);
    expect(changed.details?.totals).toMatchObject({ total: "6000", currencyCode: "EUR" });
    expect(await paddle.transactions.update(created.id, { status: "canceled" })).toMatchObject({
      status: "canceled",
    });
    await expect(paddle.transactions.update(created.id, { status: "canceled" })).rejects.toMatchObject({
      code: "transaction_immutable",
    });
    const canceled = await paddle.transactions.list({ status: ["canceled"], id: [created.id] }).next();
    expect(canceled).toMatchObject([{ id: created.id }]);
  });

  it("complete with a payment and a subscription, and are refunded by adjustments", async () => {
    const { transaction, customer, id } = await subscribe("refunds");
    expect(transaction).toMatchObject({
      status: "completed",
      subscriptionId: id,
      adjustments: [],
      customer: { id: customer.id },
      payments: [{ status: "captured", amount: "4000", methodDetails: { type: "card" } }],
    });
    const itemId = String(transaction.details?.lineItems[0]?.id);
    const refund = { action: "refund", transactionId: transaction.id, reason: "requested" } as const;
    const partial = await paddle.adjustments.create({
      ...refund,
      type: "partial",
      items: [{ itemId, type: "partial", amount: "1000" }],
    });
    expect(partial).toMatchObject({ status: "pending_approval", customerId: customer.id, type: "partial" });
    await paddle.adjustments.create({ ...refund, type: "full" });
    const listed = await paddle.adjustments.list({ transactionId: [transaction.id] }).next();
    expect(listed.map(({ totals }) => totals.total)).toEqual(["1000", "3000"]);
    const refunded = await paddle.transactions.get(transaction.id, WITH_ADJUSTMENTS);
    expect(refunded.adjustments?.map(({ id: adjustmentId }) => adjustmentId)).toEqual(
      listed.map(({ id: adjustmentId }) => adjustmentId),
    );
    expect((await paddle.transactions.get(transaction.id)).adjustments).toBeNull();
  });

  it("list a dispute that was won as reversed by an adjustment of its own", async () => {
    const { transaction } = await subscribe("disputes");
    const change = (action: string) =>
      control(provider.sim.url, `/provider-a/${action}`, { payment: transaction.id });
    for (const action of ["dispute", "win-dispute", "dispute"]) await change(action);
    const { adjustments } = await paddle.transactions.get(transaction.id, WITH_ADJUSTMENTS);
    expect(adjustments?.map(({ action, status }) => [action, status])).toEqual([
      ["chargeback", "reversed"],
      ["chargeback_reverse", "approved"],
      ["chargeback", "approved"],
    ]);
  });
});

describe("subscriptions", () => {
  it("change seats and plan, after a preview", async () => {
    const { id } = await subscribe("changes");
    expect(await paddle.subscriptions.get(id)).toMatchObject({
      status: "active",
      customData: { userId: "changes" },
      scheduledChange: null,
      items: [{ quantity: 2, price: { id: PRICE }, product: { name: "Pro" } }],
    });
    expect(await paddle.subscriptions.update(id, itemOf(PRICE, 3))).toMatchObject({
      items: [{ quantity: 3 }],
    });
    const preview = await paddle.subscriptions.previewUpdate(id, itemOf("price_team_monthly", 5));
    expect(preview.updateSummary?.result).toMatchObject({ currencyCode: "EUR" });
    const customData = { userId: "changes", planId: "team" };
    expect(
      await paddle.subscriptions.update(id, { ...itemOf("price_team_monthly", 5), customData }),
    ).toMatchObject({ customData, items: [{ quantity: 5, price: { id: "price_team_monthly" } }] });
  });

  it("are not changed while a renewal is unpaid, and can be canceled", async () => {
    const { id } = await subscribe("late-payer");
    await press(provider.sim.portalUrl("provider-a", id), { subscription: id, action: "fail_renewal" });
    await control(provider.sim.url, "/clock", { by: "month" });
    const refusal = { code: "subscription_update_when_past_due" };
    await expect(paddle.subscriptions.previewUpdate(id, itemOf(PRICE, 3))).rejects.toMatchObject(refusal);
    await expect(paddle.subscriptions.update(id, itemOf(PRICE, 3))).rejects.toMatchObject(refusal);
    const canceled = await paddle.subscriptions.cancel(id, { effectiveFrom: "immediately" });
    expect(canceled.status).toBe("canceled");
  });

  it("cancel at the period's end, resume, and cancel at once", async () => {
    const { id } = await subscribe("cancels");
    const scheduled = await paddle.subscriptions.cancel(id, { effectiveFrom: "next_billing_period" });
    expect(scheduled).toMatchObject({ status: "active", scheduledChange: { action: "cancel" } });
    expect(scheduled.scheduledChange?.effectiveAt).toBe(scheduled.currentBillingPeriod?.endsAt);
    for (const effectiveFrom of ["next_billing_period", "immediately"] as const)
      await expect(paddle.subscriptions.cancel(id, { effectiveFrom })).rejects.toMatchObject({
        code: "subscription_locked_pending_changes",
      });
    expect(await paddle.subscriptions.update(id, { scheduledChange: null })).toMatchObject({
      status: "active",
      scheduledChange: null,
    });
    expect(await paddle.subscriptions.cancel(id, { effectiveFrom: "immediately" })).toMatchObject({
      status: "canceled",
      currentBillingPeriod: null,
    });
    await expect(paddle.subscriptions.cancel(id, {})).rejects.toMatchObject({
      code: "subscription_is_canceled_action_invalid",
    });
    const refused = { code: "subscription_update_when_canceled" };
    await expect(paddle.subscriptions.update(id, itemOf(PRICE, 3))).rejects.toMatchObject(refused);
    await expect(paddle.subscriptions.previewUpdate(id, itemOf(PRICE, 3))).rejects.toMatchObject(refused);
  });

  it("are listed page by page, by customer and by status", async () => {
    const { customer, id } = await subscribe("page-1");
    await subscribe("page-2");
    const ids: string[] = [];
    for await (const subscription of paddle.subscriptions.list({ perPage: 1, orderBy: "id[ASC]" }))
      ids.push(subscription.id);
    const all = await paddle.subscriptions.list({ perPage: 200 }).next();
    expect(ids).toEqual(all.map((subscription) => subscription.id));
    const own = await paddle.subscriptions
      .list({ customerId: [customer.id], status: ["active", "past_due"] })
      .next();
    expect(own.map((subscription) => subscription.id)).toEqual([id]);
  });
});

describe("prorations", () => {
  /** Half a period after it began. */
  async function subscribeHalfAPeriodAgo(userId: string): Promise<string> {
    return subscribePartOfAPeriodAgo(userId, 0.5);
  }

  async function subscribePartOfAPeriodAgo(userId: string, part: number): Promise<string> {
    const { id } = await subscribe(userId);
    const { startsAt, endsAt } = (await paddle.subscriptions.get(id)).currentBillingPeriod ?? {};
    const period = (Date.parse(String(endsAt)) - Date.parse(String(startsAt))) / 1_000;
    await control(provider.sim.url, "/clock", { by: Math.round(period * part) });
    return id;
  }

  const change = (quantity: number, prorationBillingMode: ProrationBillingMode, priceId = PRICE) => ({
    items: [{ priceId, quantity }],
    prorationBillingMode,
  });
  /** The newest first. */
  const listTransactions = async (subscriptionId: string) =>
    (await paddle.transactions.list({ subscriptionId: [subscriptionId], orderBy: "id[DESC]" }).next())
      .toSorted((a, b) => Date.parse(b.createdAt) - Date.parse(a.createdAt))
      .map(({ origin, details }) => [origin, Number(details?.totals?.grandTotal)]);

  it("are charged at once, as previewed, with the credit for the old plan", async () => {
    const id = await subscribeHalfAPeriodAgo("prorated");
    const upgrade = change(10, "prorated_immediately", "price_team_monthly");
    const preview = await paddle.subscriptions.previewUpdate(id, upgrade);
    expect(preview.updateSummary).toMatchObject({
      credit: { amount: "2000" },
      charge: { amount: "7500" },
      result: { action: "charge", amount: "5500" },
    });
    expect(preview.immediateTransaction?.details.totals.grandTotal).toBe("5500");
    expect(preview.recurringTransactionDetails?.totals.total).toBe("15000");
    await paddle.subscriptions.update(id, upgrade);
    const [transaction] = await paddle.transactions
      .list({ subscriptionId: [id], origin: ["subscription_update"] })
      .next();
    expect(transaction).toMatchObject({
      status: "completed",
      origin: "subscription_update",
      items: [{ quantity: 10, proration: { rate: "0.5" } }],
      details: { totals: { subtotal: "7500", credit: "2000", grandTotal: "5500" } },
    });
  });

  it("are charged with the next period, in part or in full, or never", async () => {
    const ids = await Promise.all(
      ["next", "full-next", "unbilled"].map((userId) => subscribe(userId).then(({ id }) => id)),
    );
    await control(provider.sim.url, "/clock", { by: "day" });
    const [next, fullNext, unbilled] = ids as [string, string, string];
    await paddle.subscriptions.update(next, change(4, "prorated_next_billing_period"));
    await paddle.subscriptions.update(fullNext, change(4, "full_next_billing_period"));
    await paddle.subscriptions.update(unbilled, change(4, "do_not_bill"));
    await control(provider.sim.url, "/clock", { by: "month" });
    const [[origin, prorated] = []] = await listTransactions(next);
    expect(origin).toBe("subscription_recurring");
    // Two more seats for most of the month.
    expect(prorated).toBeGreaterThan(8_000 + 3_500);
    expect(prorated).toBeLessThan(8_000 + 4_000);
    expect(await listTransactions(fullNext)).toEqual([
      ["subscription_recurring", 12_000],
      ["api", 4_000],
    ]);
    expect((await listTransactions(unbilled))[0]).toEqual(["subscription_recurring", 8_000]);
  });

  it("are left out when the full amount is charged at once", async () => {
    const id = await subscribeHalfAPeriodAgo("full");
    await paddle.subscriptions.update(id, change(5, "full_immediately", "price_team_monthly"));
    expect((await listTransactions(id))[0]).toEqual(["subscription_update", 7_500]);
  });

  it("are refused when they cost less than the least that is charged", async () => {
    const id = await subscribePartOfAPeriodAgo("small", 0.98);
    const code = "subscription_update_transaction_balance_less_than_charge_limit";
    const small = change(3, "prorated_immediately");
    await expect(paddle.subscriptions.previewUpdate(id, small)).rejects.toMatchObject({ code });
    await expect(paddle.subscriptions.update(id, small)).rejects.toMatchObject({ code });
    await paddle.subscriptions.update(id, change(5, "prorated_immediately"));
    expect((await listTransactions(id))[0]).toEqual(["subscription_update", 120]);
  });

  it("need a mode, which must bill before the subscription ends", async () => {
    const { id } = await subscribe("modes");
    const items = [{ priceId: PRICE, quantity: 3 }];
    await expect(paddle.subscriptions.update(id, { items })).rejects.toMatchObject({
      code: "subscription_items_update_missing_proration_billing_mode",
    });
    await paddle.subscriptions.cancel(id, { effectiveFrom: "next_billing_period" });
    await expect(
      paddle.subscriptions.update(id, change(3, "prorated_next_billing_period")),
    ).rejects.toMatchObject({ code: "subscription_invalid_billing_mode_for_scheduled_change" });
  });
});

describe("discounts", () => {
  it("are created, retrieved, updated, listed and archived", async () => {
    const discount = await paddle.discounts.create({
      amount: "10",
      description: "Spring",
      type: "percentage",
      code: "SPRING",
      recur: true,
    });
    expect(discount).toMatchObject({ status: "active", code: "SPRING", recur: true, timesUsed: 0 });
    expect(await paddle.discounts.update(discount.id, { description: "May" })).toMatchObject({
      description: "May",
    });
    expect((await paddle.discounts.list({ code: ["SPRING"] }).next()).map(({ id }) => id)).toEqual([
      discount.id,
    ]);
    expect(await paddle.discounts.archive(discount.id)).toMatchObject({ status: "archived" });
    expect(await paddle.discounts.get(discount.id)).toMatchObject({ status: "archived" });
    await expect(paddle.discounts.get("dsc_none")).rejects.toMatchObject({ code: "not_found" });
  });

  it("are refused with an end that is not a time", async () => {
    const discount = { amount: "20", type: "percentage", description: "Spring", expiresAt: "soon" } as const;
    await expect(paddle.discounts.create(discount)).rejects.toMatchObject({
      code: "bad_request",
      errors: [{ field: "expires_at" }],
    });
  });

  it("reduce a transaction, and those of the subscription while they recur", async () => {
    const { id: discountId } = await paddle.discounts.create({
      amount: "25",
      description: "Quarter",
      type: "percentage",
      usageLimit: 1,
      recur: true,
      maximumRecurringIntervals: 2,
    });
    const transaction = await paddle.transactions.create({
      items: [{ priceId: PRICE, quantity: 2 }],
      discountId,
    });
    expect(transaction).toMatchObject({
      discountId,
      details: { totals: { subtotal: "4000", discount: "1000", total: "3000", grandTotal: "3000" } },
    });
    await provider.pay(String(transaction.checkout?.url), "discounts@example.com");
    const { subscriptionId } = await paddle.transactions.get(transaction.id);
    const id = String(subscriptionId);
    expect((await paddle.subscriptions.get(id)).discount).toMatchObject({ id: discountId });
    await expect(
      paddle.transactions.create({ items: [{ priceId: PRICE, quantity: 1 }], discountId }),
    ).rejects.toMatchObject({ code: "discount_expired" });
    for (let month = 0; month < 2; month += 1) await control(provider.sim.url, "/clock", { by: "month" });
    const listed = await paddle.transactions.list({ subscriptionId: [id] }).next();
    expect(listed.map(({ details }) => details?.totals?.total).toSorted()).toEqual(["3000", "3000", "4000"]);
    expect((await paddle.subscriptions.get(id)).discount).toBeNull();
  });

  it("are given to a subscription from the next billing period on, and taken back", async () => {
    const { id } = await subscribe("given");
    const discount = await paddle.discounts.create({
      amount: "500",
      description: "Five off",
      type: "flat",
      currencyCode: "EUR",
      recur: true,
    });
    await paddle.subscriptions.update(id, {
      discount: { id: discount.id, effectiveFrom: "next_billing_period" },
    });
    await control(provider.sim.url, "/clock", { by: "month" });
    const [renewal] = await paddle.transactions
      .list({ subscriptionId: [id], origin: ["subscription_recurring"] })
      .next();
    expect(renewal?.details?.totals?.total).toBe("3500");
    expect((await paddle.subscriptions.update(id, { discount: null })).discount).toBeNull();
  });
});

describe("prices and products", () => {
  it("are retrieved and listed", async () => {
    const price = await paddle.prices.get(PRICE, { include: ["product"] });
    expect(price).toMatchObject({ unitPrice: { amount: "2000" }, product: { name: "Pro" } });
    const prices = await paddle.prices.list({ productId: [price.productId], recurring: true }).next();
    expect(prices.map(({ id }) => id)).toContain(PRICE);
    const product = await paddle.products.get(price.productId, { include: ["prices"] });
    expect(product.prices?.map(({ id }) => id)).toContain(PRICE);
    const products = await paddle.products.list({ status: ["active"] }).next();
    expect(products.map(({ name }) => name)).toEqual(expect.arrayContaining(["Pro", "Team"]));
  });
});

it("opens the customer portal", async () => {
  const { customer, id } = await subscribe("portal");
  const session = await paddle.customerPortalSessions.create(customer.id, [id]);
  expect(session.urls.subscriptions).toMatchObject([{ id }]);
  expect((await fetch(session.urls.general.overview)).status).toBe(200);
});

describe("webhooks", () => {
  it("are verified and read by the SDK, and listed as events", async () => {
    const { id } = await subscribe("webhooks");
    await paddle.subscriptions.update(id, itemOf(PRICE, 4));
    const { transaction } = await subscribe("webhooks-refund");
    await paddle.adjustments.create({
      action: "refund",
      transactionId: transaction.id,
      reason: "requested",
      type: "full",
    });
    const types: string[] = [];
    const deliveries = await provider.deliveries();
    for (const { body, headers } of deliveries) {
      const signature = String(headers["paddle-signature"]);
      // The SDK allows five seconds.
      const signedAt = Number(/ts=(\d+)/.exec(signature)?.[1]) * 1_000;
      vi.useFakeTimers({ toFake: ["Date"], now: signedAt });
      types.push((await paddle.webhooks.unmarshal(body, provider.secret, signature)).eventType);
    }
    vi.useRealTimers();
    expect(types).toEqual(
      expect.arrayContaining([
        ...["subscription.created", "subscription.activated", "transaction.completed"],
        ...["subscription.updated", "subscription.canceled", "adjustment.created", "adjustment.updated"],
      ]),
    );
    const events = await Array.fromAsync(paddle.events.list({ perPage: 200 }));
    expect(events.map(({ eventType }) => eventType).toSorted()).toEqual(types.toSorted());
  });
});

describe("what is not supported", () => {
  const refused = (field: string) => ({
    type: "request_error",
    code: "bad_request",
    errors: [{ field }],
  });

  it("is refused with the field", async () => {
    const { id } = await subscribe("unsupported");
    const items = [PRICE, "price_team_monthly"].map((priceId) => ({ priceId, quantity: 1 }));
    await expect(paddle.transactions.create({ items })).rejects.toMatchObject(refused("items.1"));
    await expect(
      paddle.subscriptions.update(id, { items, prorationBillingMode: "prorated_immediately" }),
    ).rejects.toMatchObject(refused("items.1"));
    await expect(
      paddle.transactions.create({ items: [{ priceId: PRICE, quantity: 1 }], currencyCode: "USD" }),
    ).rejects.toMatchObject(refused("currency_code"));
    await expect(
      paddle.subscriptions.update(id, { nextBilledAt: new Date().toISOString() }),
    ).rejects.toMatchObject(refused("next_billed_at"));
    await expect(paddle.customers.list({ search: "ada" }).next()).rejects.toMatchObject(refused("search"));
    await expect(paddle.products.list({ perPage: -1 }).next()).rejects.toMatchObject(refused("per_page"));
    expect((await paddle.subscriptions.get(id)).items).toHaveLength(1);
  });
});
