import type { Reversal } from "../../domain/payments/payment.ts";
import type { Slot } from "../../domain/slot.ts";
import type { Queryable } from "../database.ts";

// Waits for an event that is writing one of them for the first time, and that no lock would see.
const ADD_NAMES = {
  name: "add_payment_names",
  text: `
insert into payment_name (provider, name)
select $1, name from unnest($2::text[]) as given (name) order by 2
on conflict do nothing`,
};

const LOCK_NAMES = {
  name: "lock_payment_names",
  text: `
select 1 from payment_name
where provider = $1 and (name = any ($2::text[]) or provider_payment_id = any (array[$3::text]))
order by name for update`,
};

/** Makes the events of a payment wait: each begins by writing one of its names. */
export async function lockPaymentNames(
  transaction: Queryable,
  slot: Slot,
  { providerPaymentId, names }: { providerPaymentId: string; names: readonly string[] },
): Promise<void> {
  const all = [...new Set([providerPaymentId, ...names])];
  await Promise.all([
    transaction.run(ADD_NAMES, [slot, all]),
    transaction.run(LOCK_NAMES, [slot, all, providerPaymentId]),
  ]);
}

const VOID_OTHERS = {
  name: "void_other_reversals",
  text: `
update payment_reversal r set amount = 0
from payment_name n
where n.provider = $1 and n.provider_payment_id = any (array[$2::text])
  and r.provider = n.provider and r.payment_name = n.name and r.reversal_id <> all ($3::text[]) and r.amount <> 0
  and r.kind = any ($4::text[])`,
};

/** Zeroes the payment's refunds or disputes, whichever `kinds` names, that the provider does not list. */
export async function voidOtherReversals(
  transaction: Queryable,
  slot: Slot,
  {
    providerPaymentId,
    listed,
    kinds,
  }: { providerPaymentId: string; listed: readonly string[]; kinds: readonly Reversal["kind"][] },
): Promise<void> {
  await transaction.run(VOID_OTHERS, [slot, providerPaymentId, listed, kinds]);
}

const SETTLE_COMPARED = {
  name: "settle_compared_payment",
  text: `
update payment set period_start = coalesce($3::timestamptz, period_start),
  period_end = coalesce($4::timestamptz, period_end),
  last_event_at_micros = greatest(last_event_at_micros,
    least($5::bigint, (extract(epoch from clock_timestamp()) * 1000000)::bigint))
where provider = $1 and provider_payment_id = any (array[$2::text])`,
};

/**
 * Sets the period, which events only fill in. From now on an event from before the provider was asked is late;
 * where this server's clock is ahead, the database's counts.
 */
export async function settleComparedPayment(
  transaction: Queryable,
  slot: Slot,
  {
    providerPaymentId,
    periodStart,
    periodEnd,
    askedAtMicros,
  }: { providerPaymentId: string; periodStart: Date | null; periodEnd: Date | null; askedAtMicros: number },
): Promise<void> {
  const period = [periodStart?.toISOString() ?? null, periodEnd?.toISOString() ?? null];
  await transaction.run(SETTLE_COMPARED, [slot, providerPaymentId, ...period, askedAtMicros]);
}
