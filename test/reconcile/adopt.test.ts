import { expect, it } from "vitest";
import type { PaymentEvent } from "../../src/domain/events/payment-event.ts";
import type { PaymentApi } from "../../src/domain/providers/payment-api.ts";
import { relayEvents } from "../../src/outbound/relay.ts";
import { adopt } from "../../src/reconcile/adopt.ts";
import { paymentEvents } from "../fixtures/payments.ts";
import { ACCESS_CONTEXT } from "../outbound/access-context.ts";
import { stripeContext } from "../support/stripe-context.ts";

const context = stripeContext();
const { eventOf, receive, truth, stored } = context;

/** Records sub_2 as the provider shows it, but for this. */
async function adoptSecond(differences: Partial<PaymentEvent>, notify = true): ReturnType<typeof adopt> {
  truth({ subscriptionId: "sub_2", customerId: "cus_1" });
  const { intake, payments } = context.runtime;
  const api = payments["provider-a"] as PaymentApi;
  const state = (await api.fetchSubscription("sub_2")) as PaymentEvent;
  const options = { askedAtMicros: Date.now() * 1000, by: "server", notify } as const;
  return adopt(intake, "provider-a", { ...state, ...differences }, options);
}

it("leaves a subscription whose user has deleted the account, or is unknown, and says why", async () => {
  await context.test.rows("insert into deleted_user (id) values ('user_gone')");
  expect(await adoptSecond({ userId: "user_gone" })).toEqual({
    outcome: "left",
    reason: "its user has deleted the account",
  });
  expect(await adoptSecond({ userId: "nobody" })).toMatchObject({ outcome: "left" });
  expect(await stored()).toEqual([]);
});

it.each([
  [true, "cus_1"],
  [false, null],
])(
  "keeps a customer id by which alone the person was found only if their address is confirmed (%s)",
  async (isConfirmed, customerId) => {
    await receive(eventOf("customer.subscription.created"));
    await context.test.rows(`update "user" set email_verified = $1 where id = 'user_1'`, [isConfirmed]);
    const [user] = await context.test.rows<{ email: string }>(`select email from "user" where id = 'user_1'`);
    const adoption = await adoptSecond({ userId: null, customerEmail: (user as { email: string }).email });
    expect(adoption).toMatchObject({ outcome: "adopted" });
    const second = "select user_id, customer_id from subscription where provider_subscription_id = 'sub_2'";
    expect(await context.test.rows(second)).toEqual([{ user_id: "user_1", customer_id: customerId }]);
  },
);

it.each([true, false])(
  "emits the end of access of a purchase that is named after its refund, where it notifies (%s)",
  async (notify) => {
    await receive(eventOf("checkout.session.completed", { subscriptionId: null }));
    const payment = { key: `adopted_${notify}`, subscriptionId: "sub_2" };
    for (const word of ["paid", "refunded"] as const)
      for (const { body } of paymentEvents("stripe", word, payment, new Date())) await receive(body);
    const relay = () => relayEvents({ database: context.test.database, ...ACCESS_CONTEXT });
    await relay();
    expect(await adoptSecond({}, notify)).toMatchObject({ outcome: "adopted" });
    await relay();
    const emitted = await context.test.rows<{ plan: string }>(
      `select data -> 'entitlements' ->> 'planId' as plan from outbound_event
       where type = 'entitlements.changed' order by position`,
    );
    // First that the period's end is known, where that is told.
    expect(emitted.map(({ plan }) => plan)).toEqual(notify ? ["pro", "pro", "free"] : ["pro"]);
  },
);
