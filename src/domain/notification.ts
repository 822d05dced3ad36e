import type { LastNotified, Subscription } from "./subscription.ts";
import type { SubscriptionStatus } from "./subscription-status.ts";

export const NOTIFICATION_KINDS = [
  "subscription_activated",
  "subscription_plan_changed",
  "subscription_past_due",
  "subscription_canceled",
  "api_key_created",
  "api_key_expiring",
  "role_changed",
  "password_changed",
  "email_changed",
  "payment_undone",
] as const;

/** What a person is told of. The words are found by whoever shows it, in the reader's language. */
export type NotificationKind = (typeof NOTIFICATION_KINDS)[number];

export type Notification = { userId: string; kind: NotificationKind; details: Record<string, string> };

export type NotificationDecision = {
  /** What was told, to be kept with the subscription. */
  lastNotified: LastNotified | null;
  notifications: Notification[];
};

/**
 * What the person is to be told of a change to a subscription. It is held against what they were told last, not against
 * what was there before: events that go back and forth, as providers send them in any order, tell nothing twice.
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
  // May well have been overtaken: it can begin the story, but not change it.
  if (isLate && lastNotified !== null) return { lastNotified, notifications: [] };

  const standing = STANDING[after.status] ?? lastNotified?.standing ?? null;
  if (standing === null) return { lastNotified, notifications: [] };
  const tell = (kind: NotificationKind, details: Record<string, string>): Notification => ({
    userId,
    kind,
    details: { subscriptionId: after.id, ...details },
  });
  const notifications: Notification[] = [];
  const isRunning = lastNotified !== null && lastNotified.standing !== "canceled" && standing !== "canceled";
  if (isRunning && lastNotified.planId !== planId) {
    notifications.push(tell("subscription_plan_changed", { from: lastNotified.planId, to: planId }));
  }
  if (standing !== lastNotified?.standing && !wasNeverPaid(before, lastNotified, standing)) {
    notifications.push(tell(KINDS[standing], { planId }));
  }
  return { lastNotified: { standing, planId }, notifications };
}

/** Nothing said of a status: what was told is still so. */
const STANDING: Record<SubscriptionStatus, LastNotified["standing"] | null> = {
  incomplete: null,
  trialing: "active",
  active: "active",
  past_due: "past_due",
  unpaid: "past_due",
  paused: null,
  canceled: "canceled",
};

const KINDS: Record<LastNotified["standing"], NotificationKind> = {
  active: "subscription_activated",
  past_due: "subscription_past_due",
  canceled: "subscription_canceled",
};

/** A checkout that was given up ends a subscription that its person never had. */
function wasNeverPaid(
  before: Subscription | null,
  told: LastNotified | null,
  standing: LastNotified["standing"],
): boolean {
  return standing === "canceled" && told === null && before?.status === "incomplete";
}
