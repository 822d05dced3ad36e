import type { OutboundEventType } from "../../src/domain/outbound-event.ts";
import { decodeChanges, type RecordedChange } from "../../src/store/change-set.ts";
import { unpackEvents } from "../../src/store/event-packs.ts";
import type { TestDatabase } from "./database.ts";

export type StoredEvent = {
  position: bigint;
  id: string;
  type: OutboundEventType;
  data: Record<string, unknown>;
};

/** Every outbound event that has been relayed, however it is stored, in order. */
export async function storedEvents(test: Pick<TestDatabase, "rows">): Promise<StoredEvent[]> {
  const [stored] = await test.rows<{
    rows: (Omit<StoredEvent, "position"> & { position: number })[] | null;
    packs: { first: number; events: string }[] | null;
  }>(
    `select
       (select json_agg(e) from (
         select position, id, type, data from outbound_event where position is not null
       ) e) as rows,
       (select json_agg(p) from (
         select first_position as first, encode(events, 'base64') as events from outbound_event_pack
       ) p) as packs`,
  );
  const single = (stored?.rows ?? []).map((event) => ({ ...event, position: BigInt(event.position) }));
  const packed = (stored?.packs ?? []).flatMap(({ first, events }) =>
    unpackEvents(Buffer.from(events, "base64"), BigInt(first)),
  );
  return [...single, ...packed].sort((a, b) => (a.position < b.position ? -1 : 1));
}

/** The changes that wait for the relay, in order. */
export async function writtenChanges(test: Pick<TestDatabase, "rows">): Promise<RecordedChange[]> {
  const sets = await test.rows<{ changes: Buffer }>("select changes from outbound_change_set order by seq");
  return sets.flatMap(({ changes }) => decodeChanges(changes));
}
