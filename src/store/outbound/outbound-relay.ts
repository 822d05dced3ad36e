import { hash } from "node:crypto";
import type { OutboundEventType } from "../../domain/outbound/outbound-event.ts";
import type { Queryable } from "../database.ts";
import { SEPARATOR } from "../driver/separator.ts";
import { insertEventPacks, splitIntoPacks } from "./event-packs.ts";
import { SENDING_TIME } from "./sending-time.ts";

/** An event with all that is sent of it. */
export type CompleteEvent = {
  /** Of its row without a position; `null`: it has none yet. */
  seq: string | null;
  type: OutboundEventType;
  /** `null`: made of the user's id where it is needed. */
  subject: string | null;
  occurredAt: Date;
  userId: string | null;
  data: Record<string, unknown>;
  /** Stored alone: `grace-ends.ts` looks it up by its user. */
  isPastDue?: boolean;
};

export type PositionedEvent = CompleteEvent & { position: bigint; id: string };

const INSERT = {
  name: "insert_positioned_outbound_events",
  text: `
insert into outbound_event (type, subject, occurred_at, data, position, id, user_id)
select type, subject, to_timestamp(occurred_ms / 1000), data::json, position, id, user_id
from unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::float8[], $6::text[],
  string_to_array($7::text, U&'\\001E')) as input (position, id, type, subject, occurred_ms, user_id, data)`,
};

// The planner expects few open events, and would compare each with each.
const HASH_JOIN = {
  name: "join_by_hash",
  text: "select set_config('enable_hashjoin', 'on', true), set_config('enable_nestloop', 'off', true)",
};

const POSITION = {
  name: "position_outbound_events",
  text: `
update outbound_event e
set position = input.position, id = input.id, data = input.data::json, user_id = input.user_id
from unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[], string_to_array($5::text, U&'\\001E'))
  as input (seq, position, id, user_id, data)
where e.seq = input.seq and e.seq = any ($1::bigint[]) and e.position is null`,
};

/** Stores events with their positions: in the row that they have, in a new one, or many in one. */
export function storeEvents(transaction: Queryable, events: readonly PositionedEvent[]): Promise<unknown>[] {
  const { packs, single } = splitIntoPacks(events, ({ seq, isPastDue }) => seq === null && !isPastDue);
  const added = single.filter(({ seq }) => seq === null);
  const written = single.filter(({ seq }) => seq !== null);
  return [
    ...(packs.length > 0 ? [insertEventPacks(transaction, packs)] : []),
    ...(added.length > 0
      ? [
          transaction.run(INSERT, [
            added.map((event) => event.position),
            added.map((event) => event.id),
            added.map((event) => event.type),
            added.map(subjectOf),
            added.map((event) => event.occurredAt.getTime()),
            added.map((event) => event.userId),
            joinedData(added),
          ]),
        ]
      : []),
    ...(written.length > 0
      ? [
          transaction.run(HASH_JOIN),
          transaction.run(POSITION, [
            written.map((event) => event.seq),
            written.map((event) => event.position),
            written.map((event) => event.id),
            written.map((event) => event.userId),
            joinedData(written),
          ]),
        ]
      : []),
  ];
}

function subjectOf({ subject, userId }: PositionedEvent): string {
  return subject ?? hash("md5", `user ${userId}`);
}

function joinedData(events: readonly PositionedEvent[]): string {
  return events.map(({ data }) => JSON.stringify(data)).join(SEPARATOR);
}

const LOCK_ENDPOINTS = {
  name: "lock_event_endpoints",
  text: "select id, types from event_endpoint where enabled order by id for no key update",
};

type LockedEndpoint = { id: string; types: OutboundEventType[] };

/**
 * Locks the endpoints, as whatever completes a delivery does, which makes the next one of its subject due.
 */
export async function lockEndpoints(transaction: Queryable): Promise<LockedEndpoint[]> {
  return transaction.run<LockedEndpoint>(LOCK_ENDPOINTS);
}

// The first pending one of a subject is due; the others wait until it is done, see `recordAttempts`.
const CREATE_DELIVERIES = {
  name: "create_outbound_deliveries",
  text: `
insert into outbound_delivery (endpoint_id, event_id, event_type, position, subject, next_attempt_at, give_up_at)
select p.id, input.id, input.type, input.position, input.subject,
  case when row_number() over (partition by p.id, input.subject order by input.position) = 1 and not exists (
    select from outbound_delivery d
    where d.endpoint_id = p.id and d.subject = input.subject and d.status = 'pending'
  ) then clock_timestamp() end,
  to_timestamp(input.occurred_ms / 1000) + ${SENDING_TIME}
from unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::float8[])
  as input (position, id, type, subject, occurred_ms)
join event_endpoint p on p.id = any ($6::uuid[]) and input.type = any (p.types)
order by input.position, p.id`,
};

/** Creates the deliveries to those of the locked endpoints that want the events. */
export function createDeliveries(
  transaction: Queryable,
  events: readonly PositionedEvent[],
  endpoints: readonly LockedEndpoint[],
): Promise<unknown>[] {
  const types = new Set(endpoints.flatMap((endpoint) => endpoint.types));
  const wanted = events.filter(({ type }) => types.has(type));
  if (wanted.length === 0) return [];
  return [
    transaction.run(CREATE_DELIVERIES, [
      wanted.map((event) => event.position),
      wanted.map((event) => event.id),
      wanted.map((event) => event.type),
      wanted.map(subjectOf),
      wanted.map((event) => event.occurredAt.getTime()),
      endpoints.map(({ id }) => id),
    ]),
  ];
}
