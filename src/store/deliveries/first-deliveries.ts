import type { Failure } from "../../domain/deliveries/failures.ts";
import type { Slot } from "../../domain/slot.ts";
import type { Queryable } from "../database.ts";
import { joinPayloads, SEPARATOR } from "../driver/separator.ts";
import type { Attempt } from "./attempts.ts";
import type { NewDelivery } from "./deliveries.ts";
import { compareKeys, keyOf } from "./delivery-key.ts";
import { storedFailure } from "./stored-failure.ts";

const KNOWN = {
  name: "known_deliveries",
  // With keys of several slots it may find an id of one of them in another. A commit is visible once it is on
  // disk here, but may not have reached the standbys yet, or this may be one of them.
  text: `
select provider, event_id as "eventId", status = 'successful' and current_setting('synchronous_standby_names') = ''
  and not current_setting('transaction_read_only')::boolean as "isDurable"
from webhook_delivery where provider = any ($1::text[]) and event_id = any ($2::text[])`,
};

/** Which of these events have a delivery already, by `keyOf`, and whether it is known to be durably successful. */
export async function findKnownDeliveries(
  transaction: Queryable,
  keys: readonly { provider: Slot; eventId: string }[],
): Promise<Map<string, boolean>> {
  type Row = { provider: Slot; eventId: string; isDurable: boolean };
  const rows = await transaction.run<Row>(KNOWN, [
    [...new Set(keys.map((key) => key.provider))],
    keys.map((key) => key.eventId),
  ]);
  return new Map(rows.map((row) => [keyOf(row), row.isDurable]));
}

/** A delivery in its final state, with the result of its first attempt. */
export type FirstDelivery = {
  delivery: NewDelivery;
  /** Its `keyOf`. */
  key: string;
  /** Milliseconds since receipt. */
  durationMs: number;
  /** `null`: it succeeded. */
  failed: { failure: Failure; retryInSeconds: number | null } | null;
  changed: Attempt["changed"];
  /** Of a user who has deleted the account: the payload is not stored. */
  isRedacted: boolean;
};

// Rows keep the given order. Only the ids of failures are returned, as no other is needed.
const INSERT = {
  name: "insert_first_deliveries",
  text: `
with inserted as (
  insert into webhook_delivery (provider, event_id, event_type, format, status, claim_source, received_at,
    completed_at, next_attempt_at, last_error, last_reason, occurred_at, payload, first_source, first_outcome,
    first_reason, first_reason_id, first_reason_params, first_duration_ms, first_subscription_id, first_changes,
    first_changed_at)
  select provider, event_id, event_type, format, case when failure is null then 'successful' else 'failed' end, source,
    moment.at - duration * interval '1 millisecond', moment.at, moment.at + retry_in * interval '1 second',
    failure->>'error', failure->>'reason',
    to_timestamp(occurred / 1e6), payload::json, source,
    case when failure is null then 'successful' else 'failed' end, failure->>'error', failure->>'reason',
    failure->'params', duration, subscription_id, changes::json,
    case when changes is not null then moment.at + ordinal * interval '1 microsecond' end
  from (select clock_timestamp() as at offset 0) moment
  cross join unnest(
    $1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::float8[],
    string_to_array($7::text, U&'\\001E', ''), $8::float8[], $9::json[], $10::float8[], $11::uuid[],
    string_to_array($12::text, U&'\\001E', ''), $13::int[]
  ) as input (provider, event_id, event_type, format, source, occurred, payload, duration, failure, retry_in,
    subscription_id, changes, ordinal)
  returning id, provider, event_id, status
)
select id, provider, event_id as "eventId" from inserted where status = 'failed'`,
};

/**
 * Inserts deliveries of events that were applied in the order of the list. Returns the ids of those that
 * failed, by `keyOf`.
 * @throws a unique violation when another transaction has just inserted one of them
 */
export async function insertFirstDeliveries(
  transaction: Queryable,
  deliveries: readonly FirstDelivery[],
): Promise<Map<string, string>> {
  // Sorted, so that two processes inserting the same events lock them in the same order.
  const sorted = deliveries
    .map((processed, ordinal) => ({ processed, ordinal }))
    .sort((a, b) => compareKeys(a.processed.key, b.processed.key));
  const hasFailures = deliveries.some(({ failed }) => failed !== null);
  const rows = await transaction.run<{ id: string; provider: Slot; eventId: string }>(INSERT, [
    sorted.map(({ processed }) => processed.delivery.provider),
    sorted.map(({ processed }) => processed.delivery.eventId),
    sorted.map(({ processed }) => processed.delivery.eventType),
    sorted.map(({ processed }) => processed.delivery.format),
    sorted.map(({ processed }) => processed.delivery.source),
    sorted.map(({ processed }) => processed.delivery.occurredAtMicros),
    joinPayloads(sorted.map(({ processed }) => (processed.isRedacted ? null : processed.delivery.payload))),
    sorted.map(({ processed }) => processed.durationMs),
    // `unnest` fills a shorter array up with nulls.
    hasFailures ? sorted.map(({ processed }) => storedFailure(processed.failed?.failure ?? null)) : [],
    hasFailures ? sorted.map(({ processed }) => processed.failed?.retryInSeconds) : [],
    sorted.map(({ processed }) => processed.changed?.subscriptionId),
    sorted
      .map(({ processed }) => (processed.changed ? JSON.stringify(processed.changed.changes) : ""))
      .join(SEPARATOR),
    sorted.map(({ ordinal }) => ordinal),
  ]);
  return new Map(rows.map((row) => [keyOf(row), row.id]));
}
