import type { OutboundEventType } from "../domain/outbound-event.ts";
import type { Queryable } from "./database.ts";
import { SEPARATOR } from "./separator.ts";

const LOCK = {
  name: "lock_outbound_relay_scan",
  text: `
select last_position as "lastPosition", scan_from as "scanFrom", case
  when next_scan_xid <= pg_snapshot_xmin(pg_current_snapshot()) then next_scan_from else scan_from end as "nextScanFrom"
from outbound_relay where only_one for update skip locked`,
};

export type RelayState = {
  /** The last position given. */
  lastPosition: bigint;
  /** Every event with a `seq` up to this one has its position. */
  scanFrom: string;
  /** The same, once every event that is visible now has its position. */
  nextScanFrom: string;
};

/** `null`: another process is relaying. The lock ends with the transaction. */
export async function lockRelay(transaction: Queryable): Promise<RelayState | null> {
  type Row = { lastPosition: string; scanFrom: string; nextScanFrom: string };
  const [row] = await transaction.run<Row>(LOCK);
  return row ? { ...row, lastPosition: BigInt(row.lastPosition) } : null;
}

const WAIT = {
  name: "wait_for_outbound_relay",
  text: "select from outbound_relay where only_one for update",
};

/** Keeps the relay out until the end of the transaction. */
export async function waitForRelay(transaction: Queryable): Promise<void> {
  await transaction.run(WAIT);
}

/** An event as its transaction has written it. */
export type WrittenEvent = {
  seq: string;
  type: OutboundEventType;
  subject: string;
  occurredAt: Date;
  /** `null`: complete, as its transaction has written it. */
  data: Record<string, unknown> | null;
  /** Of the subscription of a `subscription.*` event that is not complete. */
  createdAt: Date | null;
  /** Of the user that data names which is not complete. */
  externalId: string | null;
};

// Subqueries, not joins: a plan made for small tables reads the whole inner table in a join.
const WRITTEN = {
  name: "written_outbound_events_after",
  text: `
select e.seq::text, e.type, e.subject, e.occurred_at as "occurredAt",
  case when not e.is_complete then e.data end as data,
  case when not e.is_complete and e.type like 'subscription.%' then (
    select s.created_at from subscription s where s.id = e.subject::uuid
  ) end as "createdAt",
  case when not e.is_complete then (
    select u.external_id from "user" u
    where u.id = coalesce(e.data -> 'subscription' ->> 'userId', e.data ->> 'userId')
  ) end as "externalId"
from (
  select * from outbound_event where position is null and seq > $2::bigint order by seq limit $1::int
) e
order by e.seq`,
};

/** Committed events without a position, in the order in which they were written. */
export async function writtenEvents(
  transaction: Queryable,
  { limit, scanFrom }: { limit: number; scanFrom: string },
): Promise<WrittenEvent[]> {
  return transaction.run<WrittenEvent>(WRITTEN, [limit, scanFrom]);
}

export type PositionedEvent = Pick<WrittenEvent, "seq" | "type" | "subject" | "occurredAt"> & {
  position: bigint;
  id: string;
  /** `null`: it was complete. */
  completed: { userId: string | null; data: Record<string, unknown> } | null;
};

// The planner believes that few events are open, and would compare each with each.
const HASH_JOIN = {
  name: "join_by_hash",
  text: "select set_config('enable_hashjoin', 'on', true), set_config('enable_nestloop', 'off', true)",
};

const POSITION = {
  name: "position_written_outbound_events",
  text: `
update outbound_event e
set position = input.position, id = input.id, data = coalesce(input.data::json, e.data),
  user_id = case when input.data is null then e.data ->> 'userId' else input.user_id end
from unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[], string_to_array($5::text, U&'\\001E', ''))
  as input (seq, position, id, user_id, data)
where e.seq = input.seq and e.seq = any ($1::bigint[]) and e.position is null`,
};

// A transaction that may still commit a number up to `last_seq` had an id before this one, as it had begun to write when the
// number was handed out: once all before this one have ended, none can.
const ADVANCE = {
  name: "advance_outbound_relay_scan",
  text: `
update outbound_relay
set last_position = $1::bigint, scan_from = $2::bigint, last_seq = greatest(last_seq, $3::bigint),
  next_scan_from = case when next_scan_from > $2::bigint then next_scan_from else last_seq end,
  next_scan_xid = case when next_scan_from > $2::bigint then next_scan_xid else pg_current_xact_id() end
where only_one`,
};

/** Stores how far the relay has come, at the end of its transaction. */
export async function advanceRelay(
  transaction: Queryable,
  { lastPosition, scanFrom, lastSeq }: { lastPosition: bigint; scanFrom: string; lastSeq: string },
): Promise<void> {
  await transaction.run(ADVANCE, [lastPosition, scanFrom, lastSeq]);
}

const LOCK_ENDPOINTS = {
  name: "lock_event_endpoints",
  text: "select id from event_endpoint where enabled order by id for no key update",
};

// The first pending one of a subject is due; the others wait until it is done, see `recordAttempt`.
const CREATE_DELIVERIES = {
  name: "create_outbound_deliveries",
  text: `
insert into outbound_delivery (endpoint_id, event_id, event_type, position, subject, next_attempt_at, give_up_at)
select p.id, input.id, input.type, input.position, input.subject,
  case when row_number() over (partition by p.id, input.subject order by input.position) = 1 and not exists (
    select from outbound_delivery d
    where d.endpoint_id = p.id and d.subject = input.subject and d.status = 'pending'
  ) then clock_timestamp() end,
  to_timestamp(input.occurred_ms / 1000) + interval '5 days'
from unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::float8[])
  as input (position, id, type, subject, occurred_ms)
join event_endpoint p on p.enabled and input.type = any (p.types)
order by input.position, p.id`,
};

const DROP = {
  name: "drop_written_outbound_events",
  text: "delete from outbound_event where seq = any ($1::bigint[]) and position is null",
};

/** Removes events that turned out to report no change. */
export async function dropWrittenEvents(transaction: Queryable, seqs: readonly string[]): Promise<void> {
  await transaction.run(DROP, [seqs]);
}

/** Gives events their positions. */
export function positionEvents(
  transaction: Queryable,
  events: readonly PositionedEvent[],
): Promise<unknown>[] {
  const joining = transaction.run(HASH_JOIN);
  const positioning = transaction.run(POSITION, [
    events.map((event) => event.seq),
    events.map((event) => event.position),
    events.map((event) => event.id),
    events.map((event) => event.completed?.userId),
    events
      .map((event) => (event.completed === null ? "" : JSON.stringify(event.completed.data)))
      .join(SEPARATOR),
  ]);
  return [joining, positioning];
}

/**
 * Creates the deliveries to the endpoints that want the events. The endpoints are locked first: what completes a delivery
 * locks them too, and makes the next one of the subject due.
 */
export function createDeliveries(
  transaction: Queryable,
  events: readonly PositionedEvent[],
): Promise<unknown>[] {
  return [
    transaction.run(LOCK_ENDPOINTS),
    transaction.run(CREATE_DELIVERIES, [
      events.map((event) => event.position),
      events.map((event) => event.id),
      events.map((event) => event.type),
      events.map((event) => event.subject),
      events.map((event) => event.occurredAt.getTime()),
    ]),
  ];
}

const IS_WRITTEN = {
  name: "is_outbound_event_written_after",
  text: `
select exists (
  select from outbound_event where position is null and seq > (select scan_from from outbound_relay where only_one)
) as "isWritten"`,
};

/** Whether there is anything to relay. */
export async function isEventWritten(database: Queryable): Promise<boolean> {
  const [row] = await database.run<{ isWritten: boolean }>(IS_WRITTEN);
  return row?.isWritten ?? false;
}
