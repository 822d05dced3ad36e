import type { Charge } from "../../domain/payments/payment.ts";
import type { Queryable } from "../database.ts";
import { timeOf } from "../list-position.ts";
import type { ReportedPayment } from "./reported-payment.ts";
import { rounds } from "./rounds.ts";

export function recordCharges(
  transaction: Queryable,
  payments: readonly ReportedPayment[],
): Promise<unknown>[] {
  return chargeRounds(payments).map((round) => transaction.run(CHARGE, chargeColumns(round)));
}

const IS_NEWER = `(excluded.last_event_at_micros is null or p.last_event_at_micros is null
    or excluded.last_event_at_micros > p.last_event_at_micros
    or (excluded.last_event_at_micros = p.last_event_at_micros
      and (excluded.state = 'paid' or p.state = 'failed')))`;

// A single payment whose account was deleted, perhaps while this report of it was under way, or before it was known whose
// it is.
const IS_LEFT = `(coalesce(p.user_id, excluded.user_id) is null
    and coalesce(p.provider_subscription_id, excluded.provider_subscription_id) = p.provider_payment_id)`;

const CHARGE = {
  name: "record_charges",
  text: `
insert into payment as p (provider, provider_payment_id, provider_subscription_id, user_id, amount, currency, state,
  refunded_amount, period_start, period_end, is_for_change, receipt_url, occurred_at, last_event_at_micros, last_event_id)
select provider, payment_id, subscription_id,
  (select u.id from "user" u where u.id = given.user_id for key share), amount, currency, state, refunded,
  period_start, period_end, is_for_change, receipt_url,
  coalesce(occurred_at, ${timeOf("event_micros")}, clock_timestamp()), event_micros,
  event_id
from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::text[], $7::text[], $8::bigint[],
  $9::timestamptz[], $10::timestamptz[], $11::text[], $12::timestamptz[], $13::bigint[], $14::text[], $15::boolean[]
) as given (provider, payment_id, subscription_id, user_id, amount, currency, state, refunded, period_start, period_end,
  receipt_url, occurred_at, event_micros, event_id, is_for_change)
order by 1, 2
on conflict (provider, provider_payment_id) do update set
  provider_subscription_id = coalesce(p.provider_subscription_id, excluded.provider_subscription_id),
  user_id = coalesce(p.user_id, excluded.user_id),
  receipt_url = case when ${IS_LEFT} then null
    when ${IS_NEWER} then coalesce(excluded.receipt_url, p.receipt_url)
    else coalesce(p.receipt_url, excluded.receipt_url) end,
  period_start = coalesce(p.period_start, excluded.period_start),
  period_end = coalesce(p.period_end, excluded.period_end),
  amount = case when ${IS_NEWER} then excluded.amount else p.amount end,
  currency = case when ${IS_NEWER} then excluded.currency else p.currency end,
  occurred_at = case
    when p.state = excluded.state then least(p.occurred_at, excluded.occurred_at)
    when ${IS_NEWER} then excluded.occurred_at
    else p.occurred_at end,
  state = case when ${IS_NEWER} then excluded.state else p.state end,
  refunded_amount = case
    when excluded.last_event_at_micros = p.last_event_at_micros
      then greatest(excluded.refunded_amount, p.refunded_amount)
    when ${IS_NEWER} then coalesce(excluded.refunded_amount, p.refunded_amount)
    else coalesce(p.refunded_amount, excluded.refunded_amount) end,
  last_event_id = case when ${IS_NEWER} then coalesce(excluded.last_event_id, p.last_event_id)
    else p.last_event_id end,
  last_event_at_micros = greatest(p.last_event_at_micros, excluded.last_event_at_micros)`,
};

type ReportedCharge = ReportedPayment & { charge: Charge };

function chargeRounds(payments: readonly ReportedPayment[]): ReportedCharge[][] {
  const charges = payments.flatMap((payment) =>
    payment.report.charge === null ? [] : [{ ...payment, charge: payment.report.charge }],
  );
  return rounds(charges, ({ provider, charge }) => `${provider} ${charge.id}`);
}

function chargeColumns(round: readonly ReportedCharge[]): unknown[][] {
  return [
    round.map((payment) => payment.provider),
    round.map(({ charge }) => charge.id),
    round.map((payment) => payment.providerSubscriptionId),
    round.map((payment) => (payment.isPersonGone ? null : payment.userId)),
    round.map(({ charge }) => charge.amount),
    round.map(({ charge }) => charge.currency),
    round.map(({ charge }) => charge.state),
    round.map(({ charge }) => charge.refundedAmount),
    round.map(({ charge }) => charge.periodStart?.toISOString() ?? null),
    round.map(({ charge }) => charge.periodEnd?.toISOString() ?? null),
    round.map((payment) => (payment.isPersonGone ? null : payment.charge.receiptUrl)),
    round.map(({ charge }) => charge.occurredAt?.toISOString() ?? null),
    round.map((payment) => payment.occurredAtMicros),
    round.map((payment) => payment.eventId),
    round.map(({ charge }) => charge.isForChange ?? false),
  ];
}
