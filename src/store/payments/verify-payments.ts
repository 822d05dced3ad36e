import type { PaymentStatus } from "../../domain/payments/payment.ts";
import type { Slot } from "../../domain/slot.ts";
import { NIL_UUID } from "../../domain/uuid.ts";
import type { Queryable } from "../database.ts";

/** A stored payment with what is compared. Amounts are in the currency's smallest unit. */
export type VerifiablePayment = {
  id: string;
  provider: Slot;
  providerPaymentId: string;
  amount: number;
  currency: string;
  status: PaymentStatus;
  refundedAmount: number;
  periodStart: Date | null;
  periodEnd: Date | null;
  /** The provider's id of the last event that touched it. */
  lastEventId: string | null;
  /** Changes with every write of the payment, its refunds and disputes. */
  version: string;
};

const COLUMNS = `
select p.id, p.provider, p.provider_payment_id as "providerPaymentId", p.amount::float8 as amount, p.currency, p.status,
  greatest(coalesce(p.refunded_amount, 0), r.refunded)::float8 as "refundedAmount",
  p.period_start as "periodStart", p.period_end as "periodEnd",
  case when p.last_event_id is null or r.last_micros >= p.last_event_at_micros
    then coalesce(r.last_event_id, p.last_event_id) else p.last_event_id end as "lastEventId",
  md5(p::text || r.version) as version
from payment p
cross join lateral (
  select sum(reversal.amount) filter (where reversal.kind = 'refund') as refunded,
    max(reversal.last_event_at_micros) as last_micros,
    (array_agg(reversal.last_event_id order by reversal.last_event_at_micros desc nulls last))[1] as last_event_id,
    coalesce(string_agg(reversal::text, ' ' order by reversal.reversal_id), '') as version
  from payment_name n
  join payment_reversal reversal on reversal.provider = n.provider and reversal.payment_name = n.name
  where n.provider = p.provider and n.provider_payment_id = p.provider_payment_id
) r`;

const BY_PROVIDER_ID = {
  name: "verifiable_payments_by_provider_id",
  text: `${COLUMNS} where p.provider = $1 and p.provider_payment_id = any ($2::text[]) and p.status is not null`,
};

export async function findPayments(
  database: Queryable,
  slot: Slot,
  providerPaymentIds: readonly string[],
): Promise<Map<string, VerifiablePayment>> {
  const rows = await database.run<VerifiablePayment>(BY_PROVIDER_ID, [slot, providerPaymentIds]);
  return new Map(rows.map((row) => [row.providerPaymentId, row]));
}

const OF_SUBSCRIPTION = {
  name: "verifiable_payments_of_subscription",
  text: `${COLUMNS} where p.provider = $1 and p.provider_subscription_id = any (array[$2::text]) and p.status is not null`,
};

export async function paymentsOfSubscription(
  database: Queryable,
  slot: Slot,
  providerSubscriptionId: string,
): Promise<VerifiablePayment[]> {
  return database.run(OF_SUBSCRIPTION, [slot, providerSubscriptionId]);
}

const IDS_PAGE = {
  name: "verifiable_payment_ids",
  text: `
select id, provider, provider_payment_id as name,
  status is not null and provider_subscription_id is distinct from provider_payment_id as "isSettled"
from payment where id > $1::uuid order by id limit 1000`,
};

/**
 * The provider's ids of all payments of a slot, but for those that bought a plan for good: at Stripe such a
 * payment need not have an invoice.
 */
export async function* eachPaymentId(database: Queryable, slot: Slot): AsyncGenerator<string> {
  for (let after = NIL_UUID; ; ) {
    const rows = await database.run<{ id: string; provider: Slot; name: string; isSettled: boolean }>(
      IDS_PAGE,
      [after],
    );
    const last = rows.at(-1);
    if (last === undefined) return;
    for (const { provider, name, isSettled } of rows) if (provider === slot && isSettled) yield name;
    after = last.id;
  }
}

const COUNT = {
  name: "count_verifiable_payments",
  text: "select count(*)::int as count from payment where provider = $1 and status is not null",
};

export async function countPayments(database: Queryable, slot: Slot): Promise<number> {
  const [row] = await database.run<{ count: number }>(COUNT, [slot]);
  return row?.count ?? 0;
}

const OWNERS = {
  name: "owners_of_payments",
  text: `
select given.number, s.id is not null as "hasSubscription",
  coalesce(s.user_id, case when s.id is null then coalesce(u.id, c.user_id) end) as "userId"
from unnest($2::text[], $3::text[], $4::text[]) with ordinality as given (subscription_id, customer_id, user_id, number)
left join lateral (
  select id, user_id from subscription
  where provider = $1 and provider_subscription_id = any (array[given.subscription_id]) limit 1
) s on true
left join "user" u on u.id = given.user_id
left join lateral (
  select min(user_id) as user_id from subscription
  where provider = $1 and customer_id = any (array[given.customer_id]) and user_id is not null
  having count(distinct user_id) = 1
) c on true
order by given.number`,
};

/** The user of a listed payment: its subscription's, the one that it names, or its customer's only one. */
export type PaymentOwner = {
  /** Whether its subscription is known. Without `userId` the person has deleted the account. */
  hasSubscription: boolean;
  userId: string | null;
};

/** One per payment, in the same order. */
export async function findPaymentOwners(
  database: Queryable,
  slot: Slot,
  payments: readonly {
    providerSubscriptionId: string | null;
    customerId: string | null;
    userId: string | null;
  }[],
): Promise<PaymentOwner[]> {
  return database.run(OWNERS, [
    slot,
    payments.map(({ providerSubscriptionId }) => providerSubscriptionId),
    payments.map(({ customerId }) => customerId),
    payments.map(({ userId }) => userId),
  ]);
}
