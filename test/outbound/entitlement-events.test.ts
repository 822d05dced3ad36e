import { beforeEach, expect, it } from "vitest";
import plans from "../../plans.config.ts";
import { endGrace } from "../../src/billing/end-grace.ts";
import { OPERATOR } from "../../src/domain/callers/caller.ts";
import { subscriptionChange } from "../../src/domain/outbound/subscription-change.ts";
import type { Charge } from "../../src/domain/payments/payment.ts";
import type { Subscription } from "../../src/domain/subscriptions/subscription.ts";
import { currentEntitlements, entitlementsView } from "../../src/operations/entitlements/current-view.ts";
import { relayEvents } from "../../src/outbound/relay.ts";
import { compare } from "../../src/reconcile/compare.ts";
import { findEntitlementFacts } from "../../src/runtime/find-entitlement-facts.ts";
import { insertOutboundChanges } from "../../src/store/outbound/outbound-changes.ts";
import { recordPayments } from "../../src/store/payments/record-payments.ts";
import { findReconcilable } from "../../src/store/reconciliation/reconciliations.ts";
import { lockFreeSubscriptions } from "../../src/store/subscriptions/subscription-locks.ts";
import { updateSubscriptions } from "../../src/store/subscriptions/subscriptions.ts";
import { inTransaction } from "../../src/store/transaction.ts";
import { fixtureDelivery, signedDelivery } from "../fixtures/fixture.ts";
import type { FixtureOverrides } from "../fixtures/overrides.ts";
import { freshRuntime } from "../support/fresh-runtime.ts";
import { createSubscription } from "../support/subscriptions.ts";
import { SECRETS } from "../support/variables.ts";
import { ACCESS_CONTEXT } from "./access-context.ts";

const CREATED = "customer.subscription.created";
const UPDATED = "customer.subscription.updated";
const DELETED = "customer.subscription.deleted";
const DAY_MS = 86_400_000;
const LIMITS = {
  synchronousCommit: "on",
  lockTimeoutMs: 5_000,
  statementTimeoutMs: 5_000,
  idleTimeoutMs: 5_000,
} as const;
const PRO = { planId: "pro", priceId: "price_pro_monthly", seats: 1 };
const TEAM = { planId: "team", priceId: "price_team_monthly", seats: 5 };
const START = Date.now() - DAY_MS / 2;
const NEXT_MONTH = new Date(Date.now() + 30 * DAY_MS);

const { test, runtime } = freshRuntime({ users: 20 });
beforeEach(async () => {
  await test.rows(
    "truncate webhook_attempt, webhook_delivery, outbound_change_set, outbound_event, payment, payment_name",
  );
  await test.rows("delete from subscription");
});

let count = 0;

async function receive(kind: string, overrides: FixtureOverrides): Promise<void> {
  count += 1;
  const { rawBody, headers } = fixtureDelivery("stripe", kind, {
    secret: SECRETS["provider-a"],
    nowSeconds: Math.floor(Date.now() / 1000),
    eventId: `evt_${count}`,
    subscriptionId: "sub",
    customerId: "cus",
    userId: "user_1",
    occurredAt: new Date(START + count * 1_000),
    currentPeriodEnd: NEXT_MONTH,
    ...PRO,
    ...(kind === DELETED ? {} : { status: "active" }),
    ...overrides,
  });
  const result = await runtime.intake.receive("provider-a", { rawBody, header: (name) => headers[name] });
  expect(result).toMatchObject({ outcome: "applied" });
}

type Entitled = { planId: string; status: string | null; until: string | null; features: object };
type Emitted = { userId: string | null; externalId: string | null; entitlements: Entitled };

async function emitted(context = ACCESS_CONTEXT): Promise<Emitted[]> {
  await relayEvents({ database: test.database, ...context });
  const rows = await test.rows<{ data: Emitted }>(
    "select data from outbound_event where type = 'entitlements.changed' order by position",
  );
  return rows.map(({ data }) => data);
}

const inShort = async (context = ACCESS_CONTEXT) =>
  (await emitted(context)).map(({ entitlements: { planId, status } }) => `${planId} ${status}`);

it("emits the entitlements as REST shows them, once per change", async () => {
  await test.rows(`update "user" set external_id = 'customer-17' where id = 'user_1'`);
  await receive(CREATED, {});
  await receive(UPDATED, {});
  const [event, ...others] = await emitted();
  expect(others).toEqual([]);
  const deps = { ...ACCESS_CONTEXT, findEntitlementFacts: findEntitlementFacts(test.database) };
  const view = entitlementsView(await currentEntitlements(deps, "user_1"));
  expect(event).toEqual({
    userId: "user_1",
    externalId: "customer-17",
    entitlements: JSON.parse(JSON.stringify(view)),
  });
});

it("emits for the plan, the status and the period, in order", async () => {
  await receive(CREATED, { status: "incomplete" });
  await receive(UPDATED, {});
  await receive(UPDATED, { currentPeriodEnd: new Date(NEXT_MONTH.getTime() + DAY_MS) });
  await receive(UPDATED, TEAM);
  await receive(UPDATED, { ...TEAM, status: "past_due" });
  await receive(DELETED, TEAM);
  expect(await inShort()).toEqual([
    "free incomplete",
    "pro active",
    "pro active",
    "team active",
    "team past_due",
    "free null",
  ]);
});

it("emits one event per change when the changes are applied in one group", async () => {
  await Promise.all([receive(CREATED, {}), receive(UPDATED, TEAM), receive(UPDATED, PRO)]);
  expect(await inShort()).toEqual(["pro active", "team active", "pro active"]);
});

it("emits nothing when the entitlements stay the same", async () => {
  await receive(CREATED, TEAM);
  await test.rows("truncate outbound_change_set, outbound_event");
  await receive(UPDATED, { ...TEAM, seats: 9 });
  await receive(UPDATED, { ...TEAM, seats: 9, cancelAtPeriodEnd: true });
  expect(await emitted()).toEqual([]);
  const leftovers = await test.rows(
    "select seq from outbound_change_set union all select seq from outbound_event where position is null",
  );
  expect(leftovers).toEqual([]);
});

it("emits nothing when another subscription of the user still grants the same", async () => {
  await receive(CREATED, { ...PRO, subscriptionId: "older", customerId: "older" });
  await receive(CREATED, TEAM);
  expect(await inShort()).toEqual(["pro active", "team active"]);
  await receive(DELETED, { ...PRO, subscriptionId: "older", customerId: "older" });
  expect(await inShort()).toEqual(["pro active", "team active"]);
});

it("emits when two transactions that do not see each other end a user's subscriptions", async () => {
  await receive(CREATED, { subscriptionId: "one" });
  await receive(CREATED, { subscriptionId: "two" });
  await emitted();
  await test.rows("truncate outbound_change_set, outbound_event");
  const bothWritten = Promise.withResolvers<void>();
  let written = 0;
  const end = (providerSubscriptionId: string) =>
    inTransaction(test.database, LIMITS, async (transaction) => {
      const link = {
        provider: "provider-a",
        providerSubscriptionId,
        userId: null,
        customerId: null,
      } as const;
      const [before] = (await lockFreeSubscriptions(transaction, [link])) as [Subscription];
      const after = { ...before, status: "canceled" } as const;
      await Promise.all([
        updateSubscriptions(transaction, [after]),
        ...insertOutboundChanges(transaction, [subscriptionChange(before, after)]),
      ]);
      written += 1;
      if (written === 2) bothWritten.resolve();
      await bothWritten.promise;
      await transaction.commitAfter([]);
    });
  await Promise.all([end("one"), end("two")]);
  expect((await inShort()).at(-1)).toBe("free null");
});

it("emits for both users when a subscription moves to another user", async () => {
  await receive(CREATED, {});
  await receive(UPDATED, { userId: "user_2" });
  const events = (await emitted()).map(({ userId, entitlements }) => `${userId} ${entitlements.planId}`);
  expect(events).toEqual(["user_1 pro", "user_1 free", "user_2 pro"]);
});

const BOTH = ["true", "false"].map((notify) => ({ notify: notify === "true" }));

it.each(BOTH)("emits for a correction only with notifications: $notify", async ({ notify }) => {
  await receive(CREATED, {});
  await test.rows("truncate outbound_change_set, outbound_event");
  const [row] = await test.rows<{ id: string }>("select id from subscription");
  const reconcilable = await findReconcilable(test.database, row?.id as string);
  const state = {
    kind: UPDATED,
    providerSubscriptionId: "sub",
    customerId: "cus",
    userId: null,
    planId: null,
    items: [{ priceIds: ["price_team_monthly"], seats: 5 }],
    status: "active",
    currentPeriodEnd: null,
    cancelAtPeriodEnd: null,
    occurredAtMicros: null,
  };
  const api = { fetchSubscription: async () => state as never };
  const options = { by: OPERATOR, audit: "changes", dryRun: false, notify } as const;
  await compare(runtime.intake, api, reconcilable as never, options);
  expect(await inShort()).toEqual(notify ? ["team active"] : []);
});

async function pay(id: string, refunded: number | null, micros: number, day: number): Promise<void> {
  const charge: Charge = {
    id,
    amount: 1900,
    currency: "EUR",
    refundedAmount: refunded,
    state: "paid",
    periodStart: null,
    periodEnd: null,
    receiptUrl: null,
    occurredAt: new Date(Date.UTC(2026, 0, day)),
  };
  await inTransaction(test.database, LIMITS, async (transaction) => {
    await recordPayments(transaction, [
      {
        provider: "provider-a",
        report: { names: [], charge, reversal: null },
        occurredAtMicros: micros,
        providerSubscriptionId: "sub",
        userId: "user_1",
        isPersonGone: false,
        eventId: null,
      },
    ]);
    await transaction.commitAfter([]);
  });
}

it("emits when a full refund ends access, and when the next payment restores it", async () => {
  // Of others, at the same provider and by the same id at another one.
  await createSubscription(test, "user_2", { provider_subscription_id: "else" });
  await createSubscription(test, "user_3", { provider: "provider-b", provider_subscription_id: "sub" });
  await receive(CREATED, {});
  await pay("in_1", null, 1, 1);
  await pay("in_1", 500, 2, 1);
  expect(await inShort()).toEqual(["pro active"]);
  await pay("in_1", 1900, 3, 1);
  expect(await inShort()).toEqual(["pro active", "free active"]);
  await pay("in_2", null, 4, 2);
  expect(await inShort()).toEqual(["pro active", "free active", "pro active"]);
  expect((await emitted()).map(({ userId }) => userId)).toEqual(Array(3).fill("user_1"));
  // An older payment decides nothing.
  await pay("in_1", null, 5, 1);
  expect(await inShort()).toHaveLength(3);
});

it("emits nothing when a payment that was refunded is disputed, where a dispute alone keeps access", async () => {
  const keeping = { plans: plans.plans.map((plan) => ({ ...plan, afterDispute: "keep_access" as const })) };
  const context = { ...ACCESS_CONTEXT, plans: keeping };
  await receive(CREATED, {});
  await pay("in_both", null, 1, 1);
  await pay("in_both", 1900, 2, 1);
  expect(await inShort(context)).toEqual(["pro active", "free active"]);
  for (const [status, expected] of [
    ["needs_response", "disputed"],
    ["won", "refunded"],
  ] as const) {
    await dispute("in_both", status);
    expect(await test.rows("select status from payment")).toEqual([{ status: expected }]);
    expect(await inShort(context)).toHaveLength(2);
  }
});

it("emits that access ends when a disputed payment is refunded, where a dispute alone keeps access", async () => {
  const keeping = { plans: plans.plans.map((plan) => ({ ...plan, afterDispute: "keep_access" as const })) };
  const context = { ...ACCESS_CONTEXT, plans: keeping };
  await receive(CREATED, {});
  await pay("in_1", null, 1, 1);
  await dispute("in_1", "needs_response");
  expect(await inShort(context)).toEqual(["pro active"]);
  await pay("in_1", 1900, 2, 1);
  expect(await test.rows("select status, is_refunded from payment")).toEqual([
    { status: "disputed", is_refunded: true },
  ]);
  expect(await inShort(context)).toEqual(["pro active", "free active"]);
  // Its status is still that which has been reported.
  const reported = "select type from outbound_event where type like 'payment.%' order by id";
  expect((await test.rows(reported)).map(({ type }) => type)).toEqual(["payment.paid", "payment.disputed"]);
});

async function dispute(charge: string, status: string): Promise<void> {
  count += 1;
  const body = {
    id: `evt_${count}`,
    type: "charge.dispute.updated",
    created: Math.floor(START / 1000) + count,
    data: { object: { id: `dp_${charge}`, amount: 1900, charge, status } },
  };
  const signing = { secret: SECRETS["provider-a"], nowSeconds: Math.floor(Date.now() / 1000) };
  const { rawBody, headers } = signedDelivery("stripe", body, signing);
  await runtime.intake.receive("provider-a", { rawBody, header: (name) => headers[name] });
}

const endAt = (now: Date) => endGrace({ database: test.database, plans }, { now, isStopping: () => false });

it("emits once when a grace period is over", async () => {
  await receive(CREATED, {});
  await receive(UPDATED, { status: "past_due", occurredAt: new Date() });
  expect(await inShort()).toEqual(["pro active", "pro past_due"]);
  await endAt(new Date(Date.now() + 6 * DAY_MS));
  expect(await inShort()).toHaveLength(2);
  const over = new Date(Date.now() + 7 * DAY_MS + 1_000);
  await Promise.all([endAt(over), endAt(over)]);
  expect(await inShort()).toEqual(["pro active", "pro past_due", "free past_due"]);
  await endAt(over);
  expect(await inShort()).toHaveLength(3);
});

it("emits the end of everybody's grace period, whatever has been emitted of others since", async () => {
  const daysAgo = (days: number) => new Date(Date.now() - days * DAY_MS).toISOString();
  const pastDue = { status: "past_due", past_due_since: daysAgo(8), created_at: daysAgo(60) };
  // With the account deleted, nobody is left whose entitlements the first one could change.
  for (const userId of [null, "user_2"]) await createSubscription(test, userId, pastDue);
  await receive(CREATED, {});
  expect(await emitted()).toMatchObject([{ userId: "user_1" }]);
  await endAt(new Date());
  expect(await emitted()).toMatchObject([{ userId: "user_1" }, { userId: "user_2" }]);
});

it("emits the end of a grace period although it has been paid before that was relayed", async () => {
  const daysAgo = (days: number) => new Date(Date.now() - days * DAY_MS).toISOString();
  const pastDue = { status: "past_due", past_due_since: daysAgo(8), created_at: daysAgo(60) };
  await createSubscription(test, "user_1", { ...pastDue, provider_subscription_id: "sub" });
  await endAt(new Date());
  await receive(UPDATED, { occurredAt: new Date() });
  expect(await inShort()).toEqual(["free past_due", "pro active"]);
});

it("emits the end of a grace period although something else has been emitted of its person since", async () => {
  const daysAgo = (days: number) => new Date(Date.now() - days * DAY_MS).toISOString();
  const pastDue = { status: "past_due", past_due_since: daysAgo(8), created_at: daysAgo(60) };
  await createSubscription(test, "user_1", pastDue);
  await test.rows(`update "user" set name = 'Renamed' where id = 'user_1'`);
  expect(await emitted()).toEqual([]);
  await endAt(new Date());
  expect(await emitted()).toMatchObject([{ userId: "user_1" }]);
});

it("records the end of all grace periods in one run, however many they are", async () => {
  await test.rows(
    `insert into subscription (id, user_id, provider, provider_subscription_id, plan_id, seats, status, past_due_since,
       cancel_at_period_end, out_of_order, created_at)
     select gen_random_uuid(), 'user_' || n % 20, 'provider-a', 'sub_' || n, 'pro', 1, 'past_due', now() - interval '8 days', false, false,
       now() - interval '60 days'
     from generate_series(1, 501) as n`,
  );
  await endAt(new Date());
  expect(await test.rows("select count(*)::int from grace_reminder where stage = 'over'")).toEqual([
    { count: 501 },
  ]);
});

it("emits no end of a grace period that was over before the subscription became known", async () => {
  const since = new Date(Date.now() - 8 * DAY_MS).toISOString();
  await createSubscription(test, "user_1", { status: "past_due", past_due_since: since });
  await endAt(new Date());
  expect(await emitted()).toEqual([]);
});

it("emits the end of each grace period of a subscription", async () => {
  const daysAgo = (days: number) => new Date(Date.now() - days * DAY_MS).toISOString();
  const pastDue = { status: "past_due", past_due_since: daysAgo(8), created_at: daysAgo(60) };
  const id = await createSubscription(test, "user_1", pastDue);
  const earlier =
    "insert into grace_reminder (subscription_id, past_due_since, stage) values ($1, $2, 'over')";
  await test.rows(earlier, [id, daysAgo(40)]);
  await endAt(new Date());
  expect(await emitted()).toMatchObject([{ userId: "user_1", entitlements: { planId: "free" } }]);
});

it("emits the end of a grace period of which somebody was reminded, and of a plan that is no longer listed", async () => {
  const daysAgo = (days: number) => new Date(Date.now() - days * DAY_MS).toISOString();
  const pastDue = (days: number) => ({
    status: "past_due",
    past_due_since: daysAgo(days),
    created_at: daysAgo(60),
  });
  const reminded = await createSubscription(test, "user_1", pastDue(8));
  await test.rows(
    `insert into grace_reminder (subscription_id, past_due_since, stage)
     select id, past_due_since, 'middle' from subscription where id = $1`,
    [reminded],
  );
  await createSubscription(test, "user_2", { ...pastDue(8), plan_id: "former" });
  await createSubscription(test, "user_3", { ...pastDue(6), plan_id: "former" });
  await endAt(new Date());
  const over = await test.rows<{ user_id: string }>(
    `select s.user_id from grace_reminder g join subscription s on s.id = g.subscription_id
     where g.stage = 'over' order by 1`,
  );
  expect(over).toEqual([{ user_id: "user_1" }, { user_id: "user_2" }]);
  expect((await emitted()).map(({ userId }) => userId)).toContain("user_1");
});

it("emits no end of a grace period of a subscription that seems active until it is compared", async () => {
  const columns = {
    past_due_since: new Date(Date.now() - 8 * DAY_MS).toISOString(),
    created_at: new Date(Date.now() - 60 * DAY_MS).toISOString(),
  };
  await createSubscription(test, "user_1", { ...columns, status: "active", out_of_order: true });
  await endAt(new Date());
  expect(await test.rows("select from grace_reminder")).toEqual([]);
});

it("emits nothing when the grace period is already over as the failed renewal is reported", async () => {
  await receive(CREATED, { occurredAt: new Date(Date.now() - 9 * DAY_MS) });
  await receive(UPDATED, { status: "past_due", occurredAt: new Date(Date.now() - 8 * DAY_MS) });
  expect(await inShort()).toEqual(["pro active", "free past_due"]);
  await test.rows("update subscription set created_at = now() - interval '60 days'");
  await endAt(new Date());
  expect(await inShort()).toHaveLength(2);
});
