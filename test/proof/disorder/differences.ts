import { isDeepStrictEqual } from "node:util";
import { SLOTS, type Slot } from "../../../src/domain/slot.ts";
import type { Shop } from "./shop.ts";

type Facts = { provider: Slot; providerSubscriptionId: string; payments: string[] } & Record<string, unknown>;

export type Difference = { expected: Facts; stored: Facts | null };

/**
 * Which subscriptions, with their payments, are not as their provider has them.
 * @param ids the provider's ids of the subscriptions to compare; `null`: all
 */
export async function findDifferences(
  { sim, test, format }: Shop,
  ids: ReadonlySet<string> | null,
): Promise<Difference[]> {
  const rows = await test.rows<Facts>(
    `select provider, user_id as "userId", provider_subscription_id as "providerSubscriptionId", plan_id as "planId", seats,
       status, cancel_at_period_end as "cancelAtPeriodEnd", out_of_order as "outOfOrder", array(
         select p.provider_payment_id || ' ' || p.amount || ' ' || p.currency || ' ' || p.status from payment p
         where p.provider = subscription.provider and p.provider_subscription_id = subscription.provider_subscription_id
       ) as payments
     from subscription where provider_subscription_id = any (coalesce($1::text[], array[provider_subscription_id]))`,
    [ids === null ? null : [...ids]],
  );
  const storedOf = new Map(
    rows.map((row) => [row.providerSubscriptionId, { ...row, payments: row.payments.toSorted() }]),
  );
  return SLOTS.flatMap((slot) => {
    const paymentsOf = Map.groupBy(sim.payments(slot), (payment) => payment.providerSubscriptionId);
    return sim.subscriptions(slot).flatMap((subscription) => {
      const id = subscription.providerSubscriptionId;
      if (ids !== null && !ids.has(id)) return [];
      const stored = storedOf.get(id) ?? null;
      // Lemon Squeezy names users in deliveries only: without one, the subscription's user is unknown.
      if (stored === null && format === "lemon-squeezy") return [];
      const payments = (paymentsOf.get(id) ?? [])
        .map((payment) =>
          [payment.providerPaymentId, payment.amount, payment.currency, payment.status].join(" "),
        )
        .sort();
      const expected = { provider: slot, ...subscription, outOfOrder: false, payments };
      return isDeepStrictEqual(stored, expected) ? [] : [{ expected, stored }];
    });
  });
}
