import type { IncomingEvent, ReceivedOutcome } from "../incoming-event.ts";
import type { Intake } from "../intake.ts";

const MAX_CLAIMS = 3;

/**
 * Two transactions: a claim with a lease, then the effects. For events that cannot be written in one: already
 * in the log, with locked subscriptions, or from a provider with few retries.
 */
export async function claimAndApply(intake: Intake, event: IncomingEvent): Promise<ReceivedOutcome> {
  const { delivery, slot, reading, startedAtMs, span } = event;
  for (let tries = 1; tries <= MAX_CLAIMS; tries += 1) {
    const claimed = await intake.claims.submit(event);
    if (claimed === "again") continue;
    if (claimed === "duplicate" || claimed === "unavailable") return { outcome: claimed };
    const attempt = await intake.attempts.submit({
      claim: claimed.claim,
      slot,
      source: delivery.source,
      reading,
      startedAtMs,
      bytes: delivery.payload.length,
      span,
    });
    if (attempt.outcome === "lost") return { outcome: "unavailable" };
    if (attempt.outcome === "applied" || attempt.outcome === "ignored") intake.recent.add(event.key);
    if (attempt.outcome !== "failed") return attempt;
    return { outcome: "failed", deliveryId: claimed.claim.id };
  }
  return { outcome: "unavailable" };
}
