import { setTimeout as sleep } from "node:timers/promises";
import type { TestDatabase } from "../support/database.ts";
import { eventually } from "../support/eventually.ts";
import { storedEvents } from "../support/stored-events.ts";
import { isFullProof } from "./proof.ts";

/** All events are read each time: done more often, that alone would slow down a full proof's deliveries. */
const READ_EVERY_MS = isFullProof ? 5_000 : 100;

/** Each subscription event reaches the endpoint in the end; attempts that wait for longer than a lease are made at once. */
export async function expectEventsReceived(
  test: Pick<TestDatabase, "rows">,
  received: { has(eventId: string): boolean },
): Promise<void> {
  const missing = async () => {
    await sleep(READ_EVERY_MS);
    await test.rows(
      `update outbound_delivery set next_attempt_at = clock_timestamp()
       where status = 'pending' and next_attempt_at > clock_timestamp() + interval '1 minute'`,
    );
    const events = await storedEvents(test);
    return events.filter(({ id, type }) => type.startsWith("subscription.") && !received.has(id)).length;
  };
  await eventually(missing, 0, isFullProof ? 1_200_000 : 300_000);
}
