import { secondsUntilRetry } from "../../domain/deliveries/delivery.ts";
import { type Attempt, logAttempts } from "../../store/deliveries/attempts.ts";
import { type FailedClaim, failClaims } from "../../store/deliveries/claims.ts";
import type { Transaction } from "../../store/transaction.ts";
import type { AttemptOutcome, ClaimedEvent } from "../claimed-event.ts";
import type { EventDecision } from "./decide-group.ts";

/**
 * Records the outcomes of attempts whose claims hold.
 * @param decisions `null`: another process has taken the event over
 */
export function recordOutcomes(
  transaction: Transaction,
  group: readonly ClaimedEvent[],
  decisions: readonly (EventDecision | null)[],
  changed: readonly Attempt["changed"][],
): Promise<void>[] {
  const attempts: Attempt[] = [];
  const failed: FailedClaim[] = [];
  for (const [index, event] of group.entries()) {
    const decision = decisions[index];
    if (!decision) continue;
    const failure = decision.outcome === "failed" ? decision.failure : null;
    attempts.push({
      ...event.claim,
      source: event.source,
      failure,
      durationMs: durationMsOf(event),
      changed: changed[index] ?? null,
    });
    if (failure === null) continue;
    const retryInSeconds = secondsUntilRetry(event.claim.attemptNo, Math.random());
    failed.push({ ...event.claim, failure, retryInSeconds });
  }
  return [
    ...(failed.length > 0 ? [failClaims(transaction, failed)] : []),
    ...(attempts.length > 0 ? [logAttempts(transaction, attempts)] : []),
  ];
}

/** How long an attempt has taken so far, in whole microseconds. */
export function durationMsOf({ startedAtMs }: { startedAtMs: number }): number {
  return Math.round((performance.now() - startedAtMs) * 1000) / 1000;
}

export function outcomeOf(decision: EventDecision | null): AttemptOutcome {
  if (!decision) return { outcome: "lost" };
  if (decision.outcome === "failed") return decision;
  return { outcome: decision.outcome === "ignored" ? "ignored" : "applied" };
}
