import { beforeEach, describe, expect, it } from "vitest";
import type { PaymentEvent } from "../../src/domain/events/payment-event.ts";
import type { PaymentApi } from "../../src/domain/providers/payment-api.ts";
import { compareChanged } from "../../src/reconcile/compare-changed.ts";
import { insertUnwanted } from "../../src/store/subscriptions/unwanted-subscriptions.ts";
import { writtenChanges } from "../support/stored-events.ts";
import { stripeContext } from "../support/stripe-context.ts";

const context = stripeContext();
const { eventOf, receive, truth, stored, audit, notified, refuseChangesOf } = context;

const SECOND = { subscriptionId: "sub_2", userId: "user_2", customerId: "cus_2" };

const run = (isStopping = () => false, { dryRun = false } = {}) => {
  const { intake, payments } = context.runtime;
  const api = payments["provider-a"] as PaymentApi;
  return compareChanged(intake, "provider-a", api, { since: new Date(0), dryRun, by: "server", isStopping });
};

describe("comparing the subscriptions that have changed at a provider", () => {
  it("corrects those that differ and leaves the others alone", async () => {
    await receive(eventOf("customer.subscription.created"));
    await receive(eventOf("customer.subscription.created", SECOND));
    truth({ status: "past_due" });
    truth(SECOND);
    expect(await run()).toEqual({ listed: 2, corrected: 1, adopted: 0, payments: 0 });
    expect(await stored()).toMatchObject([{ status: "past_due" }, { status: "active" }]);
    expect(await audit()).toMatchObject([{ by: "server", changes: { status: ["active", "past_due"] } }]);
    expect(await notified()).toContain("subscription_past_due");
  });

  it("counts none as corrected or recorded whose price no plan has", async () => {
    await receive(eventOf("customer.subscription.created"));
    const unknown = { priceId: "price_of_nobody", planId: null };
    truth(unknown);
    truth({ ...SECOND, ...unknown });
    expect(await run()).toEqual({ listed: 2, corrected: 0, adopted: 0, payments: 0 });
    expect(await stored()).toMatchObject([{ user_id: "user_1", plan_id: "pro", out_of_order: true }]);
  });

  it("records users' subscriptions that no event has reported, once, and ended ones without notifications", async () => {
    truth({ seats: 4 });
    truth({ subscriptionId: "sub_foreign", userId: "user_of_another_product", customerId: "cus_9" });
    truth({ subscriptionId: "sub_over", userId: "user_3", customerId: "cus_3", status: "canceled" });
    expect(await run()).toEqual({ listed: 3, corrected: 0, adopted: 2, payments: 0 });
    expect(await stored()).toMatchObject([
      { user_id: "user_1", seats: 4 },
      { user_id: "user_3", status: "canceled" },
    ]);
    const { rows } = context.test;
    expect(await rows("select user_id from notification")).toEqual([{ user_id: "user_1" }]);
    const announced = await writtenChanges(context.test);
    expect(announced.map(({ after }) => after.userId)).toEqual(["user_1"]);
    expect(await run()).toMatchObject({ adopted: 0, corrected: 0 });
    // The events, if they come after all, are from before the provider was asked, and notify nobody again.
    await receive(eventOf("customer.subscription.created", { seats: 3 }));
    expect(await stored()).toMatchObject([{ seats: 3, out_of_order: true }, {}]);
    expect(await notified()).toEqual(["subscription_activated"]);
  });

  it("has what was paid for after its account was deleted canceled, unless it has ended", async () => {
    const { rows } = context.test;
    await rows("insert into deleted_user (id) values ('user_gone')");
    truth({ userId: "user_gone" });
    truth({ subscriptionId: "sub_over", userId: "user_gone", status: "canceled" });
    const otherProduct = { planId: null, priceId: "price_of_another_product" };
    truth({ subscriptionId: "sub_other", userId: "user_gone", ...otherProduct });
    await run(() => false, { dryRun: true });
    expect(await rows("select from unwanted_subscription")).toEqual([]);
    expect(await run()).toEqual({ listed: 3, corrected: 0, adopted: 0, payments: 0 });
    expect(await stored()).toEqual([]);
    expect(await rows("select provider_subscription_id, because from unwanted_subscription")).toEqual([
      { provider_subscription_id: "sub_1", because: "account_deleted" },
    ]);
  });

  it("has a deleted account's subscription canceled again that was resumed at the provider", async () => {
    const { rows } = context.test;
    await receive(eventOf("customer.subscription.created"));
    await rows("update subscription set user_id = null, cancel_at_period_end = true");
    truth({ userId: null });
    expect(await run()).toMatchObject({ corrected: 1 });
    expect(await rows("select provider_subscription_id, because from unwanted_subscription")).toEqual([
      { provider_subscription_id: "sub_1", because: "resumed" },
    ]);
  });

  it("has a deleted account's subscription canceled and refunded that was paid for since", async () => {
    const { rows } = context.test;
    await receive(eventOf("customer.subscription.created"));
    await rows("update subscription set user_id = null, status = 'incomplete'");
    truth({ userId: null });
    expect(await run()).toMatchObject({ corrected: 1 });
    expect(await rows("select provider_subscription_id, because from unwanted_subscription")).toEqual([
      { provider_subscription_id: "sub_1", because: "account_deleted" },
    ]);
  });

  describe("of a provider without a list of events, which does not say whose a subscription is", () => {
    const MINUTE_MS = 60_000;

    /** Compares a subscription to the plan Pro that nobody here has. Returns who is notified. */
    async function notifiedOf(
      state: Partial<PaymentEvent>,
      { dryRun = false, minutesOld = 6, listsEvents = false } = {},
    ): Promise<object[]> {
      const { intake, payments } = context.runtime;
      const stripe = payments["provider-a"] as PaymentApi;
      const changedAtMicros = (Date.now() - minutesOld * MINUTE_MS) * 1000;
      truth();
      const listSubscriptionPage: PaymentApi["listSubscriptionPage"] = async (position, options) => {
        const page = await stripe.listSubscriptionPage(position, options);
        const subscriptions = page.subscriptions.map((listed) => ({
          ...listed,
          state: listed.state && { ...listed.state, userId: null, changedAtMicros, ...state },
        }));
        return { ...page, subscriptions };
      };
      const listEvents = listsEvents ? stripe.listEvents : null;
      const api: PaymentApi = { ...stripe, listEvents, listSubscriptionPage };
      const options = { since: new Date(0), dryRun, by: "server", isStopping: () => false } as const;
      await compareChanged(intake, "provider-a", api, options);
      return context.test.rows("select user_id, kind, details from notification order by id");
    }

    beforeEach(() =>
      context.test.rows(
        `update "user" set role = 'admin', banned = id = 'user_8' where id in ('user_8', 'user_9')`,
      ),
    );

    it("notifies administrators once of a purchase whose events are lost", async () => {
      expect(await notifiedOf({}, { dryRun: true })).toEqual([]);
      const details = { provider: "provider-a", subscription: "sub_1" };
      const ownerUnknown = [{ user_id: "user_9", kind: "owner_unknown", details }];
      expect(await notifiedOf({})).toEqual(ownerUnknown);
      expect(await notifiedOf({})).toEqual(ownerUnknown);
      expect(await stored()).toEqual([]);
    });

    it("notifies whoever becomes an administrator later, too, and nobody again", async () => {
      const usersNotified = async () =>
        ((await notifiedOf({})) as { user_id: string }[]).map(({ user_id }) => user_id);
      expect(await usersNotified()).toEqual(["user_9"]);
      await context.test.rows(`update "user" set role = 'admin' where id = 'user_7'`);
      expect(await usersNotified()).toEqual(["user_9", "user_7"]);
      expect(await usersNotified()).toEqual(["user_9", "user_7"]);
    });

    it("does not notify them of one whose events may still be on their way, or be listed", async () => {
      expect(await notifiedOf({}, { minutesOld: 4 })).toEqual([]);
      expect(await notifiedOf({}, { listsEvents: true })).toEqual([]);
    });

    it("does not notify them of one that is canceled because its account was deleted", async () => {
      await insertUnwanted(context.test.database, [
        { provider: "provider-a", providerSubscriptionId: "sub_1" },
      ]);
      expect(await notifiedOf({ cancelAtPeriodEnd: true })).toEqual([]);
    });

    it.each([
      ["of another product", { items: [{ priceIds: ["price_of_another_product"], seats: 1 }] }],
      ["that has ended", { status: "canceled" }],
      ["that names a user of another product", { userId: "user_of_another_product" }],
      ["of which it does not say when it changed", { changedAtMicros: undefined }],
    ] as const)("does not notify them of one %s", async (_, state) => {
      expect(await notifiedOf(state)).toEqual([]);
    });
  });

  it("counts in a dry run what it would correct and record, and writes nothing", async () => {
    await receive(eventOf("customer.subscription.created"));
    truth({ status: "past_due" });
    truth(SECOND);
    const before = await stored();
    const report = await run(() => false, { dryRun: true });
    expect(report).toEqual({ listed: 2, corrected: 1, adopted: 1, payments: 0 });
    expect([await stored(), await audit()]).toEqual([before, []]);
  });

  it("goes on with the others when one cannot be corrected or recorded", async () => {
    await receive(eventOf("customer.subscription.created"));
    await receive(eventOf("customer.subscription.created", SECOND));
    truth({ status: "past_due" });
    truth({ ...SECOND, status: "past_due" });
    truth({ subscriptionId: "sub_3", userId: "user_3", customerId: "cus_3", seats: 4 });
    truth({ subscriptionId: "sub_4", userId: "user_4", customerId: "cus_4" });
    refuseChangesOf("user_1", "user_3");
    expect(await run()).toEqual({ listed: 4, corrected: 1, adopted: 1, payments: 0 });
    expect(await stored()).toMatchObject([
      { user_id: "user_1", status: "active" },
      { user_id: "user_2", status: "past_due" },
      { user_id: "user_4", status: "active" },
    ]);
  });

  it("goes on with the others when the provider's state of one has become unreadable", async () => {
    await receive(eventOf("customer.subscription.created"));
    await receive(eventOf("customer.subscription.created", SECOND));
    truth({ seats: 2 });
    truth({ ...SECOND, seats: 2 });
    const elated = { ...context.stripe.subscriptions.get("sub_1"), status: "elated" };
    context.stripe.interfere(async ({ path }) =>
      path === "/v1/subscriptions/sub_1" ? { status: 200, body: elated } : undefined,
    );
    expect(await run()).toMatchObject({ listed: 2, corrected: 1 });
    expect(await stored()).toMatchObject([{ seats: 1 }, { seats: 2 }]);
  });

  it("stops on request", async () => {
    truth();
    expect(await run(() => true)).toMatchObject({ listed: 0, adopted: 0 });
    expect(await stored()).toEqual([]);
  });
});
