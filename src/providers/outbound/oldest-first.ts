import type { ListedEvent } from "../../domain/payment-api.ts";
import type { ConnectedProvider } from "./connected-provider.ts";
import { problem } from "./problems.ts";

/** Some 100 MB at worst. */
const MAX_EVENTS = 20_000;
/** A page of a hundred items, a few kilobytes each. */
export const MAX_PAGE_BYTES = 16 * 1024 * 1024;

/**
 * Providers list newest first and the caller needs oldest first, so all pages are read before the first item.
 * @param pages may repeat items when new ones arrive meanwhile
 * @throws PaymentApiProblem when there are too many of them
 */
export async function* oldestFirst(
  provider: ConnectedProvider,
  pages: AsyncIterable<readonly ListedEvent[]>,
): AsyncGenerator<ListedEvent> {
  const events = new Map<string, ListedEvent>();
  for await (const page of pages) {
    for (const event of page) {
      // A repeated item keeps its first position.
      events.delete(event.eventId);
      events.set(event.eventId, event);
    }
    if (events.size > MAX_EVENTS)
      throw problem(provider, "rejected", `more than ${MAX_EVENTS} events`, {
        remedy: "Ask for a shorter time.",
      });
  }
  yield* [...events.values()].reverse();
}

export function listedEvent(eventId: string, eventType: string, body: unknown): ListedEvent {
  return { eventId, eventType, rawBody: Buffer.from(JSON.stringify(body)), headers: {} };
}
