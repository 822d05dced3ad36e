import { deflateRawSync, inflateRawSync } from "node:zlib";
import type { OutboundEventType } from "../../domain/outbound/outbound-event.ts";
import type { Queryable } from "../database.ts";
import { filterOfUsers } from "./user-filter.ts";

/** At most as many as a page of a feed. */
const MAX_EVENTS = 100;
/** A pack of fewer is not worth its cost. */
export const MIN_EVENTS = MAX_EVENTS / 2;

type PackableEvent = {
  position: bigint;
  id: string;
  type: OutboundEventType;
  occurredAt: Date;
  userId: string | null;
  data: Record<string, unknown>;
};

export type PackedEvent = Omit<PackableEvent, "userId">;

/** Splits consecutive events that can be packed into packs; those of short runs stay `single`. */
export function splitIntoPacks<Event>(
  events: readonly Event[],
  isPackable: (event: Event) => boolean,
): { packs: Event[][]; single: Event[] } {
  const packs: Event[][] = [];
  const single: Event[] = [];
  for (let start = 0; start < events.length; ) {
    let end = start;
    while (end < events.length && isPackable(events[end] as Event)) end += 1;
    const count = end - start;
    if (count >= MIN_EVENTS) {
      // All of one size: a last one that is too short would not be packed.
      const parts = Math.ceil(count / MAX_EVENTS);
      const bound = (part: number) => start + Math.floor((count * part) / parts);
      for (let part = 0; part < parts; part += 1) packs.push(events.slice(bound(part), bound(part + 1)));
    } else {
      single.push(...events.slice(start, end));
    }
    single.push(...events.slice(end, end + 1));
    start = end + 1;
  }
  return { packs, single };
}

const INSERT = {
  name: "insert_event_packs",
  text: `
insert into outbound_event_pack (first_position, last_position, occurred_at, users, events)
select first_position, last_position, to_timestamp(occurred_ms / 1000),
  substring($4::bytea from users_from for users_bytes), substring($5::bytea from events_from for events_bytes)
from unnest($1::bigint[], $2::bigint[], $3::float8[], $6::int[], $7::int[], $8::int[], $9::int[])
  as input (first_position, last_position, occurred_ms, users_from, users_bytes, events_from, events_bytes)`,
};

/** @param packs events with consecutive positions in each */
export async function insertEventPacks(
  transaction: Queryable,
  packs: readonly (readonly PackableEvent[])[],
): Promise<void> {
  const users = packs.map((events) =>
    filterOfUsers(new Set(events.flatMap(({ userId }) => (userId === null ? [] : userId)))),
  );
  const packed = packs.map(packEvents);
  await transaction.run(INSERT, [
    packs.map((events) => events[0]?.position),
    packs.map((events) => events.at(-1)?.position),
    packs.map((events) => Math.max(...events.map(({ occurredAt }) => occurredAt.getTime()))),
    Buffer.concat(users),
    Buffer.concat(packed),
    ...placesOf(users),
    ...placesOf(packed),
  ]);
}

/** The offset of each event in the joined text, counted from 1, and its length. */
function placesOf(parts: readonly Buffer[]): [from: number[], bytes: number[]] {
  let next = 1;
  const from = parts.map(({ length }) => {
    next += length;
    return next - length;
  });
  return [from, parts.map(({ length }) => length)];
}

export function packEvents(events: readonly PackedEvent[]): Buffer {
  const lines = events.map(
    ({ id, type, occurredAt, data }) => `["${id}","${type}",${occurredAt.getTime()},${JSON.stringify(data)}]`,
  );
  return deflateRawSync(lines.join("\n"), { level: 1 });
}

/** @param firstPosition of the pack */
export function unpackEvents(packed: Buffer, firstPosition: bigint): PackedEvent[] {
  return linesOf(packed).map((line, index) => toEvent(line, firstPosition + BigInt(index)));
}

/** The events at these positions that are in the pack; others are not parsed. */
export function unpackEventsAt(
  packed: Buffer,
  firstPosition: bigint,
  positions: readonly bigint[],
): PackedEvent[] {
  const lines = linesOf(packed);
  return positions.flatMap((position) => {
    const line = lines[Number(position - firstPosition)];
    return line === undefined ? [] : [toEvent(line, position)];
  });
}

function linesOf(packed: Buffer): string[] {
  return inflateRawSync(packed).toString().split("\n");
}

function toEvent(line: string, position: bigint): PackedEvent {
  const [id, type, occurredAt, data] = JSON.parse(line);
  return { position, id, type, occurredAt: new Date(occurredAt), data };
}
