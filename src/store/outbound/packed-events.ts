import type { Queryable } from "../database.ts";
import { type PackedEvent, unpackEventsAt } from "./event-packs.ts";
import { readingError } from "./reading-error.ts";
import { recordUnreadablePacks, type UnreadablePack } from "./unreadable-packs.ts";

const PACKS = {
  name: "event_packs_with_positions",
  text: `
select distinct on (p.last_position) p.first_position::text as "firstPosition",
  p.last_position::text as "lastPosition", p.events
from unnest($1::bigint[]) as wanted (position) cross join lateral (
  select * from outbound_event_pack where last_position >= wanted.position order by last_position limit 1
) p
where p.first_position <= wanted.position
order by p.last_position`,
};

type Row = { firstPosition: string; lastPosition: string; events: Buffer };

/**
 * Events that share a row with others, by their positions; those that are in no pack, or in one that cannot be read,
 * are left out: one that is corrupted must not hold up the deliveries that are claimed together with its own.
 * @param onUnreadable called with packs that nobody has found before
 */
export async function findPackedEvents(
  database: Queryable,
  positions: readonly bigint[],
  onUnreadable: (packs: readonly UnreadablePack[]) => void = () => {},
): Promise<Map<bigint, PackedEvent>> {
  const packs = await database.run<Row>(PACKS, [positions]);
  const unreadable: UnreadablePack[] = [];
  const events = packs.flatMap(({ events: packed, firstPosition, lastPosition }) => {
    try {
      return unpackEventsAt(packed, BigInt(firstPosition), positions);
    } catch (error) {
      unreadable.push({ lastPosition, error: readingError(error) });
      return [];
    }
  });
  const found = await recordUnreadablePacks(database, unreadable);
  if (found.length > 0) onUnreadable(found);
  return new Map(events.map((event) => [event.position, event]));
}
