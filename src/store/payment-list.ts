import type { PaymentStatus } from "../domain/payment.ts";
import type { Slot } from "../domain/slot.ts";
import type { Queryable } from "./database.ts";

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

// A payment belongs to its subscription's person, so that one that came first is theirs as soon as the subscription is.
const OF_USER = {
  name: "payments_of_user",
  text: `
select id, provider, provider_payment_id as "providerPaymentId", subscription_id as "subscriptionId",
  amount::float8 as amount, currency, status, receipt_url as "receiptUrl", occurred_at as "occurredAt",
  (extract(epoch from occurred_at) * 1000000)::bigint::text as "createdAtMicros"
from (
  select p.*, s.id as subscription_id
  from subscription s
  join payment p on p.provider = s.provider and p.provider_subscription_id = s.provider_subscription_id
  where s.user_id = $1
  union all
  select p.*, null as subscription_id
  from payment p
  where p.user_id = $1 and not exists (
    select from subscription s
    where s.provider = p.provider and s.provider_subscription_id = p.provider_subscription_id
  )
) own
where ($2::text is null or status = $2) and ($3::uuid is null or subscription_id = $3)
  and ($4::bigint is null
    or (occurred_at, id) < (timestamptz 'epoch' + $4::bigint * interval '1 microsecond', $5::uuid))
order by occurred_at desc, id desc
limit $6::int`,
};

/** A user's payments, the newest first. Microseconds since the epoch tell apart what a JavaScript date does not. */
export async function paymentsOfUser(
  database: Queryable,
  userId: string,
  { status, subscriptionId }: PaymentFilter,
  { before, limit }: { before: { createdAtMicros: string; id: string } | null; limit: number },
): Promise<(ListedPayment & { createdAtMicros: string })[]> {
  const position = [before?.createdAtMicros ?? null, before?.id ?? null];
  return database.run(OF_USER, [userId, status, subscriptionId, ...position, limit]);
}
