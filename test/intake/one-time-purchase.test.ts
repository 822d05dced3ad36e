import { describe, expect, it, onTestFinished } from "vitest";
import plans from "../../plans.config.ts";
import { isSubscribed } from "../../src/billing/is-subscribed.ts";
import { definePlans } from "../../src/domain/plans/plan.ts";
import { effectLimits } from "../../src/intake/transaction-limits.ts";
import { relayEvents } from "../../src/outbound/relay.ts";
import { paymentsOfUser } from "../../src/store/payments/payment-list.ts";
import { recordPayments } from "../../src/store/payments/record-payments.ts";
import type { ReportedPayment } from "../../src/store/payments/reported-payment.ts";
import { subscriptionAccessOfUser } from "../../src/store/subscriptions/subscription-access.ts";
import { liveSubscriptionOfUser } from "../../src/store/subscriptions/subscription-list.ts";
import { inTransaction } from "../../src/store/transaction.ts";
import { loadFixture, signedDelivery } from "../fixtures/fixture.ts";
import type { FixtureOverrides } from "../fixtures/overrides.ts";
import { ACCESS_CONTEXT } from "../outbound/access-context.ts";
import { freshRuntime } from "../support/fresh-runtime.ts";
import { startTestRuntime } from "../support/runtime.ts";
import { createSubscription } from "../support/subscriptions.ts";
import { SECRETS } from "../support/variables.ts";

const { test, runtime } = freshRuntime({ users: 21 });

const IDS = { planId: "pro", customerId: "cus_1", priceId: "price_pro_monthly" } as const;
let events = 0;

async function happens(name: string, overrides: FixtureOverrides, session: object = {}): Promise<void> {
  const { body } = loadFixture("stripe", name, { ...IDS, ...overrides });
  await receive({
    ...body,
    data: { object: Object.assign((body.data as { object: object }).object, session) },
  });
}

/** An event about a payment alone. */
const reports = (type: string, object: object) => receive({ type, created: 1_772_366_400, data: { object } });

async function receive(event: object, { intake } = runtime): Promise<void> {
  events += 1;
  const body = { ...event, id: `evt_${events}` };
  const signing = { secret: SECRETS["provider-a"], nowSeconds: Math.floor(Date.now() / 1000) };
  const { rawBody, headers } = signedDelivery("stripe", body, signing);
  const request = { rawBody, header: (header: string) => headers[header] };
  expect((await intake.receive("provider-a", request)).outcome).not.toBe("failed");
}

const buysOnce = (overrides: FixtureOverrides, paid: object = { invoice: null, payment_intent: null }) =>
  happens("checkout.session.completed", { subscriptionId: null, ...overrides }, { mode: "payment", ...paid });
const byIntent = (id: string) => ({ invoice: null, payment_intent: id });

const ofUser = (userId: string) =>
  test.rows(
    `select provider_subscription_id as id, is_one_time as "isOneTime", status, plan_id as "planId"
     from subscription where user_id = $1 order by is_one_time desc, created_at, id`,
    [userId],
  );

const PURCHASE = { id: null, isOneTime: true, status: "active", planId: "pro" };

it("a plan bought with a single payment outlives the person's subscriptions", async () => {
  const about = { userId: "user_0", subscriptionId: "sub_0" };
  await buysOnce({ userId: "user_0" });
  await happens("customer.subscription.created", { ...about, status: "active" });
  await happens("customer.subscription.deleted", { ...about, status: "canceled" });
  expect(await ofUser("user_0")).toEqual([
    PURCHASE,
    { ...PURCHASE, id: "sub_0", isOneTime: false, status: "canceled" },
  ]);
});

it("it is kept beside a subscription whose checkout has named none yet", async () => {
  await happens("checkout.session.completed", { userId: "user_1", subscriptionId: null });
  await buysOnce({ userId: "user_1" });
  expect(await ofUser("user_1")).toEqual([PURCHASE, { ...PURCHASE, isOneTime: false }]);
});

it.each(["after", "before"])(
  "a refund that arrives %s the purchase's event ends the access and frees the plan",
  async (when) => {
    const userId = when === "after" ? "user_2" : "user_3";
    const refund = () =>
      reports("refund.created", { id: `re_${when}`, payment_intent: `pi_${when}`, amount: 14500 });
    if (when === "before") await refund();
    await buysOnce({ userId }, byIntent(`pi_${when}`));
    if (when === "after") {
      expect(await subscriptionAccessOfUser(test.database, userId)).toMatchObject([
        { paymentReversal: null },
      ]);
      expect(await isSubscribed({ database: test.database, plans }, { userId, planId: "pro" })).toBe(true);
      expect(await isSubscribed({ database: test.database, plans }, { userId, planId: "team" })).toBe(false);
      await refund();
    }
    const [access] = await subscriptionAccessOfUser(test.database, userId);
    expect(access).toMatchObject({ paymentReversal: "refunded" });
    const all = { status: null, subscriptionId: null };
    expect(await paymentsOfUser(test.database, userId, all, { before: null, limit: 9 })).toMatchObject([
      { providerPaymentId: `pi_${when}`, subscriptionId: access?.id, amount: 14500, status: "refunded" },
    ]);
    expect(await isSubscribed({ database: test.database, plans }, { userId, planId: "pro" })).toBe(false);
  },
);

async function plansWithAccess(userId: string) {
  const all = await subscriptionAccessOfUser(test.database, userId);
  return all.filter(({ paymentReversal }) => paymentReversal === null).map(({ planId }) => planId);
}

/** The plans that the person's events have said one after another to give access. */
async function plansEmitted(userId: string) {
  await relayEvents({ database: test.database, ...ACCESS_CONTEXT });
  const events = await test.rows<{ plan: string | null }>(
    `select data -> 'entitlements' ->> 'planId' as plan from outbound_event
     where type = 'entitlements.changed' and user_id = $1 order by position`,
    [userId],
  );
  return events.map(({ plan }) => plan);
}

it("a purchase gives access and emits that, once more after its refund, but not when it is refunded before it is known", async () => {
  await buysOnce({ userId: "user_5" }, byIntent("pi_first"));
  await refund("pi_first");
  await buysOnce({ userId: "user_5" }, byIntent("pi_second"));
  expect(await plansEmitted("user_5")).toEqual(["pro", "free", "pro"]);
  await refund("pi_refunded");
  await buysOnce({ userId: "user_16" }, byIntent("pi_refunded"));
  expect(await plansEmitted("user_16")).not.toContain("pro");
});

const freeOfCharge = { invoice: null, payment_intent: null, payment_status: "no_payment_required" };
const refund = (of: string) =>
  reports("refund.created", { id: `re_${of}`, payment_intent: of, amount: 14500 });

it("a purchase free of charge after the refund of one gives access and emits that", async () => {
  await buysOnce({ userId: "user_6" }, byIntent("pi_before_free"));
  await refund("pi_before_free");
  await buysOnce({ userId: "user_6" }, freeOfCharge);
  await buysOnce({ userId: "user_6" }, freeOfCharge);
  expect(await plansEmitted("user_6")).toEqual(["pro", "free", "pro"]);
  expect(await ofUser("user_6")).toEqual([PURCHASE, PURCHASE]);
});

it("a purchase gives access and emits that where its invoice was paid before it was known", async () => {
  const buys = async (name: string) => {
    const invoice = { id: `in_${name}`, amount_paid: 14500, currency: "usd" };
    await reports("invoice_payment.paid", {
      invoice: invoice.id,
      payment: { payment_intent: `pi_${name}` },
    });
    await reports("invoice.paid", invoice);
    await buysOnce({ userId: "user_7" }, { invoice: invoice.id, payment_intent: `pi_${name}` });
  };
  await buys("invoiced");
  await refund("pi_invoiced");
  await buys("invoiced_again");
  expect(await plansEmitted("user_7")).toEqual(["pro", "free", "pro"]);
});

describe.each(["pro", "team"])("of two purchases, the second of %s,", (planId) => {
  const userId = planId === "pro" ? "user_8" : "user_9";
  const [first, second] = [`pi_${planId}_1`, `pi_${planId}_2`];

  it("each gives access until its own payment is refunded, in either order", async () => {
    await buysOnce({ userId }, byIntent(first));
    await buysOnce({ userId, planId }, byIntent(second));
    await refund(second);
    expect(await plansWithAccess(userId)).toEqual(["pro"]);
    expect(await liveSubscriptionOfUser(test.database, userId, plans)).toMatchObject({ planId: "pro" });
    await buysOnce({ userId, planId }, byIntent(`${second}_again`));
    await refund(first);
    expect(await plansWithAccess(userId)).toEqual([planId]);
    await refund(`${second}_again`);
    expect(await plansWithAccess(userId)).toEqual([]);
    expect((await plansEmitted(userId)).at(-1)).toBe("free");
  });

  it("none changes with an older event of another", async () => {
    await buysOnce({ userId, planId, occurredAt: new Date("2026-03-05") }, byIntent(`${second}_last`));
    const before = await ofUser(userId);
    await buysOnce({ userId }, byIntent(first));
    expect(await ofUser(userId)).toEqual(before);
    expect(await plansWithAccess(userId)).toEqual([planId]);
    const flagged = "select from subscription where user_id = $1 and out_of_order";
    expect(await test.rows(flagged, [userId])).toEqual([]);
  });
});

it("a purchase of which two servers receive an event at once is one", async () => {
  const other = await startTestRuntime(test.url);
  onTestFinished(() => other.close());
  const { body } = loadFixture("stripe", "checkout.session.completed", { ...IDS, userId: "user_10" });
  const session = { mode: "payment", subscription: null, ...byIntent("pi_at_once") };
  Object.assign((body.data as { object: object }).object, session);
  await Promise.all([runtime, other, runtime, other].map((server) => receive(body, server)));
  expect(await ofUser("user_10")).toEqual([PURCHASE]);
});

it("a payment that the provider names for two people is stored for both", async () => {
  for (const userId of ["user_13", "user_14"]) {
    await buysOnce({ userId }, byIntent("pi_of_two"));
    expect(await ofUser(userId)).toEqual([PURCHASE]);
  }
});

it("the late invoice of a purchase that names only the customer adds the receipt", async () => {
  await createSubscription(test, "user_15", { customer_id: "cus_15" });
  await buysOnce({ userId: null, customerId: "cus_15" }, { invoice: "in_15", payment_intent: "pi_15" });
  const receipt = "https://example.com/15";
  const invoice = { id: "in_15", amount_paid: 14500, currency: "usd", hosted_invoice_url: receipt };
  await reports("invoice.paid", invoice);
  const all = { status: null, subscriptionId: null };
  expect(await paymentsOfUser(test.database, "user_15", all, { before: null, limit: 9 })).toMatchObject([
    { providerPaymentId: "in_15", receiptUrl: receipt },
  ]);
});

it("a refund that was under way when its purchase became known ends the access and emits that", async () => {
  const reversal = { id: "re_under_way", kind: "refund", of: "pi_under_way", amount: 14500 } as const;
  const refunded: ReportedPayment = {
    provider: "provider-a",
    providerSubscriptionId: null,
    userId: null,
    eventId: null,
    occurredAtMicros: 1,
    isPersonGone: false,
    report: { charge: null, names: [], reversal },
  };
  await inTransaction(test.database, effectLimits({ leaseSeconds: 30 }), async (transaction) => {
    await transaction.run({ name: "begin_first", text: "select now()" });
    await buysOnce({ userId: "user_17" }, byIntent("pi_under_way"));
    await transaction.commitAfter([recordPayments(transaction, [refunded])]);
  });
  expect(await plansEmitted("user_17")).toEqual(["pro", "free"]);
});

describe("a purchase from before its payment was stored with it", () => {
  const at = new Date("2026-03-06");
  const stored = async (userId: string) => {
    const id = await createSubscription(test, userId, { is_one_time: true, provider_subscription_id: null });
    const micros = "update subscription set last_event_at_micros = $2 where id = $1";
    await test.rows(micros, [id, at.getTime() * 1000]);
  };

  it("ends with the refund of its payment once its event is replayed", async () => {
    await stored("user_11");
    await refund("pi_replayed");
    await buysOnce({ userId: "user_11", occurredAt: at }, byIntent("pi_replayed"));
    expect(await ofUser("user_11")).toEqual([PURCHASE]);
    expect(await plansWithAccess("user_11")).toEqual([]);
    expect((await plansEmitted("user_11")).at(-1)).toBe("free");
  });

  it("ends with the refund of its payment that was known before, and emits that", async () => {
    await stored("user_19");
    await reports("invoice_payment.paid", { invoice: "in_known", payment: { payment_intent: "pi_known" } });
    await reports("invoice.paid", { id: "in_known", amount_paid: 14500, currency: "usd" });
    await refund("pi_known");
    expect(await plansEmitted("user_19")).toEqual([]);
    await buysOnce(
      { userId: "user_19", occurredAt: at },
      { invoice: "in_known", payment_intent: "pi_known" },
    );
    expect(await plansWithAccess("user_19")).toEqual([]);
    expect(await plansEmitted("user_19")).toEqual(["free"]);
  });

  it("is not taken for another one, whose event is replayed or new", async () => {
    await stored("user_12");
    await buysOnce({ userId: "user_12", occurredAt: new Date("2026-03-05") }, byIntent("pi_older"));
    await buysOnce({ userId: "user_12", occurredAt: at, planId: "team" }, byIntent("pi_of_team"));
    await refund("pi_older");
    await refund("pi_of_team");
    expect(await plansWithAccess("user_12")).toEqual(["pro"]);
  });
});

it("records one payment for a purchase with an invoice", async () => {
  await reports("invoice_payment.paid", { invoice: "in_one", payment: { payment_intent: "pi_one" } });
  await buysOnce({ userId: "user_4" }, { invoice: "in_one", payment_intent: "pi_one" });
  await reports("charge.dispute.created", {
    id: "dp",
    amount: 14500,
    payment_intent: "pi_one",
    status: "needs_response",
  });
  expect(await subscriptionAccessOfUser(test.database, "user_4")).toMatchObject([
    { paymentReversal: "disputed" },
  ]);
  expect(await test.rows("select status from payment where user_id = 'user_4'")).toEqual([
    { status: "disputed" },
  ]);
});

it("a plan that a dispute leaves its buyer is not sold to them again", async () => {
  const keeping = definePlans(plans.plans.map((plan) => ({ ...plan, afterDispute: "keep_access" as const })));
  const order = { userId: "user_4", planId: "pro" };
  expect(await isSubscribed({ database: test.database, plans: keeping }, order)).toBe(true);
  expect(await isSubscribed({ database: test.database, plans }, order)).toBe(false);
});

it("a purchase that was taken back is the current one where its plan keeps access", async () => {
  const userId = "user_18";
  await buysOnce({ userId }, byIntent("pi_given"));
  await buysOnce({ userId, planId: "team" }, byIntent("pi_taken_back"));
  await refund("pi_taken_back");
  const current = (rule: "keep_access" | "end_access") => {
    const catalog = definePlans(plans.plans.map((plan) => ({ ...plan, afterRefund: rule })));
    return liveSubscriptionOfUser(test.database, userId, catalog);
  };
  expect(await current("end_access")).toMatchObject({ planId: "pro" });
  expect(await current("keep_access")).toMatchObject({ planId: "team" });
});

it("a checkout whose subscription is named later ends with its refund that was known before, and emits that", async () => {
  const about = { userId: "user_20", occurredAt: new Date("2026-03-01T12:00:00Z") };
  await happens("checkout.session.completed", { ...about, subscriptionId: null });
  const subscription = "sub_named_late";
  await reports("invoice_payment.paid", { invoice: "in_late", payment: { payment_intent: "pi_late" } });
  await reports("invoice.paid", {
    id: "in_late",
    amount_paid: 14500,
    currency: "usd",
    parent: { subscription_details: { subscription } },
  });
  await refund("pi_late");
  expect(await plansEmitted("user_20")).toEqual(["pro"]);
  await happens("customer.subscription.created", { ...about, subscriptionId: subscription });
  expect(await plansWithAccess("user_20")).toEqual([]);
  expect((await plansEmitted("user_20")).at(-1)).toBe("free");
});
