import { setTimeout as sleep } from "node:timers/promises";
import type { AttemptSource } from "../../domain/deliveries/delivery.ts";
import { giveUpStuck, reclaimDue, type StoredDelivery } from "../../store/deliveries/reclaims.ts";
import { inOwnTransaction } from "../../store/transaction.ts";
import type { AttemptOutcome } from "../claimed-event.ts";
import type { Intake } from "../intake.ts";
import { readEvent } from "../read-event.ts";
import { claimLimits } from "../transaction-limits.ts";

const BATCH_SIZE = 100;
/** Of bodies, which are all in memory until they are parsed. */
const BATCH_BYTES = 4 * 1024 * 1024;

export type RetryReport = { applied: number; ignored: number; failed: number; gaveUp: number };

/** A batch that takes longer has events that wait for locks: the next one, smaller by as many, goes on. */
const STALLED_AFTER_MS = 200;
/** While more and more becomes due, a pass ends nevertheless. */
const MAX_PASS_MS = 30_000;

/** One pass of `webhook-retry`: everything that is due, and everything whose lease has expired. */
export async function retryDue(intake: Intake, isStopping = () => false): Promise<RetryReport> {
  const report: RetryReport = { applied: 0, ignored: 0, failed: 0, gaveUp: 0 };
  report.gaveUp = (await inOwnTransaction(intake.database, claimLimits(intake), giveUpStuck)).length;
  const running = new Set<Promise<void>>();
  const endsAtMs = performance.now() + MAX_PASS_MS;
  try {
    while (!isStopping() && performance.now() < endsAtMs) {
      const batch = await inOwnTransaction(intake.database, claimLimits(intake), (transaction) =>
        reclaimDue(transaction, {
          leaseSeconds: intake.leaseSeconds,
          limit: BATCH_SIZE - running.size,
          maxBytes: BATCH_BYTES,
        }),
      );
      if (batch.length === 0) break;
      await intake.reached("retry claimed");
      let finished = 0;
      let unavailable = 0;
      const attempts = batch.map((delivery) => {
        const attempting = attempt(intake, delivery, "retry")
          .then(({ outcome }) => {
            finished += 1;
            if (outcome === "unavailable") unavailable += 1;
            else if (outcome !== "lost") report[outcome] += 1;
          })
          .finally(() => running.delete(attempting));
        running.add(attempting);
        return attempting;
      });
      await Promise.race([Promise.all(attempts), sleep(STALLED_AFTER_MS, undefined, { ref: false })]);
      while (running.size >= BATCH_SIZE) await Promise.race(running);
      // Nothing but failures to reach the database, or locks: the next pass tries again.
      if (unavailable > 0 && unavailable === finished) break;
    }
  } finally {
    await Promise.allSettled(running);
  }
  return report;
}

/** Processes a delivery that was claimed from the log. */
export function attempt(
  intake: Intake,
  stored: StoredDelivery,
  source: AttemptSource,
): Promise<AttemptOutcome> {
  return intake.attempts.submit({
    claim: stored.claim,
    slot: stored.claim.provider,
    source,
    reading: readStored(intake, stored),
    startedAtMs: performance.now(),
    bytes: stored.payload?.length ?? 0,
  });
}

function readStored(intake: Intake, stored: StoredDelivery) {
  if (stored.payload === null) return { failure: { reason: "payload_dropped" as const } };
  const adapter = intake.adapters.find(stored.format);
  if (adapter === null)
    return { failure: { reason: "format_unknown" as const, params: { format: stored.format } } };
  return readEvent(intake, adapter, stored.eventType, JSON.parse(stored.payload));
}
