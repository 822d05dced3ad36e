import { type Changes, changesOf } from "../subscriptions/changes.ts";
import {
  type EventSubscription,
  type StatusBefore,
  type SubscriptionEventType,
  subscriptionEventType,
} from "./outbound-event.ts";
import type { PendingChange } from "./subscription-hook.ts";

/** A subscription before and after a change. */
export type SubscriptionChange = {
  /** `null`: it is new. */
  before: EventSubscription | null;
  after: EventSubscription;
  /** `null`: nothing that is shown of it has changed. */
  type: SubscriptionEventType | null;
  /** `null`: nothing that its history shows has changed. */
  changes: Changes | null;
};

export function subscriptionChange(
  before: (EventSubscription & StatusBefore) | null,
  after: EventSubscription,
): SubscriptionChange {
  const changes = changesOf(before, after);
  const isChanged = changes !== null || before?.userId !== after.userId;
  return { before, after, type: isChanged ? subscriptionEventType(before, after) : null, changes };
}

/** Those that change what is shown of a subscription, as plugins' hooks receive them. */
export function pendingChanges(changes: readonly SubscriptionChange[]): PendingChange[] {
  return changes.flatMap(({ type, before, after }) =>
    type === null ? [] : [{ type, before, subscription: after }],
  );
}
