import { setTimeout as sleep } from "node:timers/promises";
import type { TestDatabase } from "../support/database.ts";
import { eventually } from "../support/eventually.ts";
import { eachStoredEvent } from "../support/stored-events.ts";
import { isFullProof, READ_EVENTS_EVERY_MS } from "./proof.ts";

/**
 * Each subscription event reaches the endpoint in the end; attempts that wait for longer than a lease are
 * made at once.
 */
export async function expectEventsReceived(
  test: Pick<TestDatabase, "rows">,
  received: { has(eventId: string): boolean },
): Promise<void> {
  const missing = async () => {
    await sleep(READ_EVENTS_EVERY_MS);
    await test.rows(
      `update outbound_delivery set next_attempt_at = clock_timestamp()
       where status = 'pending' and next_attempt_at > clock_timestamp() + interval '1 minute'`,
    );
    let count = 0;
    for await (const { id, type } of eachStoredEvent(test)) {
      if (type.startsWith("subscription.") && !received.has(id)) count += 1;
    }
    return count;
  };
  await eventually(missing, 0, isFullProof ? 1_200_000 : 300_000);
}
