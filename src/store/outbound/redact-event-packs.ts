import type { Queryable } from "../database.ts";
import { emptyIfUnreadable } from "./empty-if-unreadable.ts";
import { packEvents, unpackEvents } from "./event-packs.ts";
import { hashesOfUser } from "./user-filter.ts";

// Locked: another user of the same pack may be deleted at the same time.
const OF_USER = {
  name: "event_packs_of_user",
  text: `
select p.last_position::text as "lastPosition", p.first_position::text as "firstPosition", p.events
from outbound_event_pack p
where p.last_position > $1::bigint and not exists (
  select from unnest($2::bigint[]) as hash where get_bit(p.users, hash % (octet_length(p.users) * 8)) = 0
)
order by p.last_position limit $3::int
for no key update of p`,
};

const REPLACE = {
  name: "replace_event_pack",
  text: "update outbound_event_pack set events = $2::bytea where last_position = $1::bigint",
};

const BATCH = 50;

type Row = { lastPosition: string; firstPosition: string; events: Buffer };

/** Removes a deleted user from the events of packs that end after a position. */
export async function redactPacksOfUser(
  transaction: Queryable,
  userId: string,
  { after }: { after: bigint },
): Promise<void> {
  const hashes = hashesOfUser(userId);
  let last = `${after}`;
  for (;;) {
    const packs = await transaction.run<Row>(OF_USER, [last, hashes, BATCH]);
    for (const { lastPosition, firstPosition, events: packed } of packs) {
      const events = emptyIfUnreadable(() => unpackEvents(packed, BigInt(firstPosition)));
      // A Bloom filter also matches some packs without the user.
      if (events.some(({ data }) => data.userId === userId)) {
        const redacted = events.map((event) => ({ ...event, data: withoutUser(event.data, userId) }));
        await transaction.run(REPLACE, [lastPosition, packEvents(redacted)]);
      }
      last = lastPosition;
    }
    if (packs.length < BATCH) return;
  }
}

function withoutUser(data: Record<string, unknown>, userId: string): Record<string, unknown> {
  if (data.userId !== userId) return data;
  const { subscription } = data;
  return {
    ...data,
    userId: null,
    externalId: null,
    ...(subscription ? { subscription: { ...subscription, userId: null } } : {}),
  };
}
