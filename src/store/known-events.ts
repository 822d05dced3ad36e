import type { Slot } from "../domain/slot.ts";
import type { Queryable } from "./database.ts";

const KNOWN = {
  name: "known_events",
  text: `
select event_id as "eventId" from webhook_delivery
where provider = $1 and event_id = any ($2::text[])`,
};

/** Which of a slot's events are in the log, whatever their outcome. */
export async function knownEvents(
  database: Queryable,
  provider: Slot,
  eventIds: readonly string[],
): Promise<Set<string>> {
  const rows = await database.run<{ eventId: string }>(KNOWN, [provider, eventIds]);
  return new Set(rows.map(({ eventId }) => eventId));
}
