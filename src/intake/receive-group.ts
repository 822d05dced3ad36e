import { setTimeout as sleep } from "node:timers/promises";
import { DatabaseUnavailable } from "../store/database.ts";
import { isContention, isLockTimeout, isTimeout } from "../store/transaction.ts";
import { claimAndApply } from "./claim-and-apply.ts";
import type { IncomingEvent, ReceivedOutcome } from "./incoming-event.ts";
import type { Intake } from "./intake.ts";
import { keysOf } from "./keys.ts";
import { type WrittenOutcome, writeOnce } from "./write-once.ts";

const MAX_RUNS = 3;
/**
 * After this many locked events in a group the others leave without being tried: not just one row is locked.
 */
const MAX_LOCK_TIMEOUTS = 3;

/**
 * Processes a group of first deliveries. An event that cannot be written with the others leaves, and is
 * claimed and applied by itself.
 */
export async function receiveGroup(
  intake: Intake,
  group: readonly IncomingEvent[],
  closing: () => void,
): Promise<(ReceivedOutcome | Promise<ReceivedOutcome>)[]> {
  const written = await writeGroup(intake, group, closing);
  return written.map((outcome, index) => {
    const event = group[index] as IncomingEvent;
    if (outcome.outcome === "leaves") return claimAndApply(intake, event);
    // Not failed ones: a repeat of one has effects, and must keep its place among its subscription's events.
    if (outcome.outcome !== "unavailable" && outcome.outcome !== "failed") intake.recent.add(event.key);
    return outcome;
  });
}

async function writeGroup(
  intake: Intake,
  group: readonly IncomingEvent[],
  closing: () => void,
): Promise<WrittenOutcome[]> {
  for (let runs = 1; ; runs += 1) {
    try {
      return await writeOnce(intake, group, closing);
    } catch (error) {
      if (isContention(error) && runs < MAX_RUNS) {
        await sleep(Math.random() * 5 * runs);
        continue;
      }
      return afterFailure(intake, group, closing, error);
    }
  }
}

/** Nothing was written, or the outcome is unknown: then nothing more may be written. */
async function afterFailure(
  intake: Intake,
  group: readonly IncomingEvent[],
  closing: () => void,
  error: unknown,
): Promise<WrittenOutcome[]> {
  if (error instanceof DatabaseUnavailable || (isTimeout(error) && !isLockTimeout(error))) {
    intake.log.warn({ err: error, events: group.length }, "database unavailable: nothing was ingested");
    return group.map(() => ({ outcome: "unavailable" }));
  }
  if (isContention(error) || group.length === 1) {
    return group.map(() => ({ outcome: "leaves", afterLockTimeout: isLockTimeout(error) }));
  }
  // One invalid event fails the transaction for all: processed singly, only that one leaves.
  const outcomes: WrittenOutcome[] = [];
  // Those behind an event that may touch the same subscription share its outcome, so that their order stays.
  const held = new Map<string, "leaves" | "unavailable">();
  let lockTimeouts = 0;
  for (const event of group) {
    const keys = keysOf(event);
    const ahead = keys.flatMap((key) => held.get(key) ?? []);
    const outcome: WrittenOutcome = ahead.includes("unavailable")
      ? { outcome: "unavailable" }
      : ahead.length > 0 || lockTimeouts >= MAX_LOCK_TIMEOUTS
        ? { outcome: "leaves" }
        : ((await writeGroup(intake, [event], closing))[0] as WrittenOutcome);
    outcomes.push(outcome);
    if (outcome.outcome !== "leaves" && outcome.outcome !== "unavailable") continue;
    if ("afterLockTimeout" in outcome && outcome.afterLockTimeout) lockTimeouts += 1;
    for (const key of keys) held.set(key, outcome.outcome);
  }
  return outcomes;
}
