import { releaseClaims } from "../../store/deliveries/claims.ts";
import { inOwnTransaction } from "../../store/transaction.ts";
import type { AttemptOutcome, ClaimedEvent } from "../claimed-event.ts";
import type { Intake } from "../intake.ts";
import { effectLimits } from "../transaction-limits.ts";

/**
 * Timeouts, deadlocks and a lack of space of the database use up no attempt: the deliveries stay pending, to be
 * taken over after a second.
 */
export async function release(
  intake: Intake,
  events: readonly ClaimedEvent[],
  error?: unknown,
): Promise<AttemptOutcome[]> {
  intake.log.warn(
    { err: error, events: events.length },
    "timeout, repeated deadlock or lack of resources: nothing was applied",
  );
  try {
    await inOwnTransaction(intake.database, effectLimits(intake), (transaction) =>
      releaseClaims(
        transaction,
        events.map((event) => event.claim),
      ),
    );
  } catch (failed) {
    intake.log.warn({ err: failed, events: events.length }, "claims stay until their leases run out");
  }
  return events.map(() => ({ outcome: "unavailable" }));
}
