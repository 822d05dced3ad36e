import type { Slot } from "../../domain/slot.ts";
import type { Queryable } from "../database.ts";
import { subscriptionOf } from "../subscriptions/subscription-access.ts";

/** A payment by an id that it has at its provider. */
export type NamedPayment = { provider: Slot; name: string };

// A subscription that was paid for only after the deletion is not stored, but remembered as unwanted; of a single payment,
// only the payment is.
const FIND = {
  name: "find_payments_of_deleted",
  text: `
select n.provider, n.name
from unnest($1::text[], $2::text[]) as given (provider, name)
join payment_name n on n.provider = given.provider and n.name = given.name
join payment p on p.provider = n.provider and p.provider_payment_id = n.provider_payment_id
left join lateral (${subscriptionOf("p")}) s on true
left join unwanted_subscription u
  on u.provider = p.provider and u.provider_subscription_id = p.provider_subscription_id and u.because = 'account_deleted'
where case when s.id is not null then s.user_id is null
  else u.provider is not null or p.user_id is null and p.provider_subscription_id = p.provider_payment_id end`,
};

/** Those for subscriptions whose users have deleted their accounts. */
export async function findPaymentsOfDeleted(
  transaction: Queryable,
  payments: readonly NamedPayment[],
): Promise<NamedPayment[]> {
  if (payments.length === 0) return [];
  return transaction.run<NamedPayment>(FIND, [
    payments.map(({ provider }) => provider),
    payments.map(({ name }) => name),
  ]);
}
