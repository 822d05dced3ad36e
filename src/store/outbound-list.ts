import type { OutboundEvent } from "../domain/outbound-event.ts";
import type { Queryable } from "./database.ts";

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

// One statement, as one snapshot: an event that is dropped meanwhile would look as if it had never been.
const READ = {
  name: "read_outbound_events",
  text: `
select r.last_position::text as "lastPosition", r.dropped_until::text as "droppedUntil",
  (select e.id from outbound_event e where e.position = $1::bigint) as "afterId",
  coalesce((
    select json_agg(json_build_object('position', e.position::text, 'id', e.id, 'type', e.type,
      'occurredAtMs', extract(epoch from e.occurred_at) * 1000, 'data', e.data) order by e.position)
    from (
      select * from outbound_event where position > coalesce($1::bigint, 0) order by position limit $2::int
    ) e
  ), '[]') as events
from outbound_relay r`,
};

type ReadRow = {
  lastPosition: string;
  droppedUntil: string;
  afterId: string | null;
  events: (Omit<ListedEvent, "position" | "occurredAt"> & { position: string; occurredAtMs: number })[];
};

/** Events that have a position, the oldest first. @param after `null`: from the oldest one */
export async function readEvents(
  database: Queryable,
  { after, limit }: { after: bigint | null; limit: number },
): Promise<EventList> {
  const [row] = await database.run<ReadRow>(READ, [after, limit]);
  const { lastPosition, droppedUntil, afterId, events } = row as ReadRow;
  return {
    lastPosition: BigInt(lastPosition),
    droppedUntil: BigInt(droppedUntil),
    afterId,
    events: events.map(({ position, occurredAtMs, ...event }) => ({
      ...event,
      position: BigInt(position),
      occurredAt: new Date(occurredAtMs),
    })),
  };
}
