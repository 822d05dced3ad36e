import { describe, expect, it } from "vitest";
import { verifyText } from "../../src/cli/output/verify-text.ts";
import type { PaymentApi } from "../../src/domain/providers/payment-api.ts";
import type { ReconcileTools } from "../../src/reconcile/reconcile-tools.ts";
import type { VerificationOptions } from "../../src/reconcile/verification.ts";
import { verify } from "../../src/reconcile/verify.ts";
import { stripeContext } from "../support/stripe-context.ts";

const context = stripeContext();
const { eventOf, receive, truth, stored, audit, notified } = context;

const run = (options: Partial<VerificationOptions> = {}, tools: ReconcileTools = context.runtime) =>
  verify(tools, {
    slots: ["provider-a"],
    sample: null,
    repair: false,
    notify: false,
    progressed: () => {},
    ...options,
  });

/** One subscription per number, the same here and at the provider. */
async function agreeOn(count: number): Promise<void> {
  for (let n = 1; n <= count; n += 1) {
    const ids = { subscriptionId: `sub_${n}`, userId: `user_${n}`, customerId: `cus_${n}` };
    await receive(eventOf("customer.subscription.created", ids));
    truth(ids);
  }
}

const fetches = () => context.stripe.calls.filter((call) => call.startsWith("GET /v1/subscriptions/"));

describe("verify", () => {
  it("finds nothing when all match, and fetches none singly", async () => {
    await agreeOn(4);
    expect(await run()).toEqual({
      checked: 4,
      drift: [],
      repaired: 0,
      failed: [],
      isIncomplete: false,
      unconfigured: [],
    });
    expect(fetches()).toEqual([]);
  });

  it("reports each field that differs, with the last event, and changes nothing", async () => {
    await agreeOn(3);
    await context.test.rows(
      "update subscription set seats = 9, status = 'canceled' where provider_subscription_id = 'sub_2'",
    );
    const before = await stored();
    const { checked, drift, repaired } = await run();
    expect([checked, repaired]).toEqual([3, 0]);
    const [row] = await context.test.rows<{ id: string; event_id: string }>(
      `select s.id, d.event_id from subscription s, webhook_delivery d
       where s.provider_subscription_id = 'sub_2' and d.payload::text like '%sub_2%'`,
    );
    const identity = { kind: "subscription", id: row?.id, slot: "provider-a", providerId: "sub_2" };
    expect(drift).toEqual([
      { ...identity, field: "seats", ours: 9, theirs: 1, lastEventId: row?.event_id },
      { ...identity, field: "status", ours: "canceled", theirs: "active", lastEventId: row?.event_id },
    ]);
    expect(await stored()).toEqual(before);
  });

  it.each([
    ["listed", "/v1/subscriptions", {}],
    ["fetched", "/v1/subscriptions/sub_1", { sample: 1 }],
  ])("reports no difference that an event has settled since it was %s", async (_, listOrOne, options) => {
    await agreeOn(1);
    const answers = { "/v1/subscriptions": [...context.stripe.subscriptions.values()] };
    let isFirst = true;
    context.stripe.interfere(async ({ path }) => {
      if (path !== listOrOne || !isFirst) return undefined;
      isFirst = false;
      const changed = { userId: "user_1", customerId: "cus_1", seats: 5 };
      await receive(eventOf("customer.subscription.updated", changed));
      truth(changed);
      if (path !== "/v1/subscriptions") return undefined;
      return { status: 200, body: { object: "list", data: answers[path], has_more: false } };
    });
    expect(await run(options)).toMatchObject({ checked: 1, drift: [], failed: [] });
    expect(isFirst).toBe(false);
  });

  it("counts a subscription as failed that events keep it from comparing", async () => {
    await agreeOn(1);
    truth({ userId: "user_1", customerId: "cus_1", seats: 99 });
    let seats = 5;
    context.stripe.interfere(async ({ path }) => {
      if (path !== "/v1/subscriptions/sub_1") return undefined;
      seats += 1;
      await receive(eventOf("customer.subscription.updated", { customerId: "cus_1", seats }));
      return undefined;
    });
    const { drift, failed } = await run({ sample: 1 });
    expect([drift, failed]).toMatchObject([
      [],
      [{ providerId: "sub_1", reason: "new events keep arriving" }],
    ]);
  });

  it("repairs and records differences, is clean afterwards, and notifies users only on request", async () => {
    await agreeOn(3);
    const notifiedBefore = await notified();
    await context.test.rows("update subscription set status = 'past_due', seats = 5");
    expect(await run({ repair: true })).toMatchObject({ checked: 3, repaired: 3, failed: [] });
    expect(await stored()).toMatchObject([1, 2, 3].map(() => ({ status: "active", seats: 1 })));
    expect(await audit()).toHaveLength(3);
    expect(await notified()).toEqual(notifiedBefore);
    expect(await run()).toMatchObject({ drift: [], repaired: 0 });

    await context.test.rows("update subscription set told_standing = 'past_due', status = 'past_due'");
    await run({ repair: true, notify: true });
    expect((await notified()).length).toBe(notifiedBefore.length + 3);
  });

  it("does not count as repaired what an event has corrected, or recorded, meanwhile", async () => {
    await agreeOn(1);
    await context.test.rows("update subscription set seats = 9");
    const missing = { subscriptionId: "sub_2", userId: "user_2", customerId: "cus_2" };
    truth(missing);
    const api = context.runtime.payments["provider-a"] as PaymentApi;
    let asked = 0;
    const fetchSubscription: PaymentApi["fetchSubscription"] = async (id) => {
      asked += 1;
      // The first one is verification's own, the second one the repair's.
      if (asked === 2) await receive(eventOf("customer.subscription.updated", { seats: 1 }));
      return api.fetchSubscription(id);
    };
    const payments = { ...context.runtime.payments, "provider-a": { ...api, fetchSubscription } };
    const { database } = context.runtime.intake;
    // The event arrives once the subscription has been found to be missing.
    const intake = {
      ...context.runtime.intake,
      database: {
        ...database,
        connection: async () => {
          await receive(eventOf("customer.subscription.created", missing));
          return database.connection();
        },
      },
    };
    const report = await run({ repair: true }, { intake, payments });
    expect(report.drift).toHaveLength(2);
    expect(report).toMatchObject({ repaired: 0, failed: [] });
    expect(await audit()).toEqual([]);
  });

  it("reports a known user's subscription that only the provider has, and creates it by a repair", async () => {
    await agreeOn(1);
    truth({ subscriptionId: "sub_new", userId: "user_5", customerId: "cus_5", seats: 2 });
    truth({ subscriptionId: "sub_foreign", userId: "user_of_another_product", customerId: "cus_6" });
    truth({ subscriptionId: "sub_over", userId: "user_6", customerId: "cus_7", status: "canceled" });
    const missing = {
      kind: "subscription",
      id: null,
      slot: "provider-a",
      providerId: "sub_new",
      field: "status",
      ours: null,
      theirs: "active",
      lastEventId: null,
    };
    expect(await run()).toMatchObject({ checked: 2, drift: [missing] });
    expect(await run({ repair: true })).toMatchObject({ repaired: 1, failed: [] });
    expect(await stored()).toMatchObject([{ user_id: "user_1" }, { user_id: "user_5", seats: 2 }]);
    expect(await notified()).toEqual(["subscription_activated"]);
    const audited = await context.test.rows(
      `select action, details from audit_entry where target_id =
         (select id::text from subscription where provider_subscription_id = 'sub_new')`,
    );
    expect(audited).toEqual([{ action: "subscription.reconciled", details: { outcome: "adopted" } }]);
    expect(await run()).toMatchObject({ checked: 2, drift: [] });
    // An event from before the provider was asked is late from then on.
    const ids = { subscriptionId: "sub_new", userId: "user_5", customerId: "cus_5" };
    await receive(eventOf("customer.subscription.created", { ...ids, seats: 3 }));
    expect(await stored()).toMatchObject([{}, { seats: 3, out_of_order: true }]);
  });

  it("goes on with the others when one cannot be created", async () => {
    await agreeOn(1);
    for (const n of [2, 3])
      truth({ subscriptionId: `sub_${n}`, userId: `user_${n}`, customerId: `cus_${n}` });
    context.refuseChangesOf("user_2");
    expect(await run({ repair: true })).toMatchObject({
      checked: 3,
      repaired: 1,
      failed: [{ providerId: "sub_2", reason: 'withSubscriptionChange of plugin "refusing" failed' }],
      isIncomplete: true,
    });
    expect(await stored()).toMatchObject([{ user_id: "user_1" }, { user_id: "user_3" }]);
  });

  it("reports a price that no plan has with the plan that is stored", async () => {
    await agreeOn(1);
    truth({
      subscriptionId: "sub_1",
      userId: "user_1",
      customerId: "cus_1",
      priceId: "price_unknown",
      planId: null,
    });
    const [{ plan_id: planId } = { plan_id: "" }] = await context.test.rows<{ plan_id: string }>(
      "select plan_id from subscription",
    );
    expect((await run()).drift).toMatchObject([{ field: "planId", ours: planId, theirs: "price_unknown" }]);
  });

  it("reports what cannot be repaired, with the reason, and goes on", async () => {
    await agreeOn(3);
    const unknown = { priceId: "price_of_nobody", planId: null };
    truth({ subscriptionId: "sub_1", userId: "user_1", customerId: "cus_1", ...unknown });
    truth({ subscriptionId: "sub_4", userId: "user_4", customerId: "cus_4", ...unknown });
    await context.test.rows("update subscription set seats = 9 where provider_subscription_id <> 'sub_1'");
    context.refuseChangesOf("user_2");
    const { drift, repaired, failed } = await run({ repair: true });
    expect(drift).toHaveLength(4);
    expect(repaired).toBe(1);
    const slot = "provider-a";
    const reason = 'no plan has the price "price_of_nobody"';
    expect(failed).toHaveLength(3);
    expect(failed).toEqual(
      expect.arrayContaining([
        { slot, providerId: "sub_1", reason },
        { slot, providerId: "sub_2", reason: 'withSubscriptionChange of plugin "refusing" failed' },
        { slot, providerId: "sub_4", reason: expect.stringContaining("price_of_nobody") },
      ]),
    );
  });

  it("reports a missing subscription that names no user, of a customer who is known", async () => {
    await agreeOn(1);
    for (const [subscriptionId, customerId] of [
      ["sub_new", "cus_1"],
      ["sub_foreign", "cus_6"],
    ] as const) {
      truth({ subscriptionId, customerId });
      Object.assign(context.stripe.subscriptions.get(subscriptionId) as object, { metadata: {} });
    }
    const drift = { id: null, providerId: "sub_new", field: "status", ours: null, theirs: "active" };
    expect(await run()).toMatchObject({ checked: 2, drift: [drift] });
    expect(await run({ repair: true })).toMatchObject({ repaired: 1, failed: [] });
    expect(await stored()).toMatchObject([{ user_id: "user_1" }, { user_id: "user_1" }]);
  });

  it("reports a subscription that the provider does not know, and cannot repair it", async () => {
    await agreeOn(2);
    context.stripe.subscriptions.delete("sub_2");
    const drift = { providerId: "sub_2", field: "providerSubscriptionId", ours: "sub_2", theirs: null };
    expect(await run()).toMatchObject({ checked: 2, drift: [drift], failed: [] });
    expect(await run({ repair: true })).toMatchObject({ repaired: 0, failed: [{ providerId: "sub_2" }] });
  });

  it("checks a subscription once that the provider's pages list twice", async () => {
    await agreeOn(2);
    await context.test.rows("update subscription set seats = 5 where provider_subscription_id = 'sub_1'");
    const api = context.runtime.payments["provider-a"] as PaymentApi;
    const listSubscriptionPage: PaymentApi["listSubscriptionPage"] = async (position, options) => ({
      ...(await api.listSubscriptionPage(null, options)),
      next: position === null ? "the same again" : null,
    });
    const payments = { ...context.runtime.payments, "provider-a": { ...api, listSubscriptionPage } };
    expect(await run({ repair: true }, { ...context.runtime, payments })).toMatchObject({
      checked: 2,
      drift: [{ providerId: "sub_1", field: "seats" }],
      repaired: 1,
    });
  });

  it("fetches a sample of the given size singly", async () => {
    await agreeOn(5);
    expect(await run({ sample: 2 })).toMatchObject({ checked: 2, drift: [] });
    expect(fetches()).toHaveLength(2);
    expect(await run({ sample: 50 })).toMatchObject({ checked: 5 });
  });

  it("reports what of a sample differs, and what the provider refuses to show", async () => {
    await agreeOn(3);
    await context.test.rows("update subscription set seats = 9");
    context.stripe.interfere(async ({ path }) =>
      path === "/v1/subscriptions/sub_2" ? { status: 403 } : undefined,
    );
    const { checked, drift, failed } = await run({ sample: 3 });
    expect([checked, drift.map(({ providerId }) => providerId).sort()]).toEqual([2, ["sub_1", "sub_3"]]);
    expect(failed).toEqual([
      { slot: "provider-a", providerId: "sub_2", reason: expect.stringContaining("as the test has it") },
    ]);
  });

  it("reports a slot whose provider is unreachable, and one without a provider", async () => {
    await agreeOn(1);
    context.stripe.interfere(async () => ({ status: 500 }));
    expect(await run({ slots: ["provider-a", "provider-b"] })).toMatchObject({
      checked: 0,
      failed: [{ slot: "provider-a", providerId: null, reason: expect.stringContaining("Stripe") }],
      unconfigured: ["provider-b"],
    });
  });

  it("reports a slot that has subscriptions or payments, but no provider", async () => {
    await agreeOn(1);
    const slots = ["provider-b", "provider-c"] as const;
    const failure = (slot: string) => ({
      slot,
      providerId: null,
      reason: "no payment provider is configured",
    });
    await context.test.rows("update subscription set provider = 'provider-b'");
    await context.test.rows(`insert into payment (provider, provider_payment_id, amount, currency, state, status, occurred_at)
      values ('provider-c', 'order_1', 2000, 'EUR', 'paid', 'paid', now())`);
    const report = await run({ slots });
    expect(report.failed).toEqual(slots.map(failure));
    for (const slot of slots) expect(verifyText(report).split(slot)).toHaveLength(2);
  });
});
