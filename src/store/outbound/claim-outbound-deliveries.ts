import type { OutboundEventType } from "../../domain/outbound/outbound-event.ts";
import type { Queryable } from "../database.ts";
import { SECRETS } from "./event-endpoints.ts";
import { findPackedEvents } from "./packed-events.ts";
import type { UnreadablePack } from "./unreadable-packs.ts";

// A longer wait than any was begun while the database's clock was ahead, as before a failover.
const AHEAD = "interval '8 hours'";

/** The first or the last time of the endpoint `p`: an end of its index, where a condition may read all that waits. */
const timeOf = (end: "min" | "max") => `(
    select ${end}(next_attempt_at) from outbound_delivery d where d.endpoint_id = p.id and d.status = 'pending')`;

const DUE_ENDPOINTS = {
  name: "due_event_endpoints",
  text: `
select p.id from event_endpoint p
where p.enabled and (p.hook is null or p.hook = any ($1::text[])) and (
  ${timeOf("min")} <= clock_timestamp() or ${timeOf("max")} > clock_timestamp() + ${AHEAD}
)
order by random()`,
};

/**
 * Endpoints with something to send now, in random order, so that none is always the last.
 * @param hooks the plugins' hooks that this process can call
 */
export async function dueEndpoints(database: Queryable, hooks: readonly string[]): Promise<string[]> {
  const rows = await database.run<{ id: string }>(DUE_ENDPOINTS, [hooks]);
  return rows.map(({ id }) => id);
}

export type ClaimedDelivery = {
  id: string;
  claimNo: number;
  /** Including this one. */
  attempts: number;
  endpointId: string;
  subject: string;
  url: string | null;
  hook: string | null;
  /** The newest first. */
  secrets: string[];
  position: bigint | null;
  /** `null`: in a pack, or no longer stored. */
  event: { id: string; type: OutboundEventType; occurredAt: Date; data: Record<string, unknown> } | null;
};

// The attempt is counted before it is made: a crash must still use it up. The next attempt's time is also the
// lease. The present is selected, and what is ahead is read apart: else neither is a range of the index.
const CLAIM = {
  name: "claim_outbound_deliveries",
  text: `
with due as materialized (
  select d.id from outbound_delivery d
  where d.endpoint_id = $1::uuid and d.status = 'pending' and d.next_attempt_at <= (select clock_timestamp())
    and exists (select from event_endpoint where id = $1::uuid and enabled)
  order by d.next_attempt_at, d.id limit $2::int for update skip locked
), ahead as materialized (
  select d.id from outbound_delivery d
  where d.endpoint_id = $1::uuid and d.status = 'pending' and d.next_attempt_at > (select clock_timestamp() + ${AHEAD})
    and exists (select from event_endpoint where id = $1::uuid and enabled)
  order by d.next_attempt_at, d.id limit $2::int for update skip locked
), claimed as (
  update outbound_delivery d set claim_no = d.claim_no + 1, attempts = d.attempts + 1,
    next_attempt_at = clock_timestamp() + $3::float8 * interval '1 second'
  from (select id from due union all select id from ahead limit $2::int) due where d.id = due.id
  returning d.*
)
select c.id::text, c.claim_no as "claimNo", c.attempts, c.endpoint_id as "endpointId", c.subject, p.url, p.hook, c.position,
  ${SECRETS} as secrets,
  case when e.id is not null then json_build_object('id', e.id, 'type', e.type,
    'occurredAtMs', extract(epoch from e.occurred_at) * 1000, 'data', e.data) end as event
from claimed c join event_endpoint p on p.id = c.endpoint_id
left join outbound_event e on e.position = c.position
order by c.id`,
};

type ClaimedRow = Omit<ClaimedDelivery, "event" | "position"> & {
  position: string | null;
  event: { id: string; type: OutboundEventType; occurredAtMs: number; data: Record<string, unknown> } | null;
};

/** Takes deliveries of an endpoint that are due, for `leaseSeconds`. */
export async function claimOutboundDeliveries(
  database: Queryable,
  endpointId: string,
  { limit, leaseSeconds }: { limit: number; leaseSeconds: number },
): Promise<ClaimedDelivery[]> {
  const rows = await database.run<ClaimedRow>(CLAIM, [endpointId, limit, leaseSeconds]);
  return rows.map(({ event, position, ...row }) => ({
    ...row,
    position: position === null ? null : BigInt(position),
    event: event && {
      id: event.id,
      type: event.type,
      occurredAt: new Date(event.occurredAtMs),
      data: event.data,
    },
  }));
}

/** The same with the events that share a row with others. */
export async function withPackedEvents(
  database: Queryable,
  deliveries: readonly ClaimedDelivery[],
  onUnreadable: (packs: readonly UnreadablePack[]) => void,
): Promise<ClaimedDelivery[]> {
  const positions = deliveries.flatMap(({ event, position }) =>
    event === null && position !== null ? position : [],
  );
  if (positions.length === 0) return [...deliveries];
  const packed = await findPackedEvents(database, positions, onUnreadable);
  return deliveries.map((delivery) => ({
    ...delivery,
    event: delivery.event ?? (delivery.position === null ? null : (packed.get(delivery.position) ?? null)),
  }));
}
