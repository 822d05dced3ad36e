import type { OutboundEvent } from "../domain/outbound-event.ts";
import type { Queryable } from "./database.ts";
import { MIN_EVENTS, unpackEvents } from "./event-packs.ts";

type ListedEvent = Omit<OutboundEvent, "version"> & { position: bigint };

export type EventList = {
  /** The last position given. */
  lastPosition: bigint;
  /** Events up to this position are no longer kept. */
  droppedUntil: bigint;
  /** The id of the event at the position after which the list begins; `null`: there is none. */
  afterId: string | null;
  events: ListedEvent[];
};

// One statement, which sees one snapshot: an event that is dropped meanwhile would seem never to have
// existed. What is still stored before a dropped event is left out: no list could continue after it.
const READ = {
  name: "read_outbound_events",
  text: `
select r.last_position::text as "lastPosition", r.dropped_until::text as "droppedUntil",
  (select e.id from outbound_event e where e.position = $1::bigint) as "afterId",
  coalesce((
    select json_agg(json_build_object('position', e.position::text, 'id', e.id, 'type', e.type,
      'occurredAtMs', extract(epoch from e.occurred_at) * 1000, 'data', e.data) order by e.position)
    from (
      select * from outbound_event where position > greatest($1::bigint, r.dropped_until)
      order by position limit $2::int
    ) e
  ), '[]') as events,
  coalesce((
    select json_agg(json_build_object('firstPosition', p.first_position::text, 'events', encode(p.events, 'base64'))
      order by p.last_position)
    from (
      select * from outbound_event_pack where last_position >= greatest($1::bigint, r.dropped_until)
      order by last_position limit $3::int
    ) p
  ), '[]') as packs
from outbound_relay r`,
};

type ReadRow = {
  lastPosition: string;
  droppedUntil: string;
  afterId: string | null;
  events: (Omit<ListedEvent, "position" | "occurredAt"> & { position: string; occurredAtMs: number })[];
  /** The first one may end with the event at `after`. */
  packs: { firstPosition: string; events: string }[];
};

/** Events that have a position, the oldest first. @param after `null`: from the oldest one */
export async function readEvents(
  database: Queryable,
  { after, limit }: { after: bigint | null; limit: number },
): Promise<EventList> {
  const packs = Math.ceil(limit / MIN_EVENTS) + 1;
  const [row] = await database.run<ReadRow>(READ, [after, limit, packs]);
  const { lastPosition, droppedUntil, afterId, ...stored } = row as ReadRow;
  const single = stored.events.map(({ position, occurredAtMs, ...event }) => ({
    ...event,
    position: BigInt(position),
    occurredAt: new Date(occurredAtMs),
  }));
  const dropped = BigInt(droppedUntil);
  const from = after !== null && after > dropped ? after : dropped;
  const packed = unpackUntil(stored.packs, from, limit);
  return {
    lastPosition: BigInt(lastPosition),
    droppedUntil: dropped,
    afterId: afterId ?? packed.find(({ position }) => position === after)?.id ?? null,
    events: [...single, ...packed.filter(({ position }) => position > from)]
      .sort((a, b) => (a.position < b.position ? -1 : 1))
      .slice(0, limit),
  };
}

/** Until there are enough after the position. */
function unpackUntil(packs: ReadRow["packs"], after: bigint, limit: number): ListedEvent[] {
  const unpacked: ListedEvent[] = [];
  let count = 0;
  for (const { firstPosition, events: packed } of packs) {
    const events = unpackEvents(Buffer.from(packed, "base64"), BigInt(firstPosition));
    unpacked.push(...events);
    count += events.filter(({ position }) => position > after).length;
    if (count >= limit) break;
  }
  return unpacked;
}
