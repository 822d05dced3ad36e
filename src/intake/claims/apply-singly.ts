import { DatabaseUnavailable, isTimeout } from "../../store/database.ts";
import { retryOnContention } from "../../store/retry-on-contention.ts";
import {
  isConflict,
  isLockTimeout,
  isOutOfResources,
  type TransactionOptions,
} from "../../store/transaction.ts";
import type { AttemptOutcome, ClaimedEvent } from "../claimed-event.ts";
import type { Intake } from "../intake.ts";
import type { Progress } from "../queue/batcher.ts";
import { keysOf } from "../queue/keys.ts";
import { briefLimits, effectLimits } from "../transaction-limits.ts";
import { applyTogether, applyWaiting, recordDefect, unavailable } from "./apply.ts";
import { release } from "./release.ts";

/** After so many events of a group that were not applied in time, the others wait for no lock any more. */
const MAX_TIMEOUTS = 3;

/**
 * Applies events in order, a transaction each. Those that would wait for a lock for longer than a moment go on
 * in `waitingAttempts`, where they delay none that need not.
 */
export async function applySingly(
  intake: Intake,
  group: readonly ClaimedEvent[],
  done: Progress<AttemptOutcome>["done"],
): Promise<(AttemptOutcome | Promise<AttemptOutcome>)[]> {
  const results: (AttemptOutcome | Promise<AttemptOutcome>)[] = [];
  await applyEach(intake, group, briefLimits(intake), (index, outcome) => {
    const result =
      outcome === "locked" ? intake.waitingAttempts.submit(group[index] as ClaimedEvent) : outcome;
    results.push(result);
    done(index, result);
  });
  return results;
}

/** The same, waiting for locks: what is still locked after that is released. */
export async function applyWaitingForLocks(
  intake: Intake,
  group: readonly ClaimedEvent[],
  done: Progress<AttemptOutcome>["done"],
): Promise<AttemptOutcome[]> {
  const outcomes = await applyEach(intake, group, effectLimits(intake), (index, outcome) => {
    if (outcome !== "locked") done(index, outcome);
  });
  const locked = group.filter((_, index) => outcomes[index] === "locked");
  if (locked.length > 0) await release(intake, locked);
  return outcomes.map((outcome) => (outcome === "locked" ? { outcome: "unavailable" } : outcome));
}

/** @param applied called with each outcome as soon as it is known */
async function applyEach(
  intake: Intake,
  group: readonly ClaimedEvent[],
  limits: TransactionOptions,
  applied: (index: number, outcome: AttemptOutcome | "locked") => void,
): Promise<(AttemptOutcome | "locked")[]> {
  const outcomes: (AttemptOutcome | "locked")[] = [];
  // Those behind an event that may touch the same subscription share its fate, so that their order stays.
  const stuck = new Map<string, "locked" | "unavailable">();
  let timeouts = 0;
  for (const [index, event] of group.entries()) {
    const keys = keysOf(event);
    const ahead = keys.flatMap((key) => stuck.get(key) ?? []);
    const outcome = ahead.includes("unavailable")
      ? await releaseOne(intake, event)
      : ahead.length > 0
        ? "locked"
        : await applySingle(intake, event, { limits, mayWait: timeouts < MAX_TIMEOUTS });
    outcomes.push(outcome);
    applied(index, outcome);
    if (outcome !== "locked" && outcome.outcome !== "unavailable") continue;
    if (ahead.length === 0) timeouts += 1;
    for (const key of keys) stuck.set(key, outcome === "locked" ? "locked" : "unavailable");
  }
  return outcomes;
}

async function applySingle(
  intake: Intake,
  event: ClaimedEvent,
  { limits, mayWait }: { limits: TransactionOptions; mayWait: boolean },
): Promise<AttemptOutcome | "locked"> {
  if (isOverdue(intake, event)) return releaseOne(intake, event);
  try {
    const [outcome] = await retryOnContention(() =>
      mayWait ? applyWaiting(intake, event, limits) : applyTogether(intake, [event], briefLimits(intake)),
    );
    return outcome === "contended" ? "locked" : (outcome as AttemptOutcome);
  } catch (error) {
    if (isLockTimeout(error)) return "locked";
    if (isTimeout(error) || isConflict(error) || isOutOfResources(error))
      return releaseOne(intake, event, error);
    if (error instanceof DatabaseUnavailable) return unavailable(intake, [event], error)[0] as AttemptOutcome;
    return recordDefect(intake, event, error);
  }
}

/** Whether it has waited for so long that its lease might run out, which would count as a crash. */
export function isOverdue(
  { leaseSeconds }: Pick<Intake, "leaseSeconds">,
  { startedAtMs }: ClaimedEvent,
): boolean {
  return startedAtMs < performance.now() - (leaseSeconds * 1000) / 2;
}

async function releaseOne(intake: Intake, event: ClaimedEvent, error?: unknown): Promise<AttemptOutcome> {
  const [outcome] = await release(intake, [event], error);
  return outcome as AttemptOutcome;
}
