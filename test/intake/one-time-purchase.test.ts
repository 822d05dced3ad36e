import { expect, it } from "vitest";
import plans from "../../plans.config.ts";
import { isSubscribed } from "../../src/billing/is-subscribed.ts";
import { definePlans } from "../../src/domain/plan.ts";
import { relayEvents } from "../../src/outbound/relay.ts";
import { paymentsOfUser } from "../../src/store/payment-list.ts";
import { subscriptionAccessOfUser } from "../../src/store/subscription-access.ts";
import { loadFixture, signedDelivery } from "../fixtures/fixture.ts";
import type { FixtureOverrides } from "../fixtures/overrides.ts";
import { ACCESS_CONTEXT } from "../outbound/access-context.ts";
import { freshRuntime } from "../support/fresh-runtime.ts";
import { SECRETS } from "../support/variables.ts";

const { test, runtime } = freshRuntime({ users: 7 });

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

async function receive(event: object): Promise<void> {
  events += 1;
  const body = { ...event, id: `evt_${events}` };
  const signing = { secret: SECRETS["provider-a"], nowSeconds: Math.floor(Date.now() / 1000) };
  const { rawBody, headers } = signedDelivery("stripe", body, signing);
  const request = { rawBody, header: (header: string) => headers[header] };
  expect((await runtime.intake.receive("provider-a", request)).outcome).not.toBe("failed");
}

const buysOnce = (overrides: FixtureOverrides, paid: object = { invoice: null, payment_intent: null }) =>
  happens("checkout.session.completed", { subscriptionId: null, ...overrides }, { mode: "payment", ...paid });
const byIntent = (id: string) => ({ invoice: null, payment_intent: id });

const ofUser = (userId: string) =>
  test.rows(
    `select provider_subscription_id as id, is_one_time as "isOneTime", status, plan_id as "planId"
     from subscription where user_id = $1 order by is_one_time desc`,
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
  const refund = (of: string) =>
    reports("refund.created", { id: `re_${of}`, payment_intent: of, amount: 14500 });
  await buysOnce({ userId: "user_5" }, byIntent("pi_first"));
  await refund("pi_first");
  await buysOnce({ userId: "user_5" }, byIntent("pi_second"));
  expect(await plansEmitted("user_5")).toEqual(["pro", "free", "pro"]);
  expect(await plansEmitted("user_3")).not.toContain("pro");
});

it("a purchase free of charge gives access after the refund of the one before", async () => {
  await buysOnce(
    { userId: "user_2" },
    { ...byIntent("unused"), payment_intent: null, payment_status: "no_payment_required" },
  );
  expect(await subscriptionAccessOfUser(test.database, "user_2")).toMatchObject([{ paymentReversal: null }]);
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
