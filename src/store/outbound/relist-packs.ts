import type { Queryable } from "../database.ts";
import { isReadablePack, type StoredPack } from "./outbound-list.ts";

const FIND = {
  name: "find_unreadable_packs",
  text: `
select p.first_position::text as "firstPosition", p.last_position::text as "lastPosition",
  encode(p.events, 'base64') as events
from outbound_unreadable_pack u join outbound_event_pack p using (last_position)
where u.last_position > $1::bigint order by u.last_position limit 20`,
};

const RELIST = {
  name: "relist_packs",
  text: "delete from outbound_unreadable_pack where last_position = any ($1::bigint[])",
};

/**
 * Lists packs again that this process can read: restored ones, and those that a server of an earlier release could not.
 * A few at a time: webhooks are answered between them.
 */
export async function relistPacks(database: Queryable): Promise<void> {
  let packs = await database.run<StoredPack>(FIND, ["0"]);
  for (let last = packs.at(-1); last !== undefined; last = packs.at(-1)) {
    const readable = packs.filter(isReadablePack).map(({ lastPosition }) => lastPosition);
    if (readable.length > 0) await database.run(RELIST, [readable]);
    packs = await database.run<StoredPack>(FIND, [last.lastPosition]);
  }
}
