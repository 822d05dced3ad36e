import type { Slot } from "../domain/slot.ts";
import type { LastNotified, Subscription } from "../domain/subscription.ts";
import type { SubscriptionStatus } from "../domain/subscription-status.ts";
import type { Queryable } from "./database.ts";

export type SubscriptionRow = {
  id: string;
  user_id: string | null;
  provider: Slot;
  provider_subscription_id: string | null;
  customer_id: string | null;
  price_id: string | null;
  plan_id: string;
  seats: number;
  status: SubscriptionStatus;
  period_end_ms: number | null;
  cancel_at_period_end: boolean;
  out_of_order: boolean;
  last_event_at_micros: number | null;
  last_event_rank: number | null;
  compared_at_micros: number | null;
  told_standing: LastNotified["standing"] | null;
  told_plan_id: string | null;
};

/** Names under which an event may know a subscription. */
export type SubscriptionLink = {
  provider: Slot;
  providerSubscriptionId: string | null;
  userId: string | null;
  customerId: string | null;
};

const LOCK_SUBSCRIBERS = {
  name: "lock_subscribers",
  text: `
select pg_advisory_xact_lock(key) from (
  select distinct hashtextextended(name, 7016552814) as key from unnest($1::text[]) as names (name) order by 1
) keys`,
};

/**
 * Keeps other processes from adding subscriptions of the same people meanwhile: one with a name and one without would
 * not collide in any index. A statement of its own, before the subscriptions are read, so that they are read afterwards.
 */
export async function lockSubscribers(
  transaction: Queryable,
  links: readonly SubscriptionLink[],
): Promise<void> {
  const names = links.map(({ provider, userId, customerId }) =>
    userId === null ? `${provider} customer ${customerId}` : `${provider} user ${userId}`,
  );
  await transaction.run(LOCK_SUBSCRIBERS, [names]);
}

/** Of the table as `s`, for `toSubscription`. */
export const SUBSCRIPTION_COLUMNS = `
  s.id, s.user_id, s.provider, s.provider_subscription_id, s.customer_id, s.price_id, s.plan_id, s.seats, s.status,
  extract(epoch from s.current_period_end)::float8 * 1000 as period_end_ms, s.cancel_at_period_end, s.out_of_order,
  s.last_event_at_micros::float8 as last_event_at_micros, s.last_event_rank,
  s.compared_at_micros::float8 as compared_at_micros, s.told_standing, s.told_plan_id`;

const LOCK = {
  name: "lock_subscriptions",
  text: `
with given as materialized (
  select * from unnest($1::text[], $2::text[], $3::text[], $4::text[]) as links (provider, sub, usr, customer)
)
select ${SUBSCRIPTION_COLUMNS}
from subscription s
where s.id = any (array(
  select named.id from given g
    join subscription named on named.provider = g.provider and named.provider_subscription_id = g.sub
  where named.provider = any ($1::text[]) and named.provider_subscription_id = any ($2::text[])
  union
  select own.id from given g join subscription own on own.user_id = g.usr and own.provider = g.provider
  where own.user_id = any ($3::text[])
  union
  select paid.id from given g join subscription paid on paid.provider = g.provider and paid.customer_id = g.customer
  where g.usr is null and paid.provider = any ($1::text[]) and paid.customer_id = any ($4::text[])
))
order by s.id
for no key update of s`,
};

/** Locks, in one order for everybody, all subscriptions that any of the links could mean. */
export async function lockSubscriptions(
  transaction: Queryable,
  links: readonly SubscriptionLink[],
): Promise<Subscription[]> {
  const rows = await transaction.run<SubscriptionRow>(LOCK, [
    links.map((link) => link.provider),
    links.map((link) => link.providerSubscriptionId),
    links.map((link) => link.userId),
    links.map((link) => link.customerId),
  ]);
  return rows.map(toSubscription);
}

export function toSubscription(row: SubscriptionRow): Subscription {
  return {
    id: row.id,
    userId: row.user_id,
    provider: row.provider,
    providerSubscriptionId: row.provider_subscription_id,
    customerId: row.customer_id,
    priceId: row.price_id,
    planId: row.plan_id,
    seats: row.seats,
    status: row.status,
    currentPeriodEnd: row.period_end_ms === null ? null : new Date(row.period_end_ms),
    cancelAtPeriodEnd: row.cancel_at_period_end,
    outOfOrder: row.out_of_order,
    lastEventAtMicros: row.last_event_at_micros,
    lastEventRank: row.last_event_rank,
    comparedAtMicros: row.compared_at_micros,
    lastNotified:
      row.told_standing === null || row.told_plan_id === null
        ? null
        : { standing: row.told_standing, planId: row.told_plan_id },
  };
}

/** Each column with its type and what stands in it. */
const COLUMNS: readonly [name: string, type: string, value: (one: Subscription) => unknown][] = [
  ["id", "uuid", (one) => one.id],
  ["user_id", "text", (one) => one.userId],
  ["provider", "text", (one) => one.provider],
  ["provider_subscription_id", "text", (one) => one.providerSubscriptionId],
  ["customer_id", "text", (one) => one.customerId],
  ["price_id", "text", (one) => one.priceId],
  ["plan_id", "text", (one) => one.planId],
  ["seats", "int", (one) => one.seats],
  ["status", "text", (one) => one.status],
  ["current_period_end", "timestamptz", (one) => one.currentPeriodEnd?.toISOString() ?? null],
  ["cancel_at_period_end", "boolean", (one) => one.cancelAtPeriodEnd],
  ["out_of_order", "boolean", (one) => one.outOfOrder],
  ["last_event_at_micros", "bigint", (one) => one.lastEventAtMicros],
  ["last_event_rank", "smallint", (one) => one.lastEventRank],
  ["compared_at_micros", "bigint", (one) => one.comparedAtMicros],
  ["told_standing", "text", (one) => one.lastNotified?.standing ?? null],
  ["told_plan_id", "text", (one) => one.lastNotified?.planId ?? null],
];
const NAMES = COLUMNS.map(([name]) => name).join(", ");
const GIVEN = `unnest(${COLUMNS.map(([, type], at) => `$${at + 1}::${type}[]`).join(", ")}) as given (${NAMES})`;

const INSERT = {
  name: "insert_subscriptions",
  text: `insert into subscription (${NAMES}) select * from ${GIVEN}`,
};

const UPDATE = {
  name: "update_subscriptions",
  text: `
update subscription s set updated_at = clock_timestamp(),
  ${COLUMNS.slice(1)
    .map(([name]) => `${name} = given.${name}`)
    .join(", ")}
from ${GIVEN}
where s.id = given.id and s.id = any ($1::uuid[])`,
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
  // Nothing about it has changed: its `updated_at` stays.
  text: "update subscription set compared_at_micros = $2::bigint, out_of_order = false where id = any (array[$1::uuid])",
};

/** Stores that a comparison with the provider found no difference. @param askedAtMicros when the provider was asked */
export async function recordComparison(
  transaction: Queryable,
  id: string,
  askedAtMicros: number,
): Promise<void> {
  await transaction.run(RECORD_COMPARISON, [id, askedAtMicros]);
}

function byColumn(subscriptions: readonly Subscription[]): unknown[][] {
  return COLUMNS.map(([, , value]) => subscriptions.map(value));
}
