import type { Charge, PaymentReport, PaymentStatus, Reversal } from "../domain/payment.ts";
import type { Slot } from "../domain/slot.ts";
import type { Queryable } from "./database.ts";

/** A report of a payment, with the person whom the event names. */
export type ReportedPayment = {
  provider: Slot;
  report: PaymentReport;
  /** By the provider's clock; microseconds. */
  occurredAtMicros: number | null;
  providerSubscriptionId: string | null;
  userId: string | null;
  /** The person has deleted the account: nothing that leads to them is stored. */
  isPersonGone: boolean;
};

/** A payment whose status a transaction has changed; `before` is `null` for a new one. */
export type ChangedPayment = { id: string; before: PaymentStatus | null; status: PaymentStatus };

/**
 * Stores what events report of payments. Each row keeps its newest report, so that the order of arrival makes no
 * difference; events of one payment wait for each other. Each change of a status is an outbound event. Administrators are notified of refunds in full and disputes.
 */
export async function recordPayments(
  transaction: Queryable,
  payments: readonly ReportedPayment[],
): Promise<ChangedPayment[]> {
  const names = namesOf(payments);
  const keys = [names.map(({ provider }) => provider), names.map(({ name }) => name)];
  const writes: Promise<unknown>[] = [
    transaction.run(NAME, [...keys, names.map(({ paymentId }) => paymentId)]),
    ...chargeRounds(payments).map((round) => transaction.run(CHARGE, chargeColumns(round))),
    ...reversalRounds(payments).map((round) => transaction.run(REVERSE, reversalColumns(round))),
    // A statement of its own: what the next one reads must be newer than the locks.
    transaction.run(LOCK, keys),
  ];
  const settling = transaction.run<ChangedPayment>(SETTLE, keys);
  await Promise.all([...writes, settling]);
  return settling;
}

const NAME = {
  name: "name_payments",
  text: `
insert into payment_name (provider, name, provider_payment_id)
select provider, name, payment_id from unnest($1::text[], $2::text[], $3::text[]) as given (provider, name, payment_id)
order by 1, 2
on conflict (provider, name) do update
set provider_payment_id = coalesce(payment_name.provider_payment_id, excluded.provider_payment_id)`,
};

const IS_NEWER = `(excluded.last_event_at_micros is null or p.last_event_at_micros is null
    or excluded.last_event_at_micros > p.last_event_at_micros
    or (excluded.last_event_at_micros = p.last_event_at_micros
      and (excluded.state = 'paid' or p.state = 'failed')))`;

const CHARGE = {
  name: "record_charges",
  text: `
insert into payment as p (provider, provider_payment_id, provider_subscription_id, user_id, amount, currency, state,
  refunded_amount, period_start, period_end, receipt_url, occurred_at, last_event_at_micros)
select provider, payment_id, subscription_id,
  (select u.id from "user" u where u.id = given.user_id for key share), amount, currency, state, refunded,
  period_start, period_end, receipt_url,
  coalesce(occurred_at, timestamptz 'epoch' + event_micros * interval '1 microsecond', clock_timestamp()), event_micros
from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::text[], $7::text[], $8::bigint[],
  $9::timestamptz[], $10::timestamptz[], $11::text[], $12::timestamptz[], $13::bigint[]
) as given (provider, payment_id, subscription_id, user_id, amount, currency, state, refunded, period_start, period_end,
  receipt_url, occurred_at, event_micros)
order by 1, 2
on conflict (provider, provider_payment_id) do update set
  provider_subscription_id = coalesce(p.provider_subscription_id, excluded.provider_subscription_id),
  user_id = coalesce(p.user_id, excluded.user_id),
  receipt_url = case when ${IS_NEWER} then coalesce(excluded.receipt_url, p.receipt_url)
    else coalesce(p.receipt_url, excluded.receipt_url) end,
  period_start = coalesce(p.period_start, excluded.period_start),
  period_end = coalesce(p.period_end, excluded.period_end),
  amount = case when ${IS_NEWER} then excluded.amount else p.amount end,
  currency = case when ${IS_NEWER} then excluded.currency else p.currency end,
  occurred_at = case when ${IS_NEWER} and p.state <> excluded.state then excluded.occurred_at else p.occurred_at end,
  state = case when ${IS_NEWER} then excluded.state else p.state end,
  refunded_amount = case
    when excluded.last_event_at_micros = p.last_event_at_micros
      then greatest(excluded.refunded_amount, p.refunded_amount)
    when ${IS_NEWER} then coalesce(excluded.refunded_amount, p.refunded_amount)
    else coalesce(p.refunded_amount, excluded.refunded_amount) end,
  last_event_at_micros = greatest(p.last_event_at_micros, excluded.last_event_at_micros)`,
};

// Of the same moment the amount that is in effect counts: Stripe's clock has whole seconds.
const REVERSE = {
  name: "record_reversals",
  text: `
insert into payment_reversal as r (provider, reversal_id, payment_name, kind, amount, last_event_at_micros)
select provider, reversal_id, payment_name, kind, amount, event_micros
from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::bigint[])
  as given (provider, reversal_id, payment_name, kind, amount, event_micros)
order by 1, 2
on conflict (provider, reversal_id) do update set
  amount = case when excluded.last_event_at_micros = r.last_event_at_micros
    then greatest(r.amount, excluded.amount) else excluded.amount end,
  last_event_at_micros = coalesce(excluded.last_event_at_micros, r.last_event_at_micros)
where excluded.last_event_at_micros is null or r.last_event_at_micros is null
  or excluded.last_event_at_micros >= r.last_event_at_micros`,
};

const NAMED = `
select n.provider, n.provider_payment_id
from unnest($1::text[], $2::text[]) as given (provider, name)
join payment_name n on n.provider = given.provider and n.name = given.name
where n.provider = any ($1::text[]) and n.name = any ($2::text[]) and n.provider_payment_id is not null`;

const LOCK = {
  name: "lock_payments",
  text: `
select p.id from payment p
where (p.provider, p.provider_payment_id) in (${NAMED})
order by p.id for no key update`,
};

const SETTLE = {
  name: "settle_payments",
  text: `
with named as materialized (select distinct * from (${NAMED}) found),
totals as (
  select p.id, p.status as before, p.state, p.amount,
    greatest(coalesce(p.refunded_amount, 0), coalesce(sum(r.amount) filter (where r.kind = 'refund'), 0)) as refunded,
    coalesce(sum(r.amount) filter (where r.kind = 'dispute'), 0) as disputed
  from named
  join payment p on p.provider = named.provider and p.provider_payment_id = named.provider_payment_id
  left join payment_name n on n.provider = p.provider and n.provider_payment_id = p.provider_payment_id
  left join payment_reversal r on r.provider = n.provider and r.payment_name = n.name
  group by p.id
),
settled as (
  select id, before, case
    when disputed > 0 then 'disputed'
    when refunded > 0 and refunded >= amount then 'refunded'
    when refunded > 0 then 'partly_refunded'
    else state end as status
  from totals
),
changed as (
  update payment p set status = settled.status, updated_at = clock_timestamp()
  from settled where p.id = settled.id and p.status is distinct from settled.status
  returning p.*, settled.before
),
emitted as (
  insert into outbound_event (type, subject, occurred_at, data)
  select 'payment.' || case changed.status when 'partly_refunded' then 'refunded' else changed.status end,
    coalesce(s.id, changed.id)::text, changed.updated_at,
    json_build_object('userId', coalesce(s.user_id, changed.user_id), 'payment', json_build_object(
      'id', changed.id, 'provider', changed.provider, 'providerPaymentId', changed.provider_payment_id,
      'subscriptionId', s.id, 'amount', changed.amount, 'currency', changed.currency, 'status', changed.status,
      'receiptUrl', changed.receipt_url,
      'occurredAt', to_char(changed.occurred_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
    ))
  from changed
  left join lateral (
    select id, user_id from subscription
    where provider = changed.provider and provider_subscription_id = changed.provider_subscription_id limit 1
  ) s on true
),
notified as (
  insert into notification (user_id, kind, details)
  select administrator.id, 'payment_' || changed.status, jsonb_build_object(
    'provider', changed.provider, 'payment', changed.provider_payment_id, 'amount', changed.amount::text,
    'currency', changed.currency
  )
  from changed, "user" administrator
  where administrator.role = 'admin' and changed.status in ('refunded', 'disputed')
)
select id, before, status from changed`,
};

type Name = { provider: Slot; name: string; paymentId: string | null };

function namesOf(payments: readonly ReportedPayment[]): Name[] {
  const names = new Map<string, Name>();
  const add = (one: Name) => {
    const key = `${one.provider} ${one.name}`;
    if (names.get(key)?.paymentId == null) names.set(key, one);
  };
  for (const { provider, report } of payments) {
    const paymentId = report.charge?.id ?? report.names[0] ?? null;
    if (paymentId !== null) {
      for (const name of new Set([paymentId, ...report.names])) add({ provider, name, paymentId });
    }
    if (report.reversal !== null) add({ provider, name: report.reversal.of, paymentId: null });
  }
  return [...names.values()];
}

type ReportedCharge = ReportedPayment & { charge: Charge };

function chargeRounds(payments: readonly ReportedPayment[]): ReportedCharge[][] {
  const charges = payments.flatMap((one) =>
    one.report.charge === null ? [] : [{ ...one, charge: one.report.charge }],
  );
  return rounds(charges, ({ provider, charge }) => `${provider} ${charge.id}`);
}

type ReportedReversal = ReportedPayment & { reversal: Reversal };

function reversalRounds(payments: readonly ReportedPayment[]): ReportedReversal[][] {
  const reversals = payments.flatMap((one) =>
    one.report.reversal === null ? [] : [{ ...one, reversal: one.report.reversal }],
  );
  return rounds(reversals, ({ provider, reversal }) => `${provider} ${reversal.id}`);
}

/** One statement cannot write a row twice: the second report of a row goes into the next round. */
function rounds<Item>(items: readonly Item[], keyOf: (item: Item) => string): Item[][] {
  const counts = new Map<string, number>();
  const result: Item[][] = [];
  for (const item of items) {
    const key = keyOf(item);
    const round = counts.get(key) ?? 0;
    counts.set(key, round + 1);
    result[round] ??= [];
    result[round].push(item);
  }
  return result;
}

function chargeColumns(round: readonly ReportedCharge[]): unknown[][] {
  return [
    round.map((one) => one.provider),
    round.map(({ charge }) => charge.id),
    round.map((one) => one.providerSubscriptionId),
    round.map((one) => (one.isPersonGone ? null : one.userId)),
    round.map(({ charge }) => charge.amount),
    round.map(({ charge }) => charge.currency),
    round.map(({ charge }) => charge.state),
    round.map(({ charge }) => charge.refundedAmount),
    round.map(({ charge }) => charge.periodStart?.toISOString() ?? null),
    round.map(({ charge }) => charge.periodEnd?.toISOString() ?? null),
    round.map((one) => (one.isPersonGone ? null : one.charge.receiptUrl)),
    round.map(({ charge }) => charge.occurredAt?.toISOString() ?? null),
    round.map((one) => one.occurredAtMicros),
  ];
}

function reversalColumns(round: readonly ReportedReversal[]): unknown[][] {
  return [
    round.map((one) => one.provider),
    round.map(({ reversal }) => reversal.id),
    round.map(({ reversal }) => reversal.of),
    round.map(({ reversal }) => reversal.kind),
    round.map(({ reversal }) => reversal.amount),
    round.map((one) => one.occurredAtMicros),
  ];
}
