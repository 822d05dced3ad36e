import type { OutboundEventType } from "../../src/domain/outbound/outbound-event.ts";
import { decodeChanges, type RecordedChange } from "../../src/store/outbound/change-set.ts";
import { unpackEvents } from "../../src/store/outbound/event-packs.ts";
import type { TestDatabase } from "./database.ts";

export type StoredEvent = {
  position: bigint;
  id: string;
  type: OutboundEventType;
  data: Record<string, unknown>;
};

const ROWS_AT_ONCE = 10_000;
const PACKS_AT_ONCE = 200;

/**
 * Every outbound event that has been relayed, however it is stored: those in rows first. Holds some thousands
 * at a time.
 */
export async function* eachStoredEvent(test: Pick<TestDatabase, "rows">): AsyncGenerator<StoredEvent> {
  for (let after = "0", isLast = false; !isLast; ) {
    const rows = await test.rows<Omit<StoredEvent, "position"> & { position: string }>(
      `select position::text, id, type, data from outbound_event where position > $1::bigint
       order by outbound_event.position limit ${ROWS_AT_ONCE}`,
      [after],
    );
    for (const event of rows) yield { ...event, position: BigInt(event.position) };
    after = rows.at(-1)?.position ?? after;
    isLast = rows.length < ROWS_AT_ONCE;
  }
  for (let after = "0", isLast = false; !isLast; ) {
    const packs = await test.rows<{ first: string; last: string; events: Buffer }>(
      `select first_position::text as first, last_position::text as last, events from outbound_event_pack
       where last_position > $1::bigint order by last_position limit ${PACKS_AT_ONCE}`,
      [after],
    );
    for (const { first, events } of packs) yield* unpackEvents(events, BigInt(first));
    after = packs.at(-1)?.last ?? after;
    isLast = packs.length < PACKS_AT_ONCE;
  }
}

/** All of them, in order. */
export async function storedEvents(test: Pick<TestDatabase, "rows">): Promise<StoredEvent[]> {
  const events = await Array.fromAsync(eachStoredEvent(test));
  return events.sort((a, b) => (a.position < b.position ? -1 : 1));
}

/** The changes that wait for the relay, in order. */
export async function writtenChanges(test: Pick<TestDatabase, "rows">): Promise<RecordedChange[]> {
  const sets = await test.rows<{ changes: Buffer }>("select changes from outbound_change_set order by seq");
  return sets.flatMap(({ changes }) => decodeChanges(changes));
}
