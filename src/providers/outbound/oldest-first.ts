import type { ListedEvent } from "../../domain/payment-api.ts";
import type { ConnectedProvider } from "./connected-provider.ts";
import { problem } from "./problems.ts";

/** Some 100 MB at worst, which is where walking back should end. */
const MAX_EVENTS = 20_000;
/** A page of a hundred, each a few kilobytes. */
export const MAX_PAGE_BYTES = 16 * 1024 * 1024;

/**
 * Providers list the latest first, the caller wants the earliest first: so all are read before one is given out.
 * @param pages with what may be repeated, when events come in while they are read
 * @throws PaymentApiProblem when there are too many of them
 */
export async function* oldestFirst(
  provider: ConnectedProvider,
  pages: AsyncIterable<readonly ListedEvent[]>,
): AsyncGenerator<ListedEvent> {
  const events = new Map<string, ListedEvent>();
  for await (const page of pages) {
    for (const event of page) {
      // What is named again comes at the earlier of its places.
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
