import type { Queryable } from "../database.ts";
import { storedFacts } from "../entitlements/entitlement-events.ts";
import { ID_IN_PAYMENTS, latestReversal, subscriptionOf } from "../subscriptions/subscription-access.ts";
import { IS_ADMINISTRATOR } from "../users/bans.ts";
import { paymentEventData, paymentEventType } from "./payment-event.ts";

/**
 * Sets the status that charges and reversals add up to. Without `notify` it emits no events and notifies
 * nobody.
 * @param keys slots and payments' names, in parallel
 * @param linked ids of subscriptions that have been linked to their payments in this transaction
 */
export async function settlePayments(
  transaction: Queryable,
  keys: readonly string[][],
  { notify, linked }: { notify: boolean; linked: readonly string[] },
): Promise<void> {
  // A statement of its own: what the next one reads must be newer than the locks.
  const locking = [lockPayments(transaction, keys), transaction.run(LOCK_SUBSCRIPTIONS, [...keys, linked])];
  await Promise.all([...locking, transaction.run(SETTLE, [...keys, notify, linked])]);
}

const NAMED = `
select n.provider, n.provider_payment_id
from unnest($1::text[], $2::text[]) as given (provider, name)
join payment_name n on n.provider = given.provider and n.name = given.name
where n.provider = any ($1::text[]) and n.name = any ($2::text[]) and n.provider_payment_id is not null`;

// The row of the payment's own id, not that of its charge, which a running transaction may have inserted.
const LOCK = {
  name: "lock_payments",
  text: `
select from payment_name p
where (p.provider, p.name) in (${NAMED})
order by p.provider, p.name for no key update`,
};

/**
 * Makes events of one payment wait for each other, by whichever of its names: of two that do not see each
 * other's rows, the later commit would undo the earlier one's status.
 * @param keys slots and payments' names, in parallel
 */
export function lockPayments(transaction: Queryable, keys: readonly string[][]): Promise<unknown> {
  return transaction.run(LOCK, keys);
}

// All payments of a subscription decide its access: of two that are settled at once, each would emit what it is without the
// other. Not the subscription's row, which events that name it lock before their payments.
const LOCK_SUBSCRIPTIONS = {
  name: "lock_subscriptions_of_payments",
  text: `
select pg_advisory_xact_lock(key) from (
  select distinct hashtextextended(provider || ' ' || subscription_id, 7016552815) as key
  from (
    select p.provider, p.provider_subscription_id as subscription_id
    from (${NAMED}) named
    join payment p on p.provider = named.provider and p.provider_payment_id = named.provider_payment_id
    union all
    select provider, ${ID_IN_PAYMENTS} from subscription s where id = any ($3::uuid[])
  ) settled
  where subscription_id is not null
  order by 1 offset 0
) keys`,
};

const SETTLE = {
  name: "settle_payments",
  text: `
with named as materialized (select distinct * from (${NAMED}) found),
totals as (
  select p.id, p.state, p.amount,
    greatest(coalesce(p.refunded_amount, 0), coalesce(sum(r.amount) filter (where r.kind = 'refund'), 0)) as refunded,
    coalesce(sum(r.amount) filter (where r.kind = 'dispute'), 0) as disputed
  from named
  join payment p on p.provider = named.provider and p.provider_payment_id = named.provider_payment_id
  left join payment_name n on n.provider = p.provider and n.provider_payment_id = p.provider_payment_id
  left join payment_reversal r on r.provider = n.provider and r.payment_name = n.name
  group by p.id
),
settled as (
  select id, is_refunded, case
    when disputed > 0 then 'disputed'
    when is_refunded then 'refunded'
    when refunded > 0 then 'partly_refunded'
    else state end as status
  from totals cross join lateral (select refunded > 0 and refunded >= amount as is_refunded) of_all
),
-- Of a disputed payment that is refunded, the access may change, and the status does not.
settling as (
  update payment p set status = settled.status, is_refunded = settled.is_refunded, updated_at = clock_timestamp()
  from settled join payment previous on previous.id = settled.id
  where p.id = settled.id and (previous.status is distinct from settled.status
    or coalesce(previous.is_refunded, false) <> settled.is_refunded)
  returning p.*, previous.status is distinct from settled.status as has_new_status
),
changed as (select * from settling where has_new_status),
emitted as (
  insert into outbound_event (type, subject, occurred_at, data)
  select ${paymentEventType("changed")}, coalesce(s.id, changed.id)::text, changed.updated_at,
    ${paymentEventData("changed", "s.id", "payer.id")}
  from changed
  left join lateral (select id, user_id from (${subscriptionOf("changed")}) found limit 1) s on true
  cross join lateral (select coalesce(s.user_id, changed.user_id) as id) payer
  where $3::boolean
),
notified as (
  insert into notification (user_id, kind, details)
  select u.id, 'payment_' || changed.status, jsonb_build_object(
    'provider', changed.provider, 'payment', changed.provider_payment_id, 'amount', changed.amount::text,
    'currency', changed.currency
  )
  from changed, "user" u
  where $3::boolean and ${IS_ADMINISTRATOR} and changed.status in ('refunded', 'disputed')
),
-- One event per subscription: its own reversal and those written before it apply. A purchase of this transaction is
-- emitted as it becomes; one of another may have a later time than this.
reversals as (
  select distinct s.id, s.user_id, (${latestReversal()}) as before, (${latestReversal("settling")}) as after
  from settling
  cross join lateral (
    select * from (${subscriptionOf("settling")}) found
    where user_id is not null and status <> 'canceled' and (provider_subscription_id is not null or created_at <> now())
      and id <> all ($4::uuid[])
  ) s
  union all
  select s.id, s.user_id, null, (${latestReversal("settling")})
  from subscription s where s.id = any ($4::uuid[]) and s.user_id is not null and s.status <> 'canceled'
),
entitled as (
  insert into outbound_event (type, subject, data)
  select 'entitlements.changed', md5('user ' || one.user_id), json_build_object(
    'userId', one.user_id,
    'change', json_build_object(${storedFacts("one.user_id")}, 'reversals', (
      select json_agg(json_build_object(
        'id', r.id,
        'before', case when r.id < one.id then r.after else r.before end,
        'after', case when r.id <= one.id then r.after else r.before end
      )) from reversals r where r.user_id = one.user_id
    ))
  )
  from reversals one where $3::boolean and one.before is distinct from one.after
  order by one.id
)
select from settling`,
};
