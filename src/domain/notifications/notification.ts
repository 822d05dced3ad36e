import type { LastNotified, Subscription } from "../subscriptions/subscription.ts";
import type { SubscriptionStatus } from "../subscriptions/subscription-status.ts";

export const NOTIFICATION_KINDS = [
  "subscription_activated",
  "subscription_plan_changed",
  "subscription_past_due",
  "subscription_unpaid",
  "subscription_canceled",
  "api_key_created",
  "api_key_expiring",
  "role_changed",
  "password_changed",
  "email_changed",
  "payment_undone",
  "payment_not_undone",
  "payment_refunded",
  "payment_disputed",
  "price_unknown",
  "owner_unknown",
  "grace_period_reminder",
  "grace_period_ending",
  "event_endpoint_disabled",
  "service_key_expiring",
] as const;

/** A notification's content. The text is made where it is shown, in the reader's language. */
export type NotificationKind = (typeof NOTIFICATION_KINDS)[number];

export type Notification = { userId: string; kind: NotificationKind; details: Record<string, string> };

export type NotificationDecision = {
  /** The notified state, to be stored with the subscription. */
  lastNotified: LastNotified | null;
  notifications: Notification[];
};

/**
 * The notifications for a changed subscription. Compared with the last notified state, not the previous one:
 * events that arrive in any order notify nobody twice.
 * @param isLate the change comes from an event that is older than the last one applied
 */
export function notificationsFor(
  before: Subscription | null,
  after: Subscription,
  { isLate }: { isLate: boolean },
): NotificationDecision {
  const { userId, planId } = after;
  const lastNotified = before !== null && before.userId === userId ? before.lastNotified : null;
  // An event without the subscription's id is followed by one that has it.
  if (userId === null || after.providerSubscriptionId === null) return { lastNotified, notifications: [] };
  // Probably outdated: it may announce the subscription, but not change what was announced.
  if (isLate && lastNotified !== null) return { lastNotified, notifications: [] };

  const state = announcedAs(after.status, lastNotified?.state ?? null);
  if (state === null) return { lastNotified, notifications: [] };
  const notificationOf = (kind: NotificationKind, details: Record<string, string>): Notification => ({
    userId,
    kind,
    details: { subscriptionId: after.id, ...details },
  });
  const notifications: Notification[] = [];
  const isRunning = lastNotified !== null && lastNotified.state !== "canceled" && state !== "canceled";
  if (isRunning && lastNotified.planId !== planId) {
    notifications.push(
      notificationOf("subscription_plan_changed", { from: lastNotified.planId, to: planId }),
    );
  }
  if (state !== lastNotified?.state && !wasNeverPaid(before, lastNotified, state)) {
    notifications.push(notificationOf(KINDS[state], { planId }));
  }
  return { lastNotified: { state, planId }, notifications };
}

type NotifiedState = LastNotified["state"];

/**
 * Whoever pauses their subscription knows. After a failed payment the provider has paused it, as others leave it unpaid:
 * access ends then, perhaps before the grace period that the person was told of.
 */
function announcedAs(status: SubscriptionStatus, lastState: NotifiedState | null): NotifiedState | null {
  if (status === "paused" && lastState === "past_due") return "unpaid";
  return ANNOUNCED_AS[status] ?? lastState;
}

/** `null`: not worth a notification; the last notified state still holds. */
const ANNOUNCED_AS: Record<SubscriptionStatus, NotifiedState | null> = {
  incomplete: null,
  trialing: "active",
  active: "active",
  past_due: "past_due",
  unpaid: "unpaid",
  paused: null,
  canceled: "canceled",
};

const KINDS: Record<NotifiedState, NotificationKind> = {
  active: "subscription_activated",
  past_due: "subscription_past_due",
  unpaid: "subscription_unpaid",
  canceled: "subscription_canceled",
};

/** An abandoned checkout ends a subscription that the person never had. */
function wasNeverPaid(
  before: Subscription | null,
  lastNotified: LastNotified | null,
  state: NotifiedState,
): boolean {
  return state === "canceled" && lastNotified === null && before?.status === "incomplete";
}
