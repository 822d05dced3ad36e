import type { Changes } from "../../domain/subscriptions/changes.ts";
import type { Queryable } from "../database.ts";
import { IS_IN_ANY_BLOCK } from "../deliveries/delivery-block.ts";
import { type ListPosition, microsOf, positionParameters, timeOf } from "../list-position.ts";

/** One entry in a subscription's history. */
export type HistoryEntry = {
  id: string;
  at: Date;
  atMicros: string;
  source: "event" | "reconcile";
  deliveryId: string | null;
  /** The provider's own name of the event. */
  eventType: string | null;
  changes: Changes;
};

// The latest of each kind, as many as the page may hold.
const HISTORY = {
  name: "subscription_history",
  text: `
with place as materialized (
  select coalesce(${timeOf("$2::bigint")}, 'infinity') as at
), event as (
  select a.changed_at as at, named.id, a.delivery_id, a.changes
  from webhook_attempts a
  cross join lateral (select ('event-' || a.delivery_id || '-' || a.claim_no) collate "C" as id) named
  where a.subscription_id = $1::uuid and ${IS_IN_ANY_BLOCK} and a.changed_at <= (select at from place)
    and (a.changed_at < (select at from place) or named.id < $3::text)
  order by a.changed_at desc, named.id desc limit $4::int
), comparison as (
  select r.at, named.id, null::bigint as delivery_id, r.changes::json
  from reconciliation r cross join lateral (select ('reconcile-' || r.id) collate "C" as id) named
  where r.subscription_id = $1::uuid and r.at <= (select at from place)
    and (r.at < (select at from place) or named.id < $3::text)
  order by r.at desc, named.id desc limit $4::int
), entry as (
  select * from event union all select * from comparison order by 1 desc, 2 desc limit $4::int
)
select e.id, e.at, ${microsOf("e.at")} as "atMicros",
  case when e.delivery_id is null then 'reconcile' else 'event' end as source,
  e.delivery_id as "deliveryId", d.event_type as "eventType", e.changes
from entry e left join webhook_delivery d on d.id = e.delivery_id
order by e.at desc, e.id desc`,
};

/** What has changed a subscription, the latest first. */
export async function historyOf(
  database: Queryable,
  subscriptionId: string,
  { before, limit }: { before: ListPosition | null; limit: number },
): Promise<HistoryEntry[]> {
  return database.run<HistoryEntry>(HISTORY, [subscriptionId, ...positionParameters(before), limit]);
}

const LAST_EVENT = {
  name: "last_event_of_subscription",
  text: `
select distinct on (a.subscription_id) d.event_id as "eventId"
from webhook_attempts a join webhook_delivery d on d.id = a.delivery_id
where a.subscription_id = any (array[$1::uuid]) and ${IS_IN_ANY_BLOCK}
order by a.subscription_id, a.changed_at desc nulls last`,
};

/** The provider's id of the last event that changed the subscription; `null`: none is known. */
export async function lastEventId(database: Queryable, subscriptionId: string): Promise<string | null> {
  const [row] = await database.run<{ eventId: string }>(LAST_EVENT, [subscriptionId]);
  return row?.eventId ?? null;
}
