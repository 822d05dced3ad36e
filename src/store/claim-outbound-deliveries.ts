import type { OutboundEventType } from "../domain/outbound-event.ts";
import type { Queryable } from "./database.ts";

const DUE_ENDPOINTS = {
  name: "due_event_endpoints",
  text: `
select p.id from event_endpoint p
where p.enabled and (p.hook is null or p.hook = any ($1::text[])) and exists (
  select from outbound_delivery d
  where d.endpoint_id = p.id and d.status = 'pending' and d.next_attempt_at <= clock_timestamp())`,
};

/** Endpoints with something to send now. @param hooks the plugins' hooks that this process can call */
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
  event: { id: string; type: OutboundEventType; occurredAt: Date; data: Record<string, unknown> } | null;
};

// The attempt is counted before it is made: a crash must still use it up. The next attempt's time is also the lease.
const CLAIM = {
  name: "claim_outbound_deliveries",
  text: `
with due as materialized (
  select d.id from outbound_delivery d
  where d.endpoint_id = $1::uuid and d.status = 'pending' and d.next_attempt_at <= clock_timestamp()
    and exists (select from event_endpoint where id = $1::uuid and enabled)
  order by d.next_attempt_at, d.id limit $2::int for update skip locked
), claimed as (
  update outbound_delivery d set claim_no = d.claim_no + 1, attempts = d.attempts + 1,
    next_attempt_at = clock_timestamp() + $3::float8 * interval '1 second'
  from due where d.id = due.id
  returning d.*
)
select c.id::text, c.claim_no as "claimNo", c.attempts, c.endpoint_id as "endpointId", c.subject, p.url, p.hook,
  array_remove(array[p.secret, case when p.previous_secret_until > clock_timestamp() then p.previous_secret end], null)
    as secrets,
  case when e.id is not null then json_build_object('id', e.id, 'type', e.type,
    'occurredAtMs', extract(epoch from e.occurred_at) * 1000, 'data', e.data) end as event
from claimed c join event_endpoint p on p.id = c.endpoint_id
left join outbound_event e on e.position = c.position
order by c.id`,
};

type ClaimedRow = Omit<ClaimedDelivery, "event"> & {
  event: { id: string; type: OutboundEventType; occurredAtMs: number; data: Record<string, unknown> } | null;
};

/** Takes deliveries of an endpoint that are due, for `leaseSeconds`. */
export async function claimDeliveries(
  database: Queryable,
  endpointId: string,
  { limit, leaseSeconds }: { limit: number; leaseSeconds: number },
): Promise<ClaimedDelivery[]> {
  const rows = await database.run<ClaimedRow>(CLAIM, [endpointId, limit, leaseSeconds]);
  return rows.map(({ event, ...row }) => ({
    ...row,
    event: event && {
      id: event.id,
      type: event.type,
      occurredAt: new Date(event.occurredAtMs),
      data: event.data,
    },
  }));
}
