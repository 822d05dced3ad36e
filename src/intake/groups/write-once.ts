import { secondsUntilRetry } from "../../domain/deliveries/delivery.ts";
import {
  type FirstDelivery,
  findKnownDeliveries,
  insertFirstDeliveries,
} from "../../store/deliveries/first-deliveries.ts";
import { inTransaction } from "../../store/transaction.ts";
import { callHooks } from "../call-hooks.ts";
import type { IncomingEvent, ReceivedOutcome } from "../incoming-event.ts";
import type { Intake } from "../intake.ts";
import { firstDeliveryLimits } from "../transaction-limits.ts";
import { decideGroup, type EventDecision, type GroupDecision } from "./decide-group.ts";
import { isOfDeletedUser } from "./deleted-users.ts";
import { effectsOf } from "./group-effects.ts";
import { type LockedGroup, lockGroup } from "./lock-group.ts";
import { durationMsOf } from "./record-outcomes.ts";
import { withFollowers } from "./with-followers.ts";

/** `leaves`: not a plain first delivery. Nothing was written for it; it must be claimed first. */
export type WrittenOutcome = ReceivedOutcome | { outcome: "leaves"; afterLockTimeout?: boolean };

/**
 * Writes a group of first deliveries in one transaction, each row once, in its final state. Never waits for a
 * lock: an event that would have to wait leaves the group.
 * @throws PostgreSQL's error; then nothing was written
 */
export async function writeOnce(
  intake: Intake,
  group: readonly IncomingEvent[],
  closing: () => void,
): Promise<WrittenOutcome[]> {
  const limits = firstDeliveryLimits(intake);
  return inTransaction(intake.database, limits, async (transaction) => {
    const repeats = new Set<IncomingEvent>();
    const alreadyStored = new Set<IncomingEvent>();
    const locked = await lockGroup(transaction, group, async () => {
      // After the locks, to see what was committed before.
      const known = await findKnownDeliveries(
        transaction,
        group.map(({ delivery }) => delivery),
      );
      if (known.size === 0) return () => true;
      for (const event of group) {
        const isDurable = known.get(event.key);
        if (isDurable !== undefined) alreadyStored.add(event);
        // Otherwise only a commit of our own can tell whether it has reached the standbys.
        if (isDurable) repeats.add(event);
      }
      return (event) => !alreadyStored.has(event as IncomingEvent);
    });
    const leaving = withFollowers(group, (event) => {
      return alreadyStored.has(event) ? !repeats.has(event) : locked.isContended(event);
    });
    const written = group.filter((event) => !repeats.has(event) && !leaving.has(event));
    if (written.length === 0) return group.map((event) => outcomeOfUnwritten(leaving.has(event)));

    const decided = decideGroup(intake, written, locked);
    const inserting = insertFirstDeliveries(
      transaction,
      written.map((event, index) => rowOf(event, index, decided, locked)),
    );
    const effects = effectsOf(intake, written, decided, locked);
    const writes = [inserting, ...effects.write(transaction)];
    await callHooks(transaction, intake.hooks, decided.changes.pending(), { writes, limits });
    await intake.reached("effects written");
    const committing = transaction.commitAfter(writes);
    closing();
    await committing;
    await intake.reached("committed");
    effects.committed();

    const failed = await inserting;
    const outcomes = new Map<IncomingEvent, ReceivedOutcome>();
    for (const [index, event] of written.entries()) {
      const { outcome } = decided.decisions[index] as EventDecision;
      outcomes.set(event, outcomeOf(outcome, failed.get(event.key) ?? ""));
    }
    return group.map((event) => outcomes.get(event) ?? outcomeOfUnwritten(leaving.has(event)));
  });
}

function outcomeOf(outcome: EventDecision["outcome"], deliveryId: string): ReceivedOutcome {
  if (outcome === "failed") return { outcome, deliveryId };
  return { outcome: outcome === "ignored" ? "ignored" : "applied" };
}

function outcomeOfUnwritten(leaves: boolean): WrittenOutcome {
  return { outcome: leaves ? "leaves" : "duplicate" };
}

function rowOf(
  event: IncomingEvent,
  index: number,
  { decisions, changed }: GroupDecision,
  { users }: LockedGroup,
): FirstDelivery {
  const decision = decisions[index] as EventDecision;
  return {
    delivery: event.delivery,
    key: event.key,
    durationMs: durationMsOf(event),
    failed:
      decision.outcome === "failed"
        ? { failure: decision.failure, retryInSeconds: secondsUntilRetry(1, Math.random()) }
        : null,
    changed: changed[index] ?? null,
    isRedacted: isOfDeletedUser(event, decision, users),
  };
}
