import type { AttemptSource } from "../domain/delivery.ts";
import { giveUpStuck, reclaimDue, type StoredDelivery } from "../store/reclaims.ts";
import type { Intake } from "./intake.ts";
import { readEvent } from "./read.ts";
import type { AttemptOutcome } from "./work.ts";

const BATCH = 100;

export type RetryReport = { applied: number; ignored: number; failed: number; gaveUp: number };

/** One pass of `webhook-retry`: everything that is due now, and everything whose lease has run out. */
export async function retryDue(intake: Intake): Promise<RetryReport> {
  const report: RetryReport = { applied: 0, ignored: 0, failed: 0, gaveUp: 0 };
  report.gaveUp = (await giveUpStuck(intake.database)).length;
  for (;;) {
    const batch = await reclaimDue(intake.database, { leaseSeconds: intake.leaseSeconds, limit: BATCH });
    if (batch.length === 0) return report;
    await intake.reached("retry claimed");
    const outcomes = await Promise.all(batch.map((delivery) => attempt(intake, delivery, "retry")));
    for (const { outcome } of outcomes) {
      if (outcome === "applied" || outcome === "ignored" || outcome === "failed") report[outcome] += 1;
    }
    if (outcomes.some(({ outcome }) => outcome === "unavailable")) return report;
  }
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
  });
}

function readStored(intake: Intake, stored: StoredDelivery) {
  if (stored.payload === null) return { problem: "payload: no longer kept" };
  if (!Object.hasOwn(intake.adapters, stored.format)) {
    return { problem: `payload: no adapter for the format "${stored.format}"` };
  }
  const adapter = intake.adapters[stored.format as keyof typeof intake.adapters];
  return readEvent(adapter, stored.eventType, JSON.parse(stored.payload));
}
