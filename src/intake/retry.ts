import type { AttemptSource } from "../domain/delivery.ts";
import type { Queryable } from "../store/database.ts";
import { giveUpStuck, reclaimDue, type StoredDelivery } from "../store/reclaims.ts";
import { inTransaction } from "../store/transaction.ts";
import type { AttemptOutcome } from "./claimed-event.ts";
import type { Intake } from "./intake.ts";
import { readEvent } from "./read.ts";
import { claimLimits } from "./transaction-limits.ts";

const BATCH_SIZE = 100;

export type RetryReport = { applied: number; ignored: number; failed: number; gaveUp: number };

/** One pass of `webhook-retry`: everything that is due, and everything whose lease has expired. */
export async function retryDue(intake: Intake, isStopping = () => false): Promise<RetryReport> {
  const report: RetryReport = { applied: 0, ignored: 0, failed: 0, gaveUp: 0 };
  report.gaveUp = (await claimFromLog(intake, (transaction) => giveUpStuck(transaction))).length;
  for (;;) {
    if (isStopping()) return report;
    const batch = await claimFromLog(intake, (transaction) =>
      reclaimDue(transaction, { leaseSeconds: intake.leaseSeconds, limit: BATCH_SIZE }),
    );
    if (batch.length === 0) return report;
    await intake.reached("retry claimed");
    const outcomes = await Promise.all(batch.map((delivery) => attempt(intake, delivery, "retry")));
    for (const { outcome } of outcomes) {
      if (outcome === "applied" || outcome === "ignored" || outcome === "failed") report[outcome] += 1;
    }
    if (outcomes.some(({ outcome }) => outcome === "unavailable")) return report;
  }
}

async function claimFromLog<Row>(
  intake: Intake,
  claim: (transaction: Queryable) => Promise<Row[]>,
): Promise<Row[]> {
  return inTransaction(intake.database, claimLimits(intake), async (transaction) => {
    const rows = claim(transaction);
    await transaction.commitAfter([rows]);
    return rows;
  });
}

/** Processes a delivery that was claimed from the log. */
export function attempt(
  intake: Intake,
  stored: StoredDelivery,
  source: AttemptSource,
): Promise<AttemptOutcome> {
  return intake.attempts.submit({
    claim: stored.claim,
    slot: stored.provider,
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
