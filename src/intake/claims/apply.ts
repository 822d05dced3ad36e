import type { Failure } from "../../domain/deliveries/failures.ts";
import { redactHeld } from "../../store/accounts/redaction.ts";
import { DatabaseUnavailable, isTimeout, sqlState } from "../../store/database.ts";
import { fenceClaims } from "../../store/deliveries/claims.ts";
import { retryOnContention } from "../../store/retry-on-contention.ts";
import {
  inTransaction,
  isConflict,
  isLockTimeout,
  isOutOfResources,
  type Transaction,
  type TransactionOptions,
} from "../../store/transaction.ts";
import { callHooks, HookFailed } from "../call-hooks.ts";
import type { AttemptOutcome, ClaimedEvent } from "../claimed-event.ts";
import { decideGroup, type EventDecision } from "../groups/decide-group.ts";
import { isOfDeletedUser } from "../groups/deleted-users.ts";
import { effectsOf } from "../groups/group-effects.ts";
import { type LockedGroup, lockGroup, waitForLocks } from "../groups/lock-group.ts";
import { outcomeOf, recordOutcomes } from "../groups/record-outcomes.ts";
import { withFollowers } from "../groups/with-followers.ts";
import type { Intake } from "../intake.ts";
import { effectLimits, groupLimits } from "../transaction-limits.ts";
import { release } from "./release.ts";

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

/** Events that would have to wait for a subscription are returned, and nothing is written. */
export function applyTogether(
  intake: Intake,
  group: readonly ClaimedEvent[],
  limits = groupLimits(intake),
): Promise<(AttemptOutcome | "contended")[]> {
  return applyLocked(intake, group, limits, (transaction) =>
    lockGroup(transaction, group, async () => () => true),
  );
}

/** The same for one event, which waits for its subscriptions. */
export function applyWaiting(
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
    const decided = decideGroup(
      intake,
      group.map((event) => (heldClaims.has(event.claim) ? event : null)),
      locked,
    );
    const { decisions, changed, changes } = decided;
    const effects = effectsOf(intake, group, decided, locked);
    const ofDeleted = group
      .filter((event, index) => isOfDeletedUser(event, decisions[index] ?? null, users))
      .map((event) => event.claim.id);
    const writes = [
      ...effects.write(transaction),
      ...recordOutcomes(transaction, group, decisions, changed),
      ...(ofDeleted.length > 0 ? [redactHeld(transaction, ofDeleted)] : []),
    ];
    const isAtFault = group.every(wasReleasedOften);
    await callHooks(transaction, intake.hooks, changes.pending(), { writes, limits, isAtFault });
    await intake.reached("effects written");
    await transaction.commitAfter(writes);
    await intake.reached("committed");
    effects.committed();
    return decisions.map(outcomeOf);
  });
}

/**
 * After this many, a hook that always finds a lock or loses a race uses up attempts, so that its event backs
 * off.
 */
const MAX_RELEASES = 30;

function wasReleasedOften({ claim: { claimNo, attemptNo } }: ClaimedEvent): boolean {
  return claimNo - attemptNo >= MAX_RELEASES;
}

/** Nobody knows what was committed: the leases decide when the events are tried again. */
export function unavailable(
  intake: Intake,
  group: readonly ClaimedEvent[],
  error: unknown,
): AttemptOutcome[] {
  intake.log.warn({ err: error, events: group.length }, "database unavailable: nothing was applied");
  return group.map(() => ({ outcome: "unavailable" }));
}

/** The effects were rolled back; records the failure if the claim still holds. */
export async function recordDefect(
  intake: Intake,
  event: ClaimedEvent,
  error: unknown,
): Promise<AttemptOutcome> {
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
