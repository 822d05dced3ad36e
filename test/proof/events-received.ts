import type { TestDatabase } from "../support/database.ts";
import { eventually } from "../support/eventually.ts";
import { storedEvents } from "../support/stored-events.ts";

/** Each subscription event reaches the endpoint in the end; attempts that wait for hours are made at once. */
export async function expectEventsReceived(
  test: Pick<TestDatabase, "rows">,
  received: { has(eventId: string): boolean },
): Promise<void> {
  const missing = async () => {
    await test.rows(
      `update outbound_delivery set next_attempt_at = clock_timestamp()
       where status = 'pending' and next_attempt_at is not null`,
    );
    const events = await storedEvents(test);
    return events.filter(({ id, type }) => type.startsWith("subscription.") && !received.has(id)).length;
  };
  await eventually(missing, 0, 300_000);
}
