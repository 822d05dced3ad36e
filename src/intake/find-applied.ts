import { DatabaseUnavailable, isTimeout } from "../store/database.ts";
import { findKnownDeliveries } from "../store/deliveries/first-deliveries.ts";
import { inOwnTransaction } from "../store/transaction.ts";
import type { IncomingEvent, RepeatOutcome } from "./incoming-event.ts";
import type { Intake } from "./intake.ts";
import { claimLimits } from "./transaction-limits.ts";

/**
 * Looks up events of which this process remembers that they were applied: most repeats come soon after. A
 * claim would find out too, at twice the cost. What is visible as successful on a primary is durable there,
 * though not on every standby; on a standby the claim fails, which closes the connection.
 */
export async function findApplied(intake: Intake, group: readonly IncomingEvent[]): Promise<RepeatOutcome[]> {
  try {
    const known = await inOwnTransaction(intake.database, claimLimits(intake), (transaction) =>
      findKnownDeliveries(
        transaction,
        group.map(({ delivery }) => delivery),
      ),
    );
    return group.map(({ key }) => (known.get(key) ? { outcome: "duplicate" } : null));
  } catch (error) {
    if (!(error instanceof DatabaseUnavailable || isTimeout(error))) {
      intake.log.error({ err: error, events: group.length }, "looking repeats up failed");
      return group.map(() => null);
    }
    intake.log.warn({ err: error, events: group.length }, "database unavailable: repeats were not looked up");
    return group.map(() => ({ outcome: "unavailable" }));
  }
}
