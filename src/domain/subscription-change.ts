import { changesOf } from "./changes.ts";
import { subscriptionEventType } from "./outbound-event.ts";
import type { Subscription } from "./subscription.ts";
import type { PendingChange } from "./subscription-hook.ts";

/** A subscription before and after a change; `before` is `null` for a new one. */
export type SubscriptionChange = { before: Subscription | null; after: Subscription };

/** Those that change what is shown of a subscription, as plugins' hooks receive them. */
export function pendingChanges(changes: readonly SubscriptionChange[]): PendingChange[] {
  return changes.flatMap(({ before, after }) =>
    changesOf(before, after) === null
      ? []
      : [{ type: subscriptionEventType(before, after), before, subscription: after }],
  );
}
