import { randomUUID } from "node:crypto";
import { type Decision, decide } from "../domain/decide.ts";
import type { DecideContext } from "../domain/decide-context.ts";
import type { Subscription } from "../domain/subscription.ts";
import type { Attempt } from "../store/attempts.ts";
import type { UserState } from "../store/users.ts";
import type { Intake } from "./intake.ts";
import type { ReadEvent } from "./read-event.ts";
import { type SubscriptionChanges, trackSubscriptions } from "./subscription-changes.ts";

export type GroupDecision = {
  /** One per event; `null` for skipped ones. */
  decisions: (Decision | null)[];
  /** The changes of each event, relative to the one before it. */
  changed: Attempt["changed"][];
  changes: SubscriptionChanges;
};

/**
 * Decides the events of a group one after another, each based on the result of the one before. A defect fails only
 * its own event.
 */
export function decideGroup(
  intake: Pick<Intake, "plans" | "log">,
  events: readonly (ReadEvent | null)[],
  locked: readonly Subscription[],
  users: ReadonlyMap<string, UserState>,
): GroupDecision {
  const changes = trackSubscriptions(locked);
  const context: Omit<DecideContext, "subscriptions"> = {
    userState: (id) => users.get(id) ?? "unknown",
    plans: intake.plans,
    newId: randomUUID,
  };
  const changed: Attempt["changed"][] = events.map(() => null);
  const decisions = events.map((event, index): Decision | null => {
    if (event === null) return null;
    if ("failure" in event.reading) return { outcome: "failed", failure: event.reading.failure };
    try {
      const subscriptions = changes.linkedTo(event.slot, event.reading.event);
      const decision = decide(event.slot, event.reading.event, { ...context, subscriptions });
      if (decision.outcome === "applied") {
        changed[index] = changes.record(decision);
      }
      return decision;
    } catch (error) {
      intake.log.error({ err: error, slot: event.slot }, "deciding an event failed");
      return { outcome: "failed", failure: { reason: "defect" } };
    }
  });
  return { decisions, changed, changes };
}
