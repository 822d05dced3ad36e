import type { Queryable } from "../database.ts";

/** A pack of events that cannot be read: corrupted, or written by a later release. */
export type UnreadablePack = { lastPosition: string; error: string };

// Locked: a pack may be dropped meanwhile.
const RECORD = {
  name: "record_unreadable_packs",
  text: `
with found as materialized (
  select p.last_position, input.error
  from unnest($1::bigint[], $2::text[]) as input (last_position, error)
  join outbound_event_pack p on p.last_position = input.last_position
  for key share of p
)
insert into outbound_unreadable_pack (last_position, error) select last_position, error from found
on conflict do nothing
returning last_position::text as "lastPosition", error`,
};

/** From now on lists leave these packs out. Returns those that nobody has found before. */
export async function recordUnreadablePacks(
  database: Queryable,
  packs: readonly UnreadablePack[],
): Promise<UnreadablePack[]> {
  if (packs.length === 0) return [];
  return database.run<UnreadablePack>(RECORD, [
    packs.map(({ lastPosition }) => lastPosition),
    packs.map(({ error }) => error),
  ]);
}
