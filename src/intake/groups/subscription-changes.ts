import type { Decision } from "../../domain/events/decide.ts";
import type { PaymentEvent } from "../../domain/events/payment-event.ts";
import { type Notification, notificationsFor } from "../../domain/notifications/notification.ts";
import {
  pendingChanges,
  type SubscriptionChange,
  subscriptionChange,
} from "../../domain/outbound/subscription-change.ts";
import type { PendingChange } from "../../domain/outbound/subscription-hook.ts";
import type { Slot } from "../../domain/slot.ts";
import { isFirstLink, type Subscription } from "../../domain/subscriptions/subscription.ts";
import type { Attempt } from "../../store/deliveries/attempts.ts";
import { insertNotifications } from "../../store/notifications/notifications.ts";
import {
  notifyUnknownPrices,
  type UnknownPrice,
} from "../../store/notifications/unknown-price-notifications.ts";
import { insertOutboundChanges } from "../../store/outbound/outbound-changes.ts";
import { insertSubscriptions, updateSubscriptions } from "../../store/subscriptions/subscriptions.ts";
import type { Transaction } from "../../store/transaction.ts";

export type SubscriptionChanges = {
  /** Those that share a user, a customer or an id with the event, after the events so far. */
  linkedTo(slot: Slot, event: PaymentEvent): Subscription[];
  /** Returns the event's changes relative to the state before it. */
  record(applied: Decision & { outcome: "applied" }): Attempt["changed"];
  /** What has been recorded, in order, for plugins' hooks. */
  pending(): PendingChange[];
  /** The ids of those that were stored before, and whose payments are known now: they may be refunded already. */
  linkedToPayments(): string[];
  /** Sends the writes without waiting for them; a subscription is written once, however many events change it. */
  write(transaction: Transaction): Promise<unknown>[];
};

/** The subscriptions that a group has locked, as its events change them in turn. */
export function trackSubscriptions(locked: readonly Subscription[]): SubscriptionChanges {
  const current = new Map(locked.map((subscription) => [subscription.id, subscription]));
  const stored = new Set(current.keys());
  const changed = new Set<string>();
  const linkedToPayments = new Set<string>();
  const notifications: Notification[] = [];
  const unknownPrices: UnknownPrice[] = [];
  const all: SubscriptionChange[] = [];
  return {
    pending: () => pendingChanges(all),
    linkedToPayments: () => [...linkedToPayments],
    linkedTo(slot, event) {
      const linked: Subscription[] = [];
      for (const subscription of current.values())
        if (subscription.provider === slot && isLinked(subscription, event)) linked.push(subscription);
      return linked;
    },
    record({ subscription, isLate, planProblem }) {
      const before = current.get(subscription.id) ?? null;
      const decision = notificationsFor(before, subscription, { isLate });
      const change = subscriptionChange(before, subscription);
      notifications.push(...decision.notifications);
      if (planProblem?.reason === "price_unknown") {
        const { priceId } = planProblem.params;
        unknownPrices.push({ subscription, priceId, isNewlyFlagged: before?.outOfOrder !== true });
      }
      current.set(subscription.id, { ...subscription, lastNotified: decision.lastNotified });
      changed.add(subscription.id);
      if (stored.has(subscription.id) && isFirstLink(before, subscription))
        linkedToPayments.add(subscription.id);
      all.push(change);
      return change.changes && { subscriptionId: subscription.id, changes: change.changes };
    },
    write(transaction) {
      const written = [...changed].map((id) => current.get(id) as Subscription);
      const added = written.filter((subscription) => !stored.has(subscription.id)).sort(byKey);
      const updated = written.filter((subscription) => stored.has(subscription.id));
      return [
        ...(added.length > 0 ? [insertSubscriptions(transaction, added)] : []),
        ...(updated.length > 0 ? [updateSubscriptions(transaction, updated)] : []),
        ...(notifications.length > 0 ? [insertNotifications(transaction, notifications)] : []),
        ...(unknownPrices.length > 0 ? [notifyUnknownPrices(transaction, unknownPrices)] : []),
        ...insertOutboundChanges(transaction, all),
      ];
    },
  };
}

function isLinked(
  subscription: Subscription,
  { providerSubscriptionId, userId, customerId }: PaymentEvent,
): boolean {
  return (
    (providerSubscriptionId !== null && subscription.providerSubscriptionId === providerSubscriptionId) ||
    (userId !== null && subscription.userId === userId) ||
    (customerId !== null && subscription.customerId === customerId)
  );
}

// New rows conflict on their keys, so every process must insert them in this order.
function byKey(a: Subscription, b: Subscription): number {
  const [keyA, keyB] = [keyOf(a), keyOf(b)];
  return keyA === keyB ? 0 : keyA < keyB ? -1 : 1;
}

function keyOf({ provider, providerSubscriptionId, userId, paymentId, planId }: Subscription): string {
  return `${provider} ${providerSubscriptionId ?? `${userId} ${paymentId ?? planId}`}`;
}
