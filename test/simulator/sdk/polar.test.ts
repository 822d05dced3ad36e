import { createPolar, webhooks } from "@polar-sh/sdk/2026-10";
import { Polar as PolarOfJune } from "polar-sdk-0.49";
import { validateEvent as validateEventOfJune } from "polar-sdk-0.49/webhooks";
import { beforeAll, describe, expect, it } from "vitest";
import { API_KEY, control } from "../test-context.ts";
import { sdkContext } from "./sdk-context.ts";

const PRODUCT = "price_pro_monthly";
/** The earlier SDK knows only the keys of secrets from before September 2026. */
const SECRET = "polar_whs_of_the_sdk_tests";

let provider: Awaited<ReturnType<typeof sdkContext>>;
let polar: ReturnType<typeof createPolar>;
/** Validates each response with a schema, and fails for a field that is missing or has another type. */
let validating: PolarOfJune;
beforeAll(async () => {
  provider = await sdkContext("polar", SECRET);
  polar = createPolar({ accessToken: API_KEY, baseUrl: provider.apiUrl });
  validating = new PolarOfJune({ accessToken: API_KEY, serverURL: provider.apiUrl });
});

async function subscribe(userId: string) {
  const checkout = await validating.checkouts.create({
    products: [PRODUCT],
    seats: 2,
    externalCustomerId: userId,
    customerEmail: `${userId}@example.com`,
    metadata: { userId },
    successUrl: "http://localhost:3000/done",
  });
  await provider.pay(checkout.url, `${userId}@example.com`);
  const { result } = await validating.subscriptions.list({ externalCustomerId: userId });
  const [subscription] = result.items;
  if (!subscription) throw new Error("there is no subscription");
  return { checkout, subscription };
}

describe("the SDK before 1.0", () => {
  it("validates customers", async () => {
    const created = await validating.customers.create({
      email: "ada@example.com",
      name: "Ada",
      externalId: "ada",
      metadata: { team: "7" },
    });
    expect(created).toMatchObject({ externalId: "ada", name: "Ada", metadata: { team: "7" } });
    expect(await validating.customers.get({ id: created.id })).toEqual(created);
    expect(await validating.customers.getExternal({ externalId: "ada" })).toEqual(created);
    const customerUpdate = { name: "Ada L." };
    expect(await validating.customers.update({ id: created.id, customerUpdate })).toMatchObject(
      customerUpdate,
    );
    const { result } = await validating.customers.list({ email: "ada@example.com" });
    expect(result.items.map(({ id }) => id)).toEqual([created.id]);
    await expect(validating.customers.create({ email: "ada@example.com" })).rejects.toMatchObject({
      statusCode: 422,
    });
    await expect(validating.customers.get({ id: "none" })).rejects.toMatchObject({ statusCode: 404 });
  });

  it("validates checkouts", async () => {
    const trial = await validating.checkouts.create({
      products: [PRODUCT],
      trialInterval: "day",
      trialIntervalCount: 14,
    });
    expect(trial).toMatchObject({ status: "open", activeTrialIntervalCount: 14 });
    expect(await validating.checkouts.get({ id: trial.id })).toEqual(trial);
    const { checkout } = await subscribe("checkouts");
    expect(await validating.checkouts.get({ id: checkout.id })).toMatchObject({
      status: "succeeded",
      externalCustomerId: "checkouts",
      subscriptionId: null,
    });
    const { result } = await validating.checkouts.list({ status: "succeeded", limit: 1 });
    expect(result.items.map(({ id }) => id)).toEqual([checkout.id]);
  });

  it("validates subscriptions through their changes", async () => {
    const { subscription } = await subscribe("changes");
    const { id } = subscription;
    expect(subscription).toMatchObject({ status: "active", seats: 2, product: { name: "Pro" } });
    const update = (
      subscriptionUpdate: Parameters<typeof validating.subscriptions.update>[0]["subscriptionUpdate"],
    ) => validating.subscriptions.update({ id, subscriptionUpdate });
    expect(await update({ seats: 3 })).toMatchObject({ seats: 3, pendingUpdate: null });
    const pending = await update({ productId: "price_team_monthly", prorationBehavior: "next_period" });
    expect(pending).toMatchObject({
      productId: PRODUCT,
      pendingUpdate: { productId: "price_team_monthly", seats: null },
    });
    expect(await update({ productId: "price_team_monthly", prorationBehavior: "invoice" })).toMatchObject({
      productId: "price_team_monthly",
      product: { name: "Team" },
    });
    const canceled = await update({ cancelAtPeriodEnd: true });
    expect(canceled).toMatchObject({ status: "active", cancelAtPeriodEnd: true });
    expect(canceled.endsAt).toEqual(canceled.currentPeriodEnd);
    await expect(update({ cancelAtPeriodEnd: true })).rejects.toMatchObject({ statusCode: 403 });
    expect(await update({ cancelAtPeriodEnd: false })).toMatchObject({
      cancelAtPeriodEnd: false,
      endsAt: null,
    });
    expect(await validating.subscriptions.revoke({ id })).toMatchObject({ status: "canceled" });
    expect(await validating.subscriptions.get({ id })).toMatchObject({ status: "canceled" });
  });

  it("validates the orders of changes, charged at once or with the next order", async () => {
    const amountsOf = async (subscriptionId: string) =>
      (await validating.orders.list({ subscriptionId, limit: 10 })).result.items.map((order) => [
        order.billingReason,
        order.totalAmount,
      ]);
    const halfAPeriodAgo = async (userId: string) => {
      const { subscription } = await subscribe(userId);
      const { currentPeriodStart, currentPeriodEnd } = subscription;
      const seconds = (Number(currentPeriodEnd) - Number(currentPeriodStart)) / 1_000;
      await control(provider.sim.url, "/clock", { by: Math.round(seconds / 2) });
      return subscription.id;
    };
    const prorated = await halfAPeriodAgo("invoiced");
    await validating.subscriptions.update({
      id: prorated,
      subscriptionUpdate: { seats: 4, prorationBehavior: "invoice" },
    });
    expect(await amountsOf(prorated)).toEqual([
      ["subscription_update", 2_000],
      ["subscription_create", 4_000],
    ]);
    const later = await halfAPeriodAgo("prorated");
    await validating.subscriptions.update({
      id: later,
      subscriptionUpdate: { seats: 4, prorationBehavior: "prorate" },
    });
    await control(provider.sim.url, "/clock", { by: "month" });
    expect((await amountsOf(later))[0]).toEqual(["subscription_cycle", 10_000]);
  });

  it("validates orders that the customer's balance pays", async () => {
    const { subscription } = await subscribe("balance");
    const { id } = subscription;
    const change = async (seats: number) =>
      validating.subscriptions.update({
        id,
        subscriptionUpdate: { seats, prorationBehavior: "invoice" },
      });
    await change(1);
    await change(2);
    await change(4);
    const { result } = await validating.orders.list({ subscriptionId: id, sorting: ["created_at"] });
    const amounts = result.items.map((order) => [
      ...[order.totalAmount, order.appliedBalanceAmount, order.dueAmount, order.refundableAmount],
    ]);
    // The clock runs: a proration is some cents less than a whole period's price.
    const [bought, credit, paidFromBalance, charged] = amounts;
    expect(bought).toEqual([4_000, 0, 4_000, 4_000]);
    expect(credit).toEqual([expect.closeTo(-2_000, -2), 0, 0, 0]);
    const [total = 0, applied, due] = paidFromBalance ?? [];
    expect([applied, due]).toEqual([-total, 0]);
    expect(charged).toEqual([
      expect.closeTo(4_000, -2),
      expect.closeTo(0, -2),
      expect.closeTo(4_000, -2),
      expect.closeTo(4_000, -2),
    ]);
  });

  it("validates discounts", async () => {
    const percentage = await validating.discounts.create({
      type: "percentage",
      name: "Launch",
      code: "LAUNCH25",
      basisPoints: 2_500,
      duration: "repeating",
      durationInMonths: 3,
      maxRedemptions: 5,
      products: [PRODUCT],
    });
    expect(percentage).toMatchObject({
      basisPoints: 2_500,
      redemptionsCount: 0,
      products: [{ id: PRODUCT }],
    });
    const fixed = await validating.discounts.create({
      type: "fixed",
      name: "Thanks",
      amounts: { eur: 500 },
      duration: "once",
    });
    expect(fixed).toMatchObject({ amount: 500, currency: "eur", code: null });
    expect(await validating.discounts.get({ id: percentage.id })).toEqual(percentage);
    const { result } = await validating.discounts.list({ query: "launch" });
    expect(result.items).toEqual([percentage]);
    await expect(
      validating.discounts.create({
        type: "percentage",
        name: "Again",
        code: "launch25",
        basisPoints: 1,
        duration: "once",
      }),
    ).rejects.toMatchObject({ statusCode: 422 });
    const discountUpdate = { name: "Thank you", endsAt: new Date(Date.now() + 86_400_000_000) };
    expect(await validating.discounts.update({ id: fixed.id, discountUpdate })).toMatchObject({
      name: "Thank you",
    });
    await validating.discounts.delete({ id: fixed.id });
    await expect(validating.discounts.get({ id: fixed.id })).rejects.toMatchObject({ statusCode: 404 });
    await expect(
      validating.checkouts.create({ products: [PRODUCT], discountId: fixed.id }),
    ).rejects.toMatchObject({ statusCode: 422 });
  });

  it("validates checkouts, subscriptions and orders with a discount", async () => {
    const { id: discountId } = await validating.discounts.create({
      type: "percentage",
      name: "Half",
      code: "HALF",
      basisPoints: 5_000,
      duration: "once",
    });
    const checkout = await validating.checkouts.create({
      products: [PRODUCT],
      seats: 2,
      discountId,
      externalCustomerId: "half",
    });
    expect(checkout).toMatchObject({
      discountId,
      amount: 4_000,
      discountAmount: 2_000,
      totalAmount: 2_000,
      discount: { code: "HALF" },
    });
    await provider.pay(checkout.url, "half@example.com");
    const { result } = await validating.subscriptions.list({ externalCustomerId: "half" });
    const [subscription] = result.items;
    expect(subscription).toMatchObject({ discountId, discount: { name: "Half", redemptionsCount: 1 } });
    await provider.passTime("month");
    const subscriptionId = String(subscription?.id);
    const orders = await validating.orders.list({ subscriptionId, sorting: ["created_at"] });
    expect(orders.result.items).toMatchObject([
      { discountAmount: 2_000, totalAmount: 2_000, dueAmount: 2_000, discount: { name: "Half" } },
      { discountAmount: 0, totalAmount: 4_000, discount: null },
    ]);
    const update = (discount: string | null) =>
      validating.subscriptions.update({
        id: subscriptionId,
        subscriptionUpdate: { discountId: discount },
      });
    expect(await update(discountId)).toMatchObject({ discountId });
    await provider.passTime("month");
    const [latest] = (await validating.orders.list({ subscriptionId, limit: 1 })).result.items;
    expect(latest).toMatchObject({ discountAmount: 2_000, dueAmount: 2_000 });
    expect(await update(null)).toMatchObject({ discountId: null, discount: null });
  });

  it("takes a discount's code at the checkout, unless the seller forbids it", async () => {
    await validating.discounts.create({
      type: "fixed",
      name: "Welcome",
      code: "WELCOME",
      amounts: { eur: 1_000 },
      duration: "forever",
    });
    const paidWith = async (userId: string, code: string, allowDiscountCodes: boolean) => {
      const checkout = await validating.checkouts.create({
        products: [PRODUCT],
        seats: 2,
        externalCustomerId: userId,
        allowDiscountCodes,
      });
      await provider.pay(checkout.url, `${userId}@example.com`, { code });
      const { result } = await validating.orders.list({ externalCustomerId: userId });
      return result.items[0]?.dueAmount;
    };
    expect(await paidWith("with-code", "welcome", true)).toBe(3_000);
    await expect(paidWith("with-other", "UNKNOWN", true)).rejects.toThrow("This code is invalid");
    expect(await paidWith("forbidden", "WELCOME", false)).toBe(4_000);
  });

  it("validates pages of subscriptions, and a customer's state", async () => {
    for (const userId of ["page-1", "page-2"]) await subscribe(userId);
    const ids: string[] = [];
    for await (const { result } of await validating.subscriptions.list({ limit: 1, sorting: ["started_at"] }))
      ids.push(...result.items.map(({ id }) => id));
    const { result } = await validating.subscriptions.list({ limit: 100 });
    expect(result.items.map(({ id }) => id)).toEqual(ids.toReversed());
    const state = await validating.customers.getStateExternal({ externalId: "page-2" });
    expect(state).toMatchObject({ externalId: "page-2", activeSubscriptions: [{ productId: PRODUCT }] });
  });

  it("validates orders, refunds and disputes", async () => {
    const { subscription } = await subscribe("orders");
    const { result } = await validating.orders.list({ externalCustomerId: "orders" });
    const [order] = result.items;
    expect(order).toMatchObject({
      status: "paid",
      totalAmount: 4_000,
      billingReason: "subscription_create",
      seats: 2,
      subscriptionId: subscription.id,
      subscription: { status: "active" },
      refundableAmount: 4_000,
    });
    const orderId = String(order?.id);
    expect(await validating.orders.get({ id: orderId })).toEqual(order);
    const refund = await validating.refunds.create({ orderId, reason: "customer_request", amount: 1_000 });
    expect(refund).toMatchObject({ status: "succeeded", amount: 1_000, orderId });
    const refunds = await validating.refunds.list({ orderId });
    expect(refunds.result.items).toEqual([refund]);
    expect(await validating.orders.get({ id: orderId })).toMatchObject({
      status: "partially_refunded",
      refundedAmount: 1_000,
      refundableAmount: 3_000,
    });
    expect((await validating.disputes.list({})).result.items).toEqual([]);
  });

  it("validates products, the portal session and the webhook endpoint", async () => {
    const { result } = await validating.products.list({ isArchived: false, limit: 100 });
    const product = result.items.find(({ id }) => id === PRODUCT);
    expect(product).toEqual(await validating.products.get({ id: PRODUCT }));
    expect(product).toMatchObject({ name: "Pro", prices: [{ amountType: "seat_based" }] });
    await subscribe("portal");
    const session = await validating.customerSessions.create({
      externalCustomerId: "portal",
      externalMemberId: "portal",
    });
    expect((await fetch(session.customerPortalUrl)).status).toBe(200);
    expect(session.expiresAt.getTime() - session.createdAt.getTime()).toBe(3_600_000);
    const endpoints = await validating.webhooks.listWebhookEndpoints({});
    expect(endpoints.result.items).toMatchObject([{ enabled: true, format: "raw" }]);
    await provider.deliveries();
    const deliveries = await validating.webhooks.listWebhookDeliveries({ limit: 5 });
    expect(deliveries.result.items.map(({ succeeded }) => succeeded)).toContain(true);
  });

  it("verifies and validates every webhook", async () => {
    const { subscription } = await subscribe("webhooks");
    const change = (subscriptionUpdate: { cancelAtPeriodEnd: boolean }) =>
      validating.subscriptions.update({ id: subscription.id, subscriptionUpdate });
    await change({ cancelAtPeriodEnd: true });
    await change({ cancelAtPeriodEnd: false });
    const { result } = await validating.orders.list({ externalCustomerId: "webhooks" });
    await validating.refunds.create({
      orderId: String(result.items[0]?.id),
      reason: "duplicate",
      amount: 4_000,
    });
    await validating.subscriptions.revoke({ id: subscription.id });
    const deliveries = await provider.deliveries();
    const types = deliveries.map(({ body, headers }) => validateEventOfJune(body, headers, SECRET).type);
    expect(types).toEqual(
      expect.arrayContaining([
        ...["subscription.created", "subscription.active", "order.paid", "subscription.updated"],
        ...["subscription.canceled", "subscription.uncanceled", "subscription.revoked"],
        ...["refund.created", "order.updated", "order.refunded"],
      ]),
    );
  });
});

describe("the SDK since 1.0", () => {
  it("makes every call for a subscription", async () => {
    const user = "current";
    const customer = await polar.customers.create({ email: "current@example.com", external_id: user });
    expect(await polar.customers.getStateExternal(user)).toMatchObject({ id: customer.id });
    expect((await polar.customers.list({ email: "current@example.com" })).items).toEqual([customer]);
    const checkout = await polar.checkouts.create({
      products: [PRODUCT],
      seats: 2,
      external_customer_id: user,
      metadata: { userId: user },
    });
    await provider.pay(checkout.url, "current@example.com");
    expect(await polar.checkouts.get(checkout.id)).toMatchObject({ status: "succeeded" });
    const { items } = await polar.subscriptions.list({ external_customer_id: user, active: true });
    expect(items).toMatchObject([{ customer_id: customer.id, metadata: { userId: user } }]);
    const id = String(items[0]?.id);
    expect(await polar.subscriptions.update(id, { seats: 4 })).toMatchObject({ seats: 4 });
    expect(await polar.subscriptions.update(id, { product_id: "price_team_monthly" })).toMatchObject({
      product_id: "price_team_monthly",
    });
    expect(await polar.subscriptions.update(id, { cancel_at_period_end: true })).toMatchObject({
      cancel_at_period_end: true,
    });
    expect(await polar.subscriptions.update(id, { cancel_at_period_end: false })).toMatchObject({
      cancel_at_period_end: false,
    });
    const session = await polar.customerSessions.create({
      external_customer_id: user,
      external_member_id: user,
      return_url: "http://localhost:3000/billing",
    });
    expect((await fetch(session.customer_portal_url)).status).toBe(200);
    const orders = await polar.orders.list({ subscription_id: id, sorting: ["-created_at"] });
    const order_id = String(orders.items[0]?.id);
    await polar.refunds.create({ order_id, reason: "customer_request", amount: 4_000 });
    expect(await polar.orders.get(order_id)).toMatchObject({ status: "refunded", refundable_amount: 0 });
    expect((await polar.refunds.list({ order_id })).items).toHaveLength(1);
    expect((await polar.products.list({})).items.map((product) => product.id)).toContain(PRODUCT);
    expect(await polar.products.get(PRODUCT)).toMatchObject({ is_recurring: true });
    expect(await polar.subscriptions.revoke(id)).toMatchObject({ status: "canceled" });
  });

  it("verifies every webhook", async () => {
    await subscribe("verified");
    const deliveries = await provider.deliveries();
    const types = deliveries.map(({ eventType }) => eventType);
    expect(types).toEqual(expect.arrayContaining(["subscription.created", "order.paid"]));
    for (const { body, headers, eventType } of deliveries)
      expect(await webhooks.validateEvent(body, headers, SECRET)).toMatchObject({ type: eventType });
    const [{ body, headers } = { body: "", headers: {} }] = deliveries;
    await expect(webhooks.validateEvent(`${body} `, headers, SECRET)).rejects.toBeInstanceOf(
      webhooks.PolarWebhookVerificationError,
    );
  });
});

describe("what is not supported", () => {
  it("is refused in the provider's own error format", async () => {
    const { subscription } = await subscribe("unsupported");
    const refusal = (place: string, name: string | number, type: string) => ({
      statusCode: 422,
      error: { error: "RequestValidationError", detail: [{ loc: [place, ...[name].flat()], type }] },
    });
    await expect(polar.subscriptions.update(subscription.id, { trial_end: "now" })).rejects.toMatchObject(
      refusal("body", "trial_end", "extra_forbidden"),
    );
    await expect(polar.subscriptions.update(subscription.id, { discount_id: "d1" })).rejects.toMatchObject(
      refusal("body", "discount_id", "value_error"),
    );
    await expect(polar.checkouts.create({ products: [PRODUCT, "price_team_monthly"] })).rejects.toMatchObject(
      {
        error: {
          detail: [{ loc: ["body", "products", 1], msg: expect.stringContaining("has one product") }],
        },
      },
    );
    await expect(polar.subscriptions.list({ sorting: ["status"] })).rejects.toMatchObject(
      refusal("query", "sorting", "literal_error"),
    );
    await expect(polar.orders.list({ limit: 0 })).rejects.toMatchObject(
      refusal("query", "limit", "value_error"),
    );
  });
});
