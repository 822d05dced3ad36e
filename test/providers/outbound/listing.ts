import type { ListedEvent } from "../../../src/domain/payment-api.ts";

export async function allOf(events: AsyncIterable<ListedEvent>): Promise<ListedEvent[]> {
  const all: ListedEvent[] = [];
  for await (const event of events) all.push(event);
  return all;
}
