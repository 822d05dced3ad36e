import { type Changes, changesOf } from "./changes.ts";
import { type EventSubscription, subscriptionEventType } from "./outbound-event.ts";
import type { PendingChange } from "./subscription-hook.ts";

/** A subscription before and after a change. */
export type SubscriptionChange = {
  /** `null`: it is new. */
  before: EventSubscription | null;
  after: EventSubscription;
  /** `null`: nothing that is shown has changed. */
  changes: Changes | null;
};

export function subscriptionChange(
  before: EventSubscription | null,
  after: EventSubscription,
): SubscriptionChange {
  return { before, after, changes: changesOf(before, after) };
}

/** Those that change what is shown of a subscription, as plugins' hooks receive them. */
export function pendingChanges(changes: readonly SubscriptionChange[]): PendingChange[] {
  return changes.flatMap(({ before, after, changes }) =>
    changes === null ? [] : [{ type: subscriptionEventType(before, after), before, subscription: after }],
  );
}
