import type { ListedEvent } from "../../domain/providers/payment-api.ts";

/** How much of a list is in memory at once. */
const MAX_EVENTS = 20_000;
const MAX_BYTES = 64 * 1024 * 1024;
/** A page of a hundred items, a few kilobytes each. */
export const MAX_PAGE_BYTES = 16 * 1024 * 1024;

/**
 * Providers list newest first and the caller needs oldest first, so all pages are read before the first item.
 * Of a list that is too long for that only the oldest items are kept, and it is read again for those behind
 * them.
 * @param list starts at the newest page; it may repeat items when new ones arrive meanwhile
 */
export async function* oldestFirst(
  list: () => AsyncIterable<readonly ListedEvent[]>,
  { maxEvents, maxBytes } = { maxEvents: MAX_EVENTS, maxBytes: MAX_BYTES },
): AsyncGenerator<ListedEvent> {
  const returned = new Set<string>();
  for (let isComplete = false; !isComplete; ) {
    isComplete = true;
    const oldest = new Map<string, ListedEvent>();
    let bytes = 0;
    const leaveOut = (event: ListedEvent | undefined) => {
      if (event && oldest.delete(event.eventId)) bytes -= event.rawBody.length;
    };
    for await (const page of list()) {
      for (const event of page) {
        if (returned.has(event.eventId)) continue;
        // A repeated item keeps its oldest position.
        leaveOut(oldest.get(event.eventId));
        oldest.set(event.eventId, event);
        bytes += event.rawBody.length;
        while (oldest.size > maxEvents || (bytes > maxBytes && oldest.size > 1)) {
          const [newest] = oldest.values();
          leaveOut(newest);
          isComplete = false;
        }
      }
    }
    for (const event of [...oldest.values()].reverse()) {
      returned.add(event.eventId);
      yield event;
    }
  }
}

export function listedEvent(eventId: string, eventType: string, body: unknown): ListedEvent {
  return { eventId, eventType, rawBody: Buffer.from(JSON.stringify(body)), headers: {} };
}
