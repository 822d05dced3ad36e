import { changesOf } from "../domain/changes.ts";
import type { Decision } from "../domain/decide.ts";
import { type Notification, notificationsFor } from "../domain/notification.ts";
import { type SubscriptionEvent, subscriptionEventType } from "../domain/outbound-event.ts";
import type { PaymentEvent } from "../domain/payment-event.ts";
import type { Slot } from "../domain/slot.ts";
import type { Subscription } from "../domain/subscription.ts";
import type { SubscriptionChange } from "../domain/subscription-change.ts";
import type { Attempt } from "../store/attempts.ts";
import { insertEntitlementEvents } from "../store/entitlement-events.ts";
import { insertNotifications } from "../store/notifications.ts";
import { insertSubscriptionEvents } from "../store/outbound-events.ts";
import { insertSubscriptions, updateSubscriptions } from "../store/subscriptions.ts";
import type { Transaction } from "../store/transaction.ts";

export type SubscriptionChanges = {
  /** Those that share a user, a customer or an id with the event, after the events so far. */
  linkedTo(slot: Slot, event: PaymentEvent): Subscription[];
  /** Returns the event's changes relative to the state before it. */
  record(applied: Decision & { outcome: "applied" }): Attempt["changed"];
  /** Sends the writes, one per subscription, without waiting for them. */
  write(transaction: Transaction): Promise<unknown>[];
};

/** The subscriptions that a group has locked, as its events change them in turn. */
export function trackSubscriptions(locked: readonly Subscription[]): SubscriptionChanges {
  const current = new Map(locked.map((one) => [one.id, one]));
  const stored = new Set(current.keys());
  const changed = new Set<string>();
  const notifications: Notification[] = [];
  const events: SubscriptionEvent[] = [];
  const changesInOrder: SubscriptionChange[] = [];
  return {
    linkedTo(slot, event) {
      const linked: Subscription[] = [];
      for (const one of current.values()) if (one.provider === slot && isLinked(one, event)) linked.push(one);
      return linked;
    },
    record({ subscription, isLate }) {
      const before = current.get(subscription.id) ?? null;
      const decision = notificationsFor(before, subscription, { isLate });
      const changes = changesOf(before, subscription);
      notifications.push(...decision.notifications);
      current.set(subscription.id, { ...subscription, lastNotified: decision.lastNotified });
      changed.add(subscription.id);
      changesInOrder.push({ before, after: subscription });
      if (changes !== null) events.push({ type: subscriptionEventType(before, subscription), subscription });
      return changes && { subscriptionId: subscription.id, changes };
    },
    write(transaction) {
      const written = [...changed].map((id) => current.get(id) as Subscription);
      const added = written.filter((one) => !stored.has(one.id)).sort(byKey);
      const updated = written.filter((one) => stored.has(one.id));
      return [
        ...(added.length > 0 ? [insertSubscriptions(transaction, added)] : []),
        ...(updated.length > 0 ? [updateSubscriptions(transaction, updated)] : []),
        ...(notifications.length > 0 ? [insertNotifications(transaction, notifications)] : []),
        ...(events.length > 0 ? [insertSubscriptionEvents(transaction, events)] : []),
        ...insertEntitlementEvents(transaction, changesInOrder),
      ];
    },
  };
}

function isLinked(one: Subscription, { providerSubscriptionId, userId, customerId }: PaymentEvent): boolean {
  return (
    (providerSubscriptionId !== null && one.providerSubscriptionId === providerSubscriptionId) ||
    (userId !== null && one.userId === userId) ||
    (customerId !== null && one.customerId === customerId)
  );
}

// New rows conflict on their keys, so every process must insert them in this order.
function byKey(a: Subscription, b: Subscription): number {
  const [keyA, keyB] = [a, b].map((one) => `${one.provider} ${one.providerSubscriptionId ?? one.userId}`);
  return (keyA as string) < (keyB as string) ? -1 : 1;
}
