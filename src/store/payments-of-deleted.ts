import type { Slot } from "../domain/slot.ts";
import type { Queryable } from "./database.ts";

/** A payment by an id that it has at its provider. */
export type NamedPayment = { provider: Slot; name: string };

const FIND = {
  name: "find_payments_of_deleted",
  text: `
select n.provider, n.name
from unnest($1::text[], $2::text[]) as given (provider, name)
join payment_name n on n.provider = given.provider and n.name = given.name
join payment p on p.provider = n.provider and p.provider_payment_id = n.provider_payment_id
join subscription s on s.provider = p.provider and s.provider_subscription_id = p.provider_subscription_id
where s.user_id is null`,
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
