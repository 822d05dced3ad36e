import { isoText } from "../../domain/iso-text.ts";
import type { Slot } from "../../domain/slot.ts";
import type { LastNotified, Subscription } from "../../domain/subscriptions/subscription.ts";
import type { SubscriptionStatus } from "../../domain/subscriptions/subscription-status.ts";
import type { Queryable } from "../database.ts";
import { microsOf, timeOf } from "../list-position.ts";

export type SubscriptionRow = {
  id: string;
  user_id: string | null;
  provider: Slot;
  provider_subscription_id: string | null;
  is_one_time: boolean;
  payment_id: string | null;
  customer_id: string | null;
  price_id: string | null;
  plan_id: string;
  seats: number;
  status: SubscriptionStatus;
  period_end_ms: number | null;
  cancel_at_period_end: boolean;
  pauses_at_period_end: boolean;
  out_of_order: boolean;
  last_event_at_micros: string | null;
  last_event_rank: number | null;
  compared_at_micros: string | null;
  past_due_since_micros: string | null;
  told_standing: LastNotified["state"] | null;
  told_plan_id: string | null;
};

/** Of the table as `s`, for `toSubscription`. */
export const SUBSCRIPTION_COLUMNS = `s.id, s.user_id, s.provider, s.provider_subscription_id, s.is_one_time, s.payment_id,
  s.customer_id, s.price_id, s.plan_id, s.seats, s.status, date_part('epoch', s.current_period_end) * 1000 as period_end_ms, s.cancel_at_period_end, s.pauses_at_period_end, s.out_of_order,
  s.last_event_at_micros, s.last_event_rank, s.compared_at_micros, ${microsOf("s.past_due_since")} as past_due_since_micros, s.told_standing, s.told_plan_id`;

export function toSubscription(row: SubscriptionRow): Subscription {
  return {
    id: row.id,
    userId: row.user_id,
    provider: row.provider,
    providerSubscriptionId: row.provider_subscription_id,
    // A server of the release before gives the id of another subscription to it.
    isOneTime: row.is_one_time && row.provider_subscription_id === null,
    paymentId: row.payment_id,
    customerId: row.customer_id,
    priceId: row.price_id,
    planId: row.plan_id,
    seats: row.seats,
    status: row.status,
    // As a `Date` drops fractions: from 2038 on, the product of PostgreSQL's seconds may be just below.
    currentPeriodEnd: row.period_end_ms === null ? null : new Date(Math.round(row.period_end_ms)),
    cancelAtPeriodEnd: row.cancel_at_period_end,
    pausesAtPeriodEnd: row.pauses_at_period_end,
    outOfOrder: row.out_of_order,
    lastEventAtMicros: numberOf(row.last_event_at_micros),
    lastEventRank: row.last_event_rank,
    comparedAtMicros: numberOf(row.compared_at_micros),
    pastDueSinceMicros: numberOf(row.past_due_since_micros),
    lastNotified:
      row.told_standing === null || row.told_plan_id === null
        ? null
        : { state: row.told_standing, planId: row.told_plan_id },
  };
}

/** The driver returns a `bigint` as text. */
function numberOf(text: string | null): number | null {
  return text === null ? null : Number(text);
}

/** Each column with its type and value. */
const COLUMNS: readonly [name: string, type: string, value: (subscription: Subscription) => unknown][] = [
  ["id", "uuid", (subscription) => subscription.id],
  ["user_id", "text", (subscription) => subscription.userId],
  ["provider", "text", (subscription) => subscription.provider],
  ["provider_subscription_id", "text", (subscription) => subscription.providerSubscriptionId],
  ["is_one_time", "boolean", (subscription) => subscription.isOneTime],
  ["payment_id", "text", (subscription) => subscription.paymentId],
  ["customer_id", "text", (subscription) => subscription.customerId],
  ["price_id", "text", (subscription) => subscription.priceId],
  ["plan_id", "text", (subscription) => subscription.planId],
  ["seats", "int", (subscription) => subscription.seats],
  ["status", "text", (subscription) => subscription.status],
  [
    "current_period_end",
    "timestamptz",
    ({ currentPeriodEnd }) => currentPeriodEnd && isoText(currentPeriodEnd),
  ],
  ["cancel_at_period_end", "boolean", (subscription) => subscription.cancelAtPeriodEnd],
  ["pauses_at_period_end", "boolean", (subscription) => subscription.pausesAtPeriodEnd],
  ["out_of_order", "boolean", (subscription) => subscription.outOfOrder],
  ["last_event_at_micros", "bigint", (subscription) => subscription.lastEventAtMicros],
  ["last_event_rank", "smallint", (subscription) => subscription.lastEventRank],
  ["compared_at_micros", "bigint", (subscription) => subscription.comparedAtMicros],
  ["told_standing", "text", (subscription) => subscription.lastNotified?.state ?? null],
  ["told_plan_id", "text", (subscription) => subscription.lastNotified?.planId ?? null],
];
const NAMES = COLUMNS.map(([name]) => name).join(", ");
const TYPES = [...COLUMNS.map(([, type]) => type), "bigint"];
const INPUT = `unnest(${TYPES.map((type, at) => `$${at + 1}::${type}[]`).join(", ")})
  as input (${NAMES}, past_due_since_micros)`;

const INSERT = {
  name: "insert_subscriptions",
  text: `
insert into subscription (${NAMES}, past_due_since)
select ${NAMES}, ${timeOf("past_due_since_micros")}
from ${INPUT}`,
};

const UPDATE = {
  name: "update_subscriptions",
  text: `
update subscription s set updated_at = clock_timestamp(),
  ${COLUMNS.slice(1)
    .map(([name]) => `${name} = input.${name}`)
    .join(", ")},
  past_due_since = ${timeOf("input.past_due_since_micros")}
from ${INPUT}
where s.id = input.id and s.id = any ($1::uuid[])`,
};

/** @throws a unique violation when another transaction has just recorded the same subscription. */
export async function insertSubscriptions(
  transaction: Queryable,
  subscriptions: readonly Subscription[],
): Promise<void> {
  await transaction.run(INSERT, byColumn(subscriptions));
}

export async function updateSubscriptions(
  transaction: Queryable,
  subscriptions: readonly Subscription[],
): Promise<void> {
  await transaction.run(UPDATE, byColumn(subscriptions));
}

const RECORD_COMPARISON = {
  name: "record_comparison",
  // Nothing else has changed: `updated_at` stays.
  text: `update subscription set compared_at_micros = $2::bigint, out_of_order = false
where id = any (array[$1::uuid])`,
};

/** Stores that a comparison with the provider found no difference, in a transaction that has locked the subscription. */
export async function recordComparison(
  transaction: Queryable,
  id: string,
  comparedAtMicros: number,
): Promise<void> {
  await transaction.run(RECORD_COMPARISON, [id, comparedAtMicros]);
}

const CLEAR_FLAG = {
  name: "clear_review_flag",
  text: `
update subscription set out_of_order = false, updated_at = clock_timestamp(),
  past_due_since = case when status = 'past_due' then past_due_since end
where id = any (array[$1::uuid]) and out_of_order returning id`,
};

/** Returns whether it was flagged. */
export async function clearReviewFlag(transaction: Queryable, id: string): Promise<boolean> {
  return (await transaction.run(CLEAR_FLAG, [id])).length > 0;
}

function byColumn(subscriptions: readonly Subscription[]): unknown[][] {
  return [
    ...COLUMNS.map(([, , value]) => subscriptions.map(value)),
    subscriptions.map(({ pastDueSinceMicros }) => pastDueSinceMicros),
  ];
}
