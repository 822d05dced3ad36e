import type { OutboundEventType } from "../domain/outbound-event.ts";
import type { Queryable } from "./database.ts";

const LOCK = {
  name: "lock_outbound_relay",
  text: `select last_position as "lastPosition" from outbound_relay where only_one for update skip locked`,
};

/** The last position given; `null`: another process is relaying. The lock ends with the transaction. */
export async function lockRelay(transaction: Queryable): Promise<bigint | null> {
  const [row] = await transaction.run<{ lastPosition: string }>(LOCK);
  return row ? BigInt(row.lastPosition) : null;
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
  data: Record<string, unknown>;
  /** Of the subscription of a `subscription.*` event. */
  createdAt: Date | null;
  /** Of the user that the data names. */
  externalId: string | null;
};

// Subqueries, not joins: a plan made for small tables reads the whole inner table in a join. `to_jsonb` also works
// before the column exists.
const WRITTEN = {
  name: "written_outbound_events",
  text: `
select e.seq::text, e.type, e.subject, e.occurred_at as "occurredAt", e.data,
  (
    select s.created_at from subscription s
    where s.id = case when e.type like 'subscription.%' then e.subject::uuid end
  ) as "createdAt",
  (
    select to_jsonb(u) ->> 'external_id' from "user" u
    where u.id = coalesce(e.data -> 'subscription' ->> 'userId', e.data ->> 'userId')
  ) as "externalId"
from (select * from outbound_event where position is null order by seq limit $1::int) e
order by e.seq`,
};

/** Committed events without a position, in the order in which they were written. */
export async function writtenEvents(transaction: Queryable, limit: number): Promise<WrittenEvent[]> {
  return transaction.run<WrittenEvent>(WRITTEN, [limit]);
}

export type PositionedEvent = {
  seq: string;
  position: bigint;
  id: string;
  type: OutboundEventType;
  subject: string;
  occurredAt: Date;
  userId: string | null;
  data: Record<string, unknown>;
};

const POSITION = {
  name: "position_outbound_events",
  text: `
update outbound_event e
set position = given.position, id = given.id, user_id = given.user_id, data = given.data::json
from unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[], $5::text[])
  as given (seq, position, id, user_id, data)
where e.seq = given.seq and e.seq = any ($1::bigint[]) and e.position is null`,
};

const ADVANCE = {
  name: "advance_outbound_relay",
  text: "update outbound_relay set last_position = $1::bigint where only_one",
};

const LOCK_ENDPOINTS = {
  name: "lock_event_endpoints",
  text: "select id from event_endpoint where enabled order by id for no key update",
};

// The first pending one of a subject is due; the others wait until it is done, see `recordAttempt`.
const CREATE_DELIVERIES = {
  name: "create_outbound_deliveries",
  text: `
insert into outbound_delivery (endpoint_id, event_id, event_type, position, subject, next_attempt_at, give_up_at)
select p.id, given.id, given.type, given.position, given.subject,
  case when row_number() over (partition by p.id, given.subject order by given.position) = 1 and not exists (
    select from outbound_delivery d
    where d.endpoint_id = p.id and d.subject = given.subject and d.status = 'pending'
  ) then clock_timestamp() end,
  to_timestamp(given.occurred_ms / 1000) + interval '5 days'
from unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::float8[])
  as given (position, id, type, subject, occurred_ms)
join event_endpoint p on p.enabled and given.type = any (p.types)
order by given.position, p.id`,
};

const DROP = {
  name: "drop_written_outbound_events",
  text: "delete from outbound_event where seq = any ($1::bigint[]) and position is null",
};

/** Removes events that turned out to report no change. */
export async function dropWrittenEvents(transaction: Queryable, seqs: readonly string[]): Promise<void> {
  await transaction.run(DROP, [seqs]);
}

/**
 * Gives events their positions, and creates the deliveries to the endpoints that want them. The endpoints are locked
 * first: what completes a delivery locks them too, and makes the next one of the subject due.
 */
export function positionEvents(
  transaction: Queryable,
  events: readonly PositionedEvent[],
): Promise<unknown>[] {
  const last = events.at(-1) as PositionedEvent;
  return [
    transaction.run(POSITION, [
      events.map((event) => event.seq),
      events.map((event) => event.position),
      events.map((event) => event.id),
      events.map((event) => event.userId),
      events.map((event) => JSON.stringify(event.data)),
    ]),
    transaction.run(ADVANCE, [last.position]),
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
  name: "is_outbound_event_written",
  text: `select exists (select from outbound_event where position is null) as "isWritten"`,
};

/** Whether there is anything to relay. */
export async function isEventWritten(database: Queryable): Promise<boolean> {
  const [row] = await database.run<{ isWritten: boolean }>(IS_WRITTEN);
  return row?.isWritten ?? false;
}
