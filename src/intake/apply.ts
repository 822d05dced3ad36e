import type { Failure } from "../domain/failures.ts";
import { fenceClaims } from "../store/claims.ts";
import { DatabaseUnavailable, sqlState } from "../store/database.ts";
import { recordPayments } from "../store/record-payments.ts";
import { redactHeld } from "../store/redaction.ts";
import { retryOnContention } from "../store/retry-on-contention.ts";
import {
  inTransaction,
  isConflict,
  isLockTimeout,
  isOutOfResources,
  isTimeout,
  type Transaction,
  type TransactionOptions,
} from "../store/transaction.ts";
import { insertUnwanted } from "../store/unwanted-subscriptions.ts";
import type { Progress } from "./batcher.ts";
import { callHooks, HookFailed } from "./call-hooks.ts";
import type { AttemptOutcome, ClaimedEvent } from "./claimed-event.ts";
import { decideGroup, type EventDecision } from "./decide-group.ts";
import { isOfDeletedUser, logUnwanted, unwantedOf } from "./deleted-users.ts";
import type { Intake } from "./intake.ts";
import { keysOf } from "./keys.ts";
import { type LockedGroup, lockGroup, waitForLocks } from "./lock-group.ts";
import { outcomeOf, recordOutcomes } from "./record-outcomes.ts";
import { release } from "./release.ts";
import { requestComparisons } from "./request-comparisons.ts";
import { briefLimits, effectLimits, groupLimits } from "./transaction-limits.ts";
import { withFollowers } from "./with-followers.ts";

/** After so many events of a group that were not applied in time, the others wait for no lock any more. */
const MAX_TIMEOUTS = 3;

/**
 * Applies claimed events in order, effects and outcomes in one transaction; a failing event fails alone. Those
 * that would wait for a lock leave the group: nobody waits with them.
 */
export async function applyGroup(
  intake: Intake,
  group: readonly ClaimedEvent[],
): Promise<(AttemptOutcome | Promise<AttemptOutcome>)[]> {
  if (group.length === 0) return [];
  try {
    const applied = await retryOnContention(() => applyTogether(intake, group));
    if (!applied.includes("contended")) return applied as AttemptOutcome[];
    // Nothing was written.
    const leaving = withFollowers(group, (_, index) => applied[index] === "contended");
    const rest = group.filter((event) => !leaving.has(event));
    const applying = await applyGroup(intake, rest);
    const outcomes = new Map(rest.map((event, index) => [event, applying[index]]));
    return group.map((event) => outcomes.get(event) ?? intake.singleAttempts.submit(event));
  } catch (error) {
    if (isOutOfResources(error)) return release(intake, group, error);
    if (error instanceof DatabaseUnavailable) return unavailable(intake, group, error);
    // A lock concerns one event; a slow database concerns all.
    if (isTimeout(error) && !isLockTimeout(error)) return release(intake, group, error);
    const [only] = group;
    if (only && group.length === 1) {
      if (isConflict(error)) return release(intake, group, error);
      if (!isLockTimeout(error)) return [await recordDefect(intake, only, error)];
    }
  }
  // The transaction is rolled back with everybody's effects: singly, only the event concerned waits or fails.
  return group.map((event) => intake.singleAttempts.submit(event));
}

/**
 * Applies events in order, a transaction each. Those that would wait for a lock for longer than a moment go on
 * in `patientAttempts`, where they delay none that need not.
 */
export async function applySingly(
  intake: Intake,
  group: readonly ClaimedEvent[],
  done: Progress<AttemptOutcome>["done"],
): Promise<(AttemptOutcome | Promise<AttemptOutcome>)[]> {
  const results: (AttemptOutcome | Promise<AttemptOutcome>)[] = [];
  await applyEach(intake, group, briefLimits(intake), (index, outcome) => {
    const result =
      outcome === "locked" ? intake.patientAttempts.submit(group[index] as ClaimedEvent) : outcome;
    results.push(result);
    done(index, result);
  });
  return results;
}

/** The same with patience: what is still locked after that is released. */
export async function applyPatiently(
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

/** Events that would have to wait for a subscription are returned, and nothing is written. */
function applyTogether(
  intake: Intake,
  group: readonly ClaimedEvent[],
  limits = groupLimits(intake),
): Promise<(AttemptOutcome | "contended")[]> {
  return applyLocked(intake, group, limits, (transaction) =>
    lockGroup(transaction, group, async () => () => true),
  );
}

function applyWaiting(
  intake: Intake,
  event: ClaimedEvent,
  limits: TransactionOptions,
): Promise<(AttemptOutcome | "contended")[]> {
  return applyLocked(intake, [event], limits, (transaction) => waitForLocks(transaction, event));
}

async function applyLocked(
  intake: Intake,
  group: readonly ClaimedEvent[],
  limits: TransactionOptions,
  lock: (transaction: Transaction) => Promise<LockedGroup>,
): Promise<(AttemptOutcome | "contended")[]> {
  return inTransaction(intake.database, limits, async (transaction) => {
    const fencing = fenceClaims(
      transaction,
      group.map((event) => event.claim),
    );
    const [heldClaims, locked] = await Promise.all([fencing, lock(transaction)]);
    const { users, isContended } = locked;
    if (group.some(isContended)) {
      return group.map((event) => (isContended(event) ? "contended" : { outcome: "lost" }));
    }
    const { decisions, changed, changes, payments } = decideGroup(
      intake,
      group.map((event) => (heldClaims.has(event.claim) ? event : null)),
      locked,
    );
    const ofDeleted = group.filter((event, index) => isOfDeletedUser(event, decisions[index] ?? null, users));
    const unwanted = unwantedOf(group, decisions, users);
    const writes = [
      ...(unwanted.length > 0 ? [insertUnwanted(transaction, unwanted)] : []),
      ...changes.write(transaction),
      ...(payments.length > 0 ? [recordPayments(transaction, payments)] : []),
      ...recordOutcomes(transaction, group, decisions, changed),
      ...(ofDeleted.length > 0
        ? [
            redactHeld(
              transaction,
              ofDeleted.map((event) => event.claim.id),
            ),
          ]
        : []),
    ];
    await callHooks(transaction, intake.hooks, changes.pending(), { writes, limits });
    await intake.reached("effects written");
    await transaction.commitAfter(writes);
    await intake.reached("committed");
    logUnwanted(intake, unwanted);
    requestComparisons(intake, group, decisions);
    return decisions.map(outcomeOf);
  });
}

function unavailable(intake: Intake, group: readonly ClaimedEvent[], error: unknown): AttemptOutcome[] {
  intake.log.warn({ err: error, events: group.length }, "database unavailable: nothing was applied");
  return group.map(() => ({ outcome: "unavailable" }));
}

/** The effects were rolled back; records the failure if the claim still holds. */
async function recordDefect(intake: Intake, event: ClaimedEvent, error: unknown): Promise<AttemptOutcome> {
  intake.log.error({ err: error, deliveryId: event.claim.id }, "applying an event failed");
  const failed: EventDecision = { outcome: "failed", failure: failureOf(error) };
  try {
    return await inTransaction(intake.database, effectLimits(intake), async (transaction) => {
      const heldClaims = await fenceClaims(transaction, [event.claim]);
      const decision = heldClaims.has(event.claim) ? failed : null;
      await transaction.commitAfter(recordOutcomes(transaction, [event], [decision], []));
      return outcomeOf(decision);
    });
  } catch (recordingError) {
    if (!(recordingError instanceof DatabaseUnavailable))
      intake.log.error({ err: recordingError }, "recording a failure failed");
    return { outcome: "unavailable" };
  }
}

/** Database errors and stacks may quote other rows and code: they go to the log alone. */
function failureOf(error: unknown): Failure {
  if (error instanceof HookFailed) return { reason: "hook_failed", params: { plugin: error.plugin } };
  return { reason: sqlState(error) ? "database_refused" : "defect" };
}
