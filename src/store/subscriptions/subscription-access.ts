import type { AccessFacts } from "../../domain/entitlements/access.ts";
import type { Slot } from "../../domain/slot.ts";
import type { Queryable } from "../database.ts";

/** A user's subscription with what decides its access, for `accessOf`. */
export type SubscriptionAccess = AccessFacts & {
  id: string;
  provider: Slot;
  planId: string;
  /** `null`: no event has contained it yet. */
  priceId: string | null;
  /** Whether a single payment bought it, which nothing follows. */
  isOneTime: boolean;
  /** Whether a pause is scheduled for the end of its period. */
  pausesAtPeriodEnd: boolean;
};

/**
 * SQL: whether a single payment bought the subscription `s`. A server of the release before gives a purchase the id of
 * another subscription: then it is that one.
 */
export const IS_ONE_TIME = "(s.is_one_time and s.provider_subscription_id is null)";

/** SQL: by which id payments name the subscription `s`: the provider's id of it, or that of the payment that bought it. */
export const ID_IN_PAYMENTS = "coalesce(s.provider_subscription_id, s.payment_id)";

/**
 * SQL: the subscription that a payment is for, or the purchase that it alone has paid for. `or` in one query
 * would read every row of a slot, once its plan was cached while the table was small.
 * @param payment a row of `payment`
 */
export function subscriptionOf(payment: string): string {
  const found = (
    id: string,
  ) => `select id, user_id, provider, provider_subscription_id, payment_id, status, created_at
    from subscription where provider = ${payment}.provider and ${id} = ${payment}.provider_subscription_id`;
  // A server of the release before gives a purchase the id of a subscription.
  return `${found("provider_subscription_id")} union all ${found("payment_id")} and provider_subscription_id is null`;
}

/**
 * SQL: whether the latest payment for a period of the subscription `s` that did not fail was taken back in full.
 * That of a change within a period, such as other seats, pays for none: zero-amount or paid, it would restore the
 * access of somebody whose payment for the period was taken back, and refunded take that of somebody who has paid for
 * it. Neither does one for no period, which pays for something beside the plan; only its dispute counts. Beside a
 * refunded payment one for a change counts if it is at least as large as that or as the period's first payment, as a
 * second upgrade is. Providers tell times in seconds: of two that were paid in one, that of the later period is the
 * latest. It stays so when an earlier period's invoice is paid after it. A zero-amount one that begins a period pays for it,
 * whatever charge for a change fails later. What has just been stored has no status yet, and does not count before it has one.
 * @param changed a table of payments whose status or refund is about to be another; none without it
 */
export function latestReversal(changed: string | null = null): string {
  const rows = (name: string) =>
    changed === null
      ? `payment ${name}`
      : `payment ${name} left join ${changed} new_${name} on new_${name}.id = ${name}.id`;
  const status = (name: string) =>
    changed === null ? `${name}.status` : `coalesce(new_${name}.status, ${name}.status)`;
  // Not stored yet of a payment that was settled by the release before.
  const isRefunded = (name: string) => {
    const stored = changed === null ? `${name}.is_refunded` : `new_${name}.is_refunded, ${name}.is_refunded`;
    return `coalesce(${stored}, ${refundedAmount(name)} >= ${name}.amount)`;
  };
  const ofSubscription = (name: string) =>
    `${name}.provider = p.provider and ${name}.provider_subscription_id = p.provider_subscription_id`;
  // A provider that names no period says that a payment is for a change: then it is for that since the last other one.
  const isEarlierInPeriod = (name: string) =>
    `(${name}.amount > 0 and ${name}.occurred_at < p.occurred_at and (${name}.period_end = p.period_end
          or (p.is_for_change and not exists (
            select from ${rows("next")}
            where ${ofSubscription("next")} and next.occurred_at > ${name}.occurred_at and next.occurred_at < p.occurred_at
              and not next.is_for_change and ${status("next")} <> 'failed'
          ))))`;
  // A refund ends access even where the plan keeps it after a dispute. The refund may be of the disputed payment itself, or of
  // the larger payment for its period. Providers that name no period report no disputes.
  const isRefundedToo = `exists (
      select from ${rows("refunded")}
      where ${ofSubscription("refunded")} and ${status("refunded")} in ('refunded', 'disputed') and case
          when refunded.id = p.id then s.provider_subscription_id is null or coalesce(p.period_end > p.period_start, true)
          when p.period_end > p.period_start then refunded.period_end = p.period_end and refunded.amount > p.amount
          else refunded.period_start <= p.occurred_at and refunded.period_end > p.occurred_at end
        and not exists (
          select from ${rows("paid")}
          where ${ofSubscription("paid")} and paid.period_end = refunded.period_end and paid.amount >= refunded.amount
            and ${status("paid")} in ('paid', 'partly_refunded')
        )
        and ${isRefunded("refunded")}
    )`;
  // The dispute ends access even where the plan keeps it after a refund.
  const isDisputedToo = `exists (
      select from ${rows("disputed")}
      where ${ofSubscription("disputed")} and ${status("disputed")} = 'disputed' and ${isEarlierInPeriod("disputed")}
    )`;
  return `select case ${status("p")}
      when 'refunded' then case when ${isDisputedToo} then 'refunded_and_disputed' else 'refunded' end
      when 'disputed' then case when ${isRefundedToo} then 'refunded_and_disputed' else 'disputed' end end
    from ${rows("p")}
    where p.provider = s.provider and p.provider_subscription_id = ${ID_IN_PAYMENTS}
      and ${status("p")} <> 'failed' and (
        s.provider_subscription_id is null or ${status("p")} = 'disputed' or (p.period_end > p.period_start) is not false
      )
      and not exists (
        select from ${rows("whole")}
        where ${ofSubscription("whole")} and case
          when p.amount <= 0 then (whole.amount > 0 and whole.period_end > p.occurred_at
              and case ${status("whole")}
                when 'failed' then whole.occurred_at < p.occurred_at or whole.period_start < p.period_start
                else ${status("whole")} is not null end)
            or (p.is_for_change and ${isEarlierInPeriod("whole")})
          when ${status("p")} = 'disputed' then false
          when ${status("p")} = 'refunded' then whole.amount >= p.amount
            and ${status("whole")} in ('paid', 'partly_refunded', 'disputed') and ${isEarlierInPeriod("whole")}
          when ${status("whole")} = 'disputed' then ${isEarlierInPeriod("whole")}
          when ${status("whole")} = 'refunded' then ${isEarlierInPeriod("whole")} and p.amount < least(whole.amount, (
            select first.amount from ${rows("first")}
            where ${ofSubscription("first")} and ${isEarlierInPeriod("first")} and ${status("first")} <> 'failed'
            order by first.occurred_at, first.id limit 1
          ))
          else false end
      )
      and not exists (
        select from ${rows("next")}
        where ${ofSubscription("next")} and next.period_start >= p.period_end and next.period_end > next.period_start
          and p.period_end > p.period_start and next.occurred_at < p.occurred_at
          and next.period_start <= p.occurred_at and ${status("next")} <> 'failed'
      )
    order by p.occurred_at desc, p.period_end desc nulls last, p.id limit 1`;
}

/** SQL: what refunds take back of a payment in total, as `settle-payments.ts` adds it up. */
function refundedAmount(payment: string): string {
  return `greatest(${payment}.refunded_amount, (
      select sum(r.amount) from payment_name n
      join payment_reversal r on r.provider = n.provider and r.payment_name = n.name and r.kind = 'refund'
      where n.provider = ${payment}.provider and n.provider_payment_id = ${payment}.provider_payment_id
    ))`;
}

/** SQL: of the subscription `s`. Servers of the release before store no `past_due_since`. */
export const PAST_DUE_SINCE =
  "case when s.status = 'past_due' then coalesce(s.past_due_since, s.updated_at) end";

export const ACCESS_COLUMNS = `s.id, s.provider, s.plan_id as "planId", s.price_id as "priceId", s.status,
  s.current_period_end as "currentPeriodEnd", s.cancel_at_period_end as "cancelAtPeriodEnd",
  ${IS_ONE_TIME} as "isOneTime", s.pauses_at_period_end as "pausesAtPeriodEnd",
  ${PAST_DUE_SINCE} as "pastDueSince",
  (${latestReversal()}) as "paymentReversal"`;

const OF_USER = {
  name: "subscription_access_of_user",
  text: `
select ${ACCESS_COLUMNS} from subscription s
where s.user_id = $1 and s.status <> 'canceled' order by s.created_at desc, s.id desc`,
};

/** What decides the access of each of a user's subscriptions that have not ended, the newest first. */
export async function subscriptionAccessOfUser(
  database: Queryable,
  userId: string,
): Promise<SubscriptionAccess[]> {
  return database.run<SubscriptionAccess>(OF_USER, [userId]);
}
