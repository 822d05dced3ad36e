import type { OutboundEventType } from "../domain/outbound-event.ts";
import type { Queryable } from "./database.ts";
import type { Transaction } from "./transaction.ts";

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

export type SendResult = {
  isDelivered: boolean;
  durationMs: number;
  /** `null`: no response. */
  responseStatus: number | null;
  error: string | null;
};

const LOCK_ENDPOINT = {
  name: "lock_event_endpoint",
  text: "select from event_endpoint where id = $1::uuid for no key update",
};

const RECORD = {
  name: "record_outbound_attempt",
  text: `
with done as (
  update outbound_delivery d
  set status = case when $5::boolean then 'delivered'
      when clock_timestamp() + $6::float8 * interval '1 second' > d.give_up_at then 'failed' else 'pending' end,
    next_attempt_at = case
      when $5::boolean or clock_timestamp() + $6::float8 * interval '1 second' > d.give_up_at then null
      when exists (
        select from outbound_delivery e
        where e.endpoint_id = d.endpoint_id and e.subject = d.subject and e.status = 'pending' and e.id < d.id
      ) then null
      else clock_timestamp() + $6::float8 * interval '1 second' end,
    completed_at = case
      when $5::boolean or clock_timestamp() + $6::float8 * interval '1 second' > d.give_up_at then clock_timestamp() end
  where d.id = $1::bigint and d.claim_no = $2::int and d.status = 'pending'
  returning d.id
), logged as (
  insert into outbound_attempt (delivery_id, attempt, at, duration_ms, response_status, error)
  select id, $3::int, clock_timestamp() - $4::float8 * interval '1 millisecond', $4::float8, $7::int, $8::text from done
  on conflict do nothing
), failing as (
  update event_endpoint p
  set failing_since = case when $5::boolean then null else coalesce(p.failing_since, clock_timestamp()) end,
    enabled = case when $5::boolean then p.enabled
      else p.enabled and (p.hook is not null
        or coalesce(p.failing_since, clock_timestamp()) > clock_timestamp() - interval '5 days') end,
    disabled_at = case when not $5::boolean and p.enabled and p.hook is null
      and p.failing_since <= clock_timestamp() - interval '5 days' then clock_timestamp() else p.disabled_at end
  from done where p.id = $9::uuid and (p.failing_since is null) <> $5::boolean
    or p.id = $9::uuid and not $5::boolean and p.failing_since <= clock_timestamp() - interval '5 days'
  returning p.id, p.url, p.enabled, p.created_by
), recipient as (
  select u.id, failing.id as endpoint_id, failing.url from failing cross join "user" u
  where not failing.enabled and (u.id = failing.created_by
    or (u.role = 'admin' and not exists (select from "user" o where o.id = failing.created_by)))
)
insert into notification (user_id, kind, details)
select id, 'event_endpoint_disabled', jsonb_build_object('endpointId', endpoint_id, 'url', url) from recipient`,
};

// In a statement of its own: it must see what was created while the lock was awaited.
const MAKE_NEXT_DUE = {
  name: "make_next_outbound_delivery_due",
  text: `
update outbound_delivery d set next_attempt_at = clock_timestamp()
from (
  select id from outbound_delivery where endpoint_id = $1::uuid and subject = $2 and status = 'pending' order by id limit 1
) head
where d.id = head.id and d.next_attempt_at is null`,
};

/**
 * Records an attempt, if the claim still holds. Makes the next delivery of the subject due when this one is done, and
 * disables an endpoint that has failed for five days.
 * @param retryInSeconds after a failure
 */
export function recordAttempt(
  transaction: Transaction,
  { id, claimNo, attempts, endpointId, subject }: ClaimedDelivery,
  result: SendResult,
  retryInSeconds: number,
): Promise<unknown>[] {
  const { isDelivered, durationMs, responseStatus, error } = result;
  return [
    transaction.run(LOCK_ENDPOINT, [endpointId]),
    transaction.run(RECORD, [
      id,
      claimNo,
      attempts,
      durationMs,
      isDelivered,
      retryInSeconds,
      responseStatus,
      error,
      endpointId,
    ]),
    transaction.run(MAKE_NEXT_DUE, [endpointId, subject]),
  ];
}

export type OutboundDelivery = {
  id: string;
  eventId: string;
  eventType: OutboundEventType;
  status: "pending" | "delivered" | "failed";
  createdAt: Date;
  completedAt: Date | null;
  /** `null`: it waits for an earlier event, or is done. */
  nextAttemptAt: Date | null;
  attempts: {
    attempt: number;
    at: Date;
    durationMs: number;
    responseStatus: number | null;
    error: string | null;
  }[];
};

const LIST = {
  name: "list_outbound_deliveries",
  text: `
select d.id::text, d.event_id as "eventId", d.event_type as "eventType", d.status, d.created_at as "createdAt",
  d.completed_at as "completedAt", d.next_attempt_at as "nextAttemptAt",
  coalesce((
    select json_agg(json_build_object('attempt', a.attempt, 'at', a.at, 'durationMs', a.duration_ms,
      'responseStatus', a.response_status, 'error', a.error) order by a.attempt)
    from outbound_attempt a where a.delivery_id = d.id
  ), '[]') as attempts
from outbound_delivery d
where d.endpoint_id = $1::uuid and ($2::bigint is null or d.id < $2::bigint) and ($4::text is null or d.status = $4)
order by d.id desc limit $3::int`,
};

type ListedAttempt = Omit<OutboundDelivery["attempts"][number], "at"> & { at: string };
type ListedRow = Omit<OutboundDelivery, "attempts"> & { attempts: ListedAttempt[] };

/** An endpoint's deliveries, the newest first, with every attempt. */
export async function listOutboundDeliveries(
  database: Queryable,
  endpointId: string,
  { before, limit, status }: { before: string | null; limit: number; status: string | null },
): Promise<OutboundDelivery[]> {
  const rows = await database.run<ListedRow>(LIST, [endpointId, before, limit, status]);
  return rows.map(({ attempts, ...row }) => ({
    ...row,
    attempts: attempts.map((one) => ({ ...one, at: new Date(one.at) })),
  }));
}

// Whatever is pending of the same subjects waits for the replayed ones, save what is being sent.
const REPLAY = {
  name: "replay_outbound_deliveries",
  text: `
update outbound_delivery d
set status = 'pending', next_attempt_at = null, completed_at = null, claim_no = d.claim_no + 1,
  give_up_at = clock_timestamp() + interval '5 days'
where d.endpoint_id = $1::uuid and d.status <> 'pending' and d.position is not null
  and d.id = any ($2::bigint[])
  and exists (select from outbound_event e where e.position = d.position)
returning d.id::text`,
};

const FAILED = {
  name: "failed_outbound_deliveries",
  text: `
select id::text from outbound_delivery
where endpoint_id = $1::uuid and status = 'failed' and ($2::timestamptz is null or created_at >= $2::timestamptz)
order by outbound_delivery.id limit 10000`,
};

const ORDER_HEADS = {
  name: "order_outbound_heads",
  text: `
update outbound_delivery d
set next_attempt_at = case when d.id = head.id then clock_timestamp() end
from (
  select subject, min(id) as id from outbound_delivery
  where endpoint_id = $1::uuid and status = 'pending'
    and subject in (select subject from outbound_delivery where id = any ($2::bigint[]))
  group by subject
) head
where d.endpoint_id = $1::uuid and d.subject = head.subject and d.status = 'pending'
  and (d.next_attempt_at is null) = (d.id = head.id)`,
};

/**
 * Sends deliveries again that are done, in their old order and before what is pending of the same subjects. Returns the
 * ids of those; what is pending, a test, or no longer kept is left out.
 * @param ids `null`: every failed one, created since then
 */
export async function replayDeliveries(
  transaction: Queryable,
  endpointId: string,
  { ids, since }: { ids: readonly string[] | null; since: Date | null },
): Promise<string[]> {
  await transaction.run(LOCK_ENDPOINT, [endpointId]);
  const chosen =
    ids ??
    (await transaction.run<{ id: string }>(FAILED, [endpointId, since?.toISOString() ?? null])).map(
      ({ id }) => id,
    );
  const replayed = await transaction.run<{ id: string }>(REPLAY, [endpointId, chosen]);
  await transaction.run(ORDER_HEADS, [endpointId, chosen]);
  return replayed.map(({ id }) => id);
}

const RECORD_TEST = {
  name: "record_outbound_test",
  text: `
with delivery as (
  insert into outbound_delivery (endpoint_id, event_id, event_type, subject, status, attempts, give_up_at, completed_at)
  select id, $2, $3, 'test ' || $2, case when $4::boolean then 'delivered' else 'failed' end, 1, clock_timestamp(),
    clock_timestamp()
  from event_endpoint where id = $1::uuid
  returning id
)
insert into outbound_attempt (delivery_id, attempt, at, duration_ms, response_status, error)
select id, 1, clock_timestamp() - $5::float8 * interval '1 millisecond', $5::float8, $6::int, $7::text from delivery`,
};

/** A test is logged, but neither retried nor put in order. */
export async function recordTest(
  database: Queryable,
  endpointId: string,
  event: { id: string; type: string },
  { isDelivered, durationMs, responseStatus, error }: SendResult,
): Promise<void> {
  await database.run(RECORD_TEST, [
    endpointId,
    event.id,
    event.type,
    isDelivered,
    durationMs,
    responseStatus,
    error,
  ]);
}
