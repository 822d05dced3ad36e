import { backOffSeconds } from "../../domain/deliveries/delivery.ts";
import { OUTBOUND_FAILURES } from "../../domain/outbound/outbound-failure.ts";
import type { Queryable } from "../database.ts";
import type { Transaction } from "../transaction.ts";
import type { ClaimedDelivery } from "./claim-outbound-deliveries.ts";
import { FAILING_TIME, NOTIFY_DISABLED } from "./failing-endpoints.ts";
import { LOCK_ENDPOINT } from "./lock-event-endpoint.ts";
import { SENDING_TIME } from "./sending-time.ts";

export type AttemptResult = {
  isDelivered: boolean;
  durationMs: number;
  /** `null`: no response. */
  responseStatus: number | null;
  error: string | null;
};

/** What an attempt has resulted in. */
export type FinishedAttempt = {
  delivery: ClaimedDelivery;
  result: AttemptResult;
  /** After a failure. */
  retryInSeconds: number;
};

/**
 * After each attempt but the last at an event that this process cannot read, an hour and a half in all: another one may
 * read it, while servers of two releases run, and later events of its subscription wait. What failed at the endpoint,
 * or before it was replayed, does not count.
 */
const UNREAD_WAITS = [1, 2, 3, 4, 5].map((attempt) => backOffSeconds(attempt, 0.5));

const RECORD = {
  name: "record_outbound_attempts",
  text: `
with input as materialized (
  select *, coalesce(clock_timestamp() + interval '1 second' * case when error = '${OUTBOUND_FAILURES.not_stored}' then (
      select ('{${UNREAD_WAITS}}'::float8[])[count(a.attempt) + 1]
      from outbound_delivery d left join outbound_attempt a
        on a.delivery_id = d.id and a.error = i.error and a.at >= d.give_up_at - ${SENDING_TIME}
      where d.id = i.id
    ) else retry_seconds end, 'infinity') as retry_at
  from unnest($2::bigint[], $3::int[], $4::int[], $5::float8[], $6::boolean[], $7::float8[], $8::int[], $9::text[], $10::text[])
    as i (id, claim_no, attempt, duration_ms, is_delivered, retry_seconds, response_status, error, url)
), done as (
  update outbound_delivery d
  set status = case when i.is_delivered then 'delivered' when i.retry_at > d.give_up_at then 'failed' else 'pending' end,
    next_attempt_at = case
      when i.is_delivered or i.retry_at > d.give_up_at then null
      when exists (
        select from outbound_delivery e
        where e.endpoint_id = d.endpoint_id and e.subject = d.subject and e.status = 'pending' and e.id < d.id
      ) then null
      else i.retry_at end,
    completed_at = case when i.is_delivered or i.retry_at > d.give_up_at then clock_timestamp() end
  from input i
  where d.id = i.id and d.id = any ($2::bigint[]) and d.claim_no = i.claim_no and d.status = 'pending'
  returning i.*, d.status = 'failed' as is_given_up
), logged as (
  insert into outbound_attempt (delivery_id, attempt, at, duration_ms, response_status, error)
  select id, attempt, clock_timestamp() - duration_ms * interval '1 millisecond', duration_ms, response_status, error
  from done
  on conflict do nothing
), attempted as (
  select bool_or(is_delivered) as is_accepting, array_agg(url) filter (where response_status = 410) as gone
  from done where error is distinct from '${OUTBOUND_FAILURES.not_stored}' having count(*) > 0
), outcome as (
  select a.is_accepting, p.enabled as was_enabled, coalesce(not a.is_accepting and p.hook is null
    and (p.url = any (a.gone) or p.failing_since <= clock_timestamp() - ${FAILING_TIME}), false) as is_disabling
  from attempted a join event_endpoint p on p.id = $1::uuid
), failing as (
  update event_endpoint p
  set failing_since = case when o.is_accepting then null else coalesce(p.failing_since, clock_timestamp()) end,
    enabled = p.enabled and not o.is_disabling,
    disabled_at = case when p.enabled and o.is_disabling then clock_timestamp() else p.disabled_at end
  from outcome o
  where p.id = $1::uuid and ((p.failing_since is null) <> o.is_accepting or o.is_disabling)
  returning p.id, p.url, o.was_enabled and not p.enabled as is_disabled_now, p.created_by
), disabled as (
  select id, url, created_by from failing where is_disabled_now
), notified as (
  ${NOTIFY_DISABLED}
)
select id::text from done where is_given_up`,
};

// In a statement of its own: it must see what was created while the lock was awaited.
const MAKE_NEXT_DUE = {
  name: "make_next_outbound_deliveries_due",
  text: `
update outbound_delivery d set next_attempt_at = clock_timestamp()
from unnest($2::text[]) as done (subject) cross join lateral (
  select id from outbound_delivery
  where endpoint_id = $1::uuid and subject = done.subject and status = 'pending' order by id limit 1
) head
where d.id = head.id and d.next_attempt_at is null`,
};

/**
 * Records attempts at one endpoint, those whose claim still holds. Makes the next delivery of a subject due
 * when one is done, and disables an endpoint that has failed for five days, or responded with 410 at its present
 * URL; one success among the attempts ends the failing. What could not be sent says nothing about the endpoint.
 * Notifies who added it, or all administrators if that person is no longer one.
 * The second promise is for the deliveries that were given up.
 */
export function recordAttempts(
  transaction: Transaction,
  endpointId: string,
  outcomes: readonly FinishedAttempt[],
): [Promise<unknown>, Promise<{ id: string }[]>, Promise<unknown>] {
  const deliveries = outcomes.map(({ delivery }) => delivery);
  const results = outcomes.map(({ result }) => result);
  return [
    transaction.run(LOCK_ENDPOINT, [endpointId]),
    transaction.run<{ id: string }>(RECORD, [
      endpointId,
      deliveries.map(({ id }) => id),
      deliveries.map(({ claimNo }) => claimNo),
      deliveries.map(({ attempts }) => attempts),
      results.map(({ durationMs }) => durationMs),
      results.map(({ isDelivered }) => isDelivered),
      outcomes.map(({ retryInSeconds }) => retryInSeconds),
      results.map(({ responseStatus }) => responseStatus),
      results.map(({ error }) => error),
      deliveries.map(({ url }) => url),
    ]),
    transaction.run(MAKE_NEXT_DUE, [endpointId, [...new Set(deliveries.map(({ subject }) => subject))]]),
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
  { isDelivered, durationMs, responseStatus, error }: AttemptResult,
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
