import { DatabaseUnavailable, isTimeout } from "../store/database.ts";
import { retryOnContention } from "../store/retry-on-contention.ts";
import { isContention, isLockTimeout } from "../store/transaction.ts";
import { claimAndApply } from "./claims/claim-and-apply.ts";
import { type WrittenOutcome, writeOnce } from "./groups/write-once.ts";
import type { IncomingEvent, ReceivedOutcome } from "./incoming-event.ts";
import type { Intake } from "./intake.ts";
import type { Progress } from "./queue/batcher.ts";
import { keysOf } from "./queue/keys.ts";

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
  progress: Progress<ReceivedOutcome>,
): Promise<(ReceivedOutcome | Promise<ReceivedOutcome>)[]> {
  const together = await writeGroup(intake, group, progress.closing);
  const written = together === "not together" ? await writeSingly(intake, group, progress) : together;
  return written.map((outcome, index) => {
    const event = group[index] as IncomingEvent;
    if (outcome.outcome === "leaves") return claimAndApply(intake, event);
    // Not failed ones: a repeat of one has effects, and must keep its place among its subscription's events.
    if (outcome.outcome !== "unavailable" && outcome.outcome !== "failed") intake.recent.add(event.key);
    return outcome;
  });
}

/** `not together`: one invalid event fails the transaction for all. */
async function writeGroup(
  intake: Intake,
  group: readonly IncomingEvent[],
  closing: () => void,
): Promise<WrittenOutcome[] | "not together"> {
  try {
    return await retryOnContention(() => writeOnce(intake, group, closing), MAX_RUNS);
  } catch (error) {
    return afterFailure(intake, group, error);
  }
}

/** Nothing was written, or the outcome is unknown: then nothing more may be written. */
function afterFailure(
  intake: Intake,
  group: readonly IncomingEvent[],
  error: unknown,
): WrittenOutcome[] | "not together" {
  if (error instanceof DatabaseUnavailable || (isTimeout(error) && !isLockTimeout(error))) {
    intake.log.warn({ err: error, events: group.length }, "database unavailable: nothing was ingested");
    return group.map(() => ({ outcome: "unavailable" }));
  }
  if (isContention(error) || group.length === 1) {
    return group.map(() => ({ outcome: "leaves", afterLockTimeout: isLockTimeout(error) }));
  }
  return "not together";
}

/** Each in a transaction of its own, so that only those leave that cannot be written. */
async function writeSingly(
  intake: Intake,
  group: readonly IncomingEvent[],
  { closing, done }: Progress<ReceivedOutcome>,
): Promise<WrittenOutcome[]> {
  const outcomes: WrittenOutcome[] = [];
  // Those behind an event that may touch the same subscription share its outcome, so that their order stays.
  const held = new Map<string, "leaves" | "unavailable">();
  let lockTimeouts = 0;
  for (const [index, event] of group.entries()) {
    const keys = keysOf(event);
    const ahead = keys.flatMap((key) => held.get(key) ?? []);
    const outcome: WrittenOutcome = ahead.includes("unavailable")
      ? { outcome: "unavailable" }
      : ahead.length > 0 || lockTimeouts >= MAX_LOCK_TIMEOUTS
        ? { outcome: "leaves" }
        : ((await writeGroup(intake, [event], closing))[0] as WrittenOutcome);
    outcomes.push(outcome);
    // Those that leave start when the others are done, which they must not hold up.
    if (outcome.outcome !== "leaves") done(index, outcome);
    if (outcome.outcome !== "leaves" && outcome.outcome !== "unavailable") continue;
    if ("afterLockTimeout" in outcome && outcome.afterLockTimeout) lockTimeouts += 1;
    for (const key of keys) held.set(key, outcome.outcome);
  }
  return outcomes;
}
