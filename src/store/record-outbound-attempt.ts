import type { ClaimedDelivery } from "./claim-outbound-deliveries.ts";
import type { Queryable } from "./database.ts";
import { LOCK_ENDPOINT } from "./lock-event-endpoint.ts";
import type { Transaction } from "./transaction.ts";

export type SendResult = {
  isDelivered: boolean;
  durationMs: number;
  /** `null`: no response. */
  responseStatus: number | null;
  error: string | null;
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
