import type { Queryable } from "../store/database.ts";
import { type EventList, type EventRange, readEvents } from "../store/outbound/outbound-list.ts";
import type { UnreadablePack } from "../store/outbound/unreadable-packs.ts";

export type EventReader = {
  database: Queryable;
  log: { error(facts: object, message: string): void };
};

/** The events in this range that can be read. The first who comes upon one that cannot logs it. */
export function listEventsAfter({ database, log }: EventReader, range: EventRange): Promise<EventList> {
  return readEvents(database, range, (packs) => logUnreadablePacks(log, packs));
}

export function logUnreadablePacks(log: EventReader["log"], packs: readonly UnreadablePack[]): void {
  log.error({ packs }, "outbound events could not be read and are left out: see outbound_unreadable_pack");
}
