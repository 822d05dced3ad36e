import type { Slot } from "../domain/slot.ts";
import type { Subscription } from "../domain/subscription.ts";
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
  current_period_end: Date | null;
  cancel_at_period_end: boolean;
  out_of_order: boolean;
  last_event_at_micros: string | null;
};

/** Names under which an event may know a subscription. */
export type SubscriptionLink = {
  provider: Slot;
  providerSubscriptionId: string | null;
  userId: string | null;
  customerId: string | null;
};

const LOCK = {
  name: "lock_subscriptions",
  text: `
with given as materialized (
  select * from json_to_recordset($1::json) as (provider text, sub text, usr text, customer text)
)
select s.* from subscription s
where s.id = any (array(
  select named.id from given g
    join subscription named on named.provider = g.provider and named.provider_subscription_id = g.sub
  union
  select own.id from given g join subscription own on own.user_id = g.usr and own.provider = g.provider
  union
  select paid.id from given g join subscription paid on paid.provider = g.provider and paid.customer_id = g.customer
  where g.usr is null
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
    JSON.stringify(
      links.map((link) => ({
        provider: link.provider,
        sub: link.providerSubscriptionId,
        usr: link.userId,
        customer: link.customerId,
      })),
    ),
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
    currentPeriodEnd: row.current_period_end,
    cancelAtPeriodEnd: row.cancel_at_period_end,
    outOfOrder: row.out_of_order,
    lastEventAtMicros: row.last_event_at_micros === null ? null : Number(row.last_event_at_micros),
  };
}

const COLUMNS = `id uuid, user_id text, provider text, provider_subscription_id text, customer_id text,
    price_id text, plan_id text, seats int, status text, current_period_end timestamptz,
    cancel_at_period_end boolean, out_of_order boolean, last_event_at_micros bigint`;
const NAMES = COLUMNS.replaceAll(/(\w+) \w+/g, "$1");

const INSERT = {
  name: "insert_subscriptions",
  text: `
insert into subscription (${NAMES})
select ${NAMES} from json_to_recordset($1::json) as (${COLUMNS})`,
};

const UPDATE = {
  name: "update_subscriptions",
  text: `
update subscription s set
  user_id = g.user_id, provider_subscription_id = g.provider_subscription_id, customer_id = g.customer_id,
  price_id = g.price_id, plan_id = g.plan_id, seats = g.seats, status = g.status,
  current_period_end = g.current_period_end, cancel_at_period_end = g.cancel_at_period_end,
  out_of_order = g.out_of_order, last_event_at_micros = g.last_event_at_micros, updated_at = clock_timestamp()
from json_to_recordset($1::json) as g (${COLUMNS})
where s.id = g.id`,
};

/** @throws a unique violation when another transaction has just recorded the same subscription. */
export async function insertSubscriptions(
  transaction: Queryable,
  subscriptions: readonly Subscription[],
): Promise<void> {
  await transaction.run(INSERT, [toJson(subscriptions)]);
}

export async function updateSubscriptions(
  transaction: Queryable,
  subscriptions: readonly Subscription[],
): Promise<void> {
  await transaction.run(UPDATE, [toJson(subscriptions)]);
}

function toJson(subscriptions: readonly Subscription[]): string {
  return JSON.stringify(
    subscriptions.map((one) => ({
      id: one.id,
      user_id: one.userId,
      provider: one.provider,
      provider_subscription_id: one.providerSubscriptionId,
      customer_id: one.customerId,
      price_id: one.priceId,
      plan_id: one.planId,
      seats: one.seats,
      status: one.status,
      current_period_end: one.currentPeriodEnd,
      cancel_at_period_end: one.cancelAtPeriodEnd,
      out_of_order: one.outOfOrder,
      last_event_at_micros: one.lastEventAtMicros,
    })),
  );
}
