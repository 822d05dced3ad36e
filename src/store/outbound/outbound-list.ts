import type { OutboundEvent } from "../../domain/outbound/outbound-event.ts";
import type { Queryable } from "../database.ts";
import { MIN_EVENTS, unpackEvents } from "./event-packs.ts";
import { readingError } from "./reading-error.ts";
import { recordUnreadablePacks, type UnreadablePack } from "./unreadable-packs.ts";

type ListedEvent = Omit<OutboundEvent, "version"> & { position: bigint };

export type EventList = {
  /** The last position given. */
  lastPosition: bigint;
  /** Events up to this position are no longer kept. */
  droppedUntil: bigint;
  /** The id of the event at the position after which the list begins; `null`: there is none. */
  afterId: string | null;
  /**
   * Whether it can no longer be told which event is at that position: it is the last one dropped, or in a pack
   * that cannot be read.
   */
  isAfterUnknown: boolean;
  events: ListedEvent[];
};

// One statement, which sees one snapshot: an event that is dropped meanwhile would seem never to have
// existed. What is still stored before a dropped event is left out: no list could continue after it.
const READ = {
  name: "read_outbound_events",
  text: `
select r.last_position::text as "lastPosition", r.dropped_until::text as "droppedUntil",
  (select e.id from outbound_event e where e.position = $1::bigint) as "afterId",
  exists (
    select from outbound_unreadable_pack join outbound_event_pack using (last_position)
    where $1::bigint between first_position and last_position
  ) as "isAfterUnreadable",
  coalesce((
    select json_agg(json_build_object('position', e.position::text, 'id', e.id, 'type', e.type,
      'occurredAtMs', extract(epoch from e.occurred_at) * 1000, 'data', e.data) order by e.position)
    from (
      select * from outbound_event where position > greatest($1::bigint, r.dropped_until)
      order by position limit $2::int
    ) e
  ), '[]') as events,
  coalesce((
    select json_agg(json_build_object('firstPosition', p.first_position::text, 'lastPosition', p.last_position::text,
      'events', encode(p.events, 'base64')) order by p.last_position)
    from (
      select * from outbound_event_pack p where last_position >= greatest($1::bigint, r.dropped_until)
        and not exists (select from outbound_unreadable_pack u where u.last_position = p.last_position)
      order by last_position limit $3::int
    ) p
  ), '[]') as packs
from outbound_relay r`,
};

type ReadRow = {
  lastPosition: string;
  droppedUntil: string;
  afterId: string | null;
  isAfterUnreadable: boolean;
  events: (Omit<ListedEvent, "position" | "occurredAt"> & { position: string; occurredAtMs: number })[];
  /** The first one may end with the event at `after`. */
  packs: StoredPack[];
};

export type StoredPack = { firstPosition: string; lastPosition: string; events: string };

/** `after`: `null`: from the oldest one. */
export type EventRange = { after: bigint | null; limit: number };

/**
 * Events that have a position, the oldest first, without those of packs that cannot be read.
 * @param onUnreadable called with packs that nobody has found before
 */
export async function readEvents(
  database: Queryable,
  { after, limit }: EventRange,
  onUnreadable: (packs: readonly UnreadablePack[]) => void = () => {},
): Promise<EventList> {
  for (;;) {
    const { unreadable, ...list } = await readOnce(database, { after, limit });
    if (unreadable.length === 0) return list;
    // Again without them: there may be further events behind them.
    const found = await recordUnreadablePacks(database, unreadable);
    if (found.length > 0) onUnreadable(found);
  }
}

async function readOnce(
  database: Queryable,
  { after, limit }: EventRange,
): Promise<EventList & { unreadable: UnreadablePack[] }> {
  const packs = Math.ceil(limit / MIN_EVENTS) + 1;
  const [row] = await database.run<ReadRow>(READ, [after, limit, packs]);
  const { lastPosition, droppedUntil, afterId, isAfterUnreadable, ...stored } = row as ReadRow;
  const single = stored.events.map(({ position, occurredAtMs, ...event }) => ({
    ...event,
    position: BigInt(position),
    occurredAt: new Date(occurredAtMs),
  }));
  const dropped = BigInt(droppedUntil);
  const from = after !== null && after > dropped ? after : dropped;
  const { unpacked, unreadable } = unpackUntil(stored.packs, from, limit);
  return {
    lastPosition: BigInt(lastPosition),
    droppedUntil: dropped,
    afterId: afterId ?? unpacked.find(({ position }) => position === after)?.id ?? null,
    isAfterUnknown: after === dropped || isAfterUnreadable,
    events: [...single, ...unpacked.filter(({ position }) => position > from)]
      .sort((a, b) => (a.position < b.position ? -1 : 1))
      .slice(0, limit),
    unreadable,
  };
}

/** Until there are enough after the position. */
function unpackUntil(
  packs: readonly StoredPack[],
  after: bigint,
  limit: number,
): { unpacked: ListedEvent[]; unreadable: UnreadablePack[] } {
  const unpacked: ListedEvent[] = [];
  const unreadable: UnreadablePack[] = [];
  let count = 0;
  for (const pack of packs) {
    try {
      const events = unpackWhole(pack);
      unpacked.push(...events);
      count += events.filter(({ position }) => position > after).length;
    } catch (error) {
      unreadable.push({ lastPosition: pack.lastPosition, error: readingError(error) });
    }
    if (count >= limit) break;
  }
  return { unpacked, unreadable };
}

export function isReadablePack(pack: StoredPack): boolean {
  try {
    unpackWhole(pack);
    return true;
  } catch {
    return false;
  }
}

function unpackWhole({ firstPosition, lastPosition, events: packed }: StoredPack): ListedEvent[] {
  const events = unpackEvents(Buffer.from(packed, "base64"), BigInt(firstPosition));
  if (events.at(-1)?.position !== BigInt(lastPosition))
    throw new Error(`there are ${events.length} events for positions ${firstPosition} to ${lastPosition}`);
  return events;
}
