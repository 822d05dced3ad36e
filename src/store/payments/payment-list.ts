import type { PaymentStatus } from "../../domain/payments/payment.ts";
import type { Slot } from "../../domain/slot.ts";
import type { Queryable } from "../database.ts";
import { isAfter, type ListPosition, microsOf, positionParameters } from "../list-position.ts";
import { ID_IN_PAYMENTS, subscriptionOf } from "../subscriptions/subscription-access.ts";

export type ListedPayment = {
  id: string;
  provider: Slot;
  providerPaymentId: string;
  /** `null`: no event has reported its subscription, or it belongs to none. */
  subscriptionId: string | null;
  /** In the currency's smallest unit. */
  amount: number;
  currency: string;
  status: PaymentStatus;
  receiptUrl: string | null;
  occurredAt: Date;
};

export type PaymentFilter = { status: PaymentStatus | null; subscriptionId: string | null };

// A payment belongs to its subscription's person, so that one that came first is theirs as soon as the
// subscription is.
const OF_USER = {
  name: "payments_of_user",
  text: `
select id, provider, provider_payment_id as "providerPaymentId", subscription_id as "subscriptionId",
  amount::float8 as amount, currency, status, receipt_url as "receiptUrl", occurred_at as "occurredAt",
  ${microsOf("occurred_at")} as "atMicros"
from (
  select p.*, s.id as subscription_id
  from subscription s
  join payment p on p.provider = s.provider
    and p.provider_subscription_id = ${ID_IN_PAYMENTS}
  where s.user_id = $1
  union all
  select p.*, null as subscription_id
  from payment p
  where p.user_id = $1 and not exists (${subscriptionOf("p")})
) own
where ($2::text is null or status = $2) and ($3::uuid is null or subscription_id = $3)
  and ${isAfter("occurred_at, id", ["$4", "$5"])}
order by occurred_at desc, id desc
limit $6::int`,
};

/** A user's payments, the newest first. */
export async function paymentsOfUser(
  database: Queryable,
  userId: string,
  { status, subscriptionId }: PaymentFilter,
  { before, limit }: { before: ListPosition | null; limit: number },
): Promise<(ListedPayment & { atMicros: string })[]> {
  return database.run(OF_USER, [userId, status, subscriptionId, ...positionParameters(before), limit]);
}
