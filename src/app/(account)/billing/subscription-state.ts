import type { z } from "zod";
import { isRunning as isRunningStatus } from "../../../domain/subscriptions/subscription-status.ts";
import type { SubscriptionView } from "../../../operations/subscriptions/subscription-view.ts";

export type Subscription = z.output<typeof SubscriptionView>;

/** Whether it is being paid for, or may be again; one that was never paid for can be bought again. */
export function isRunning(subscription: Subscription | null): boolean {
  return subscription !== null && isRunningStatus(subscription.status);
}

/** The one that entitles to most first, whichever is the newest. */
export function currentFirst(current: Subscription | null, all: readonly Subscription[]): Subscription[] {
  return current ? [current, ...all.filter(({ id }) => id !== current.id)] : [...all];
}

/** Whether more than one is going to be charged again. What is set to end has been canceled already. */
export function isPaidTwice(renewing: readonly Subscription[]): boolean {
  return renewing.filter(({ cancelAtPeriodEnd }) => !cancelAtPeriodEnd).length > 1;
}

/** Whether a purchase is known in full: the first event may say that it is paid, and not yet until when. */
export function isConfirmed(subscription: Subscription | null): boolean {
  return isRunning(subscription) && subscription?.currentPeriodEnd !== null;
}

/** The key of its sentence. */
type Milestone =
  | "renews"
  | "trialEnds"
  | "pauses"
  | "ends"
  | "due"
  | "running"
  | "pastDue"
  | "unpaid"
  | "paused"
  | "incomplete"
  | "ended";

/** @param pauses whether a pause is scheduled for the end of its period */
export function nextMilestone(
  subscription: Subscription,
  now: Date,
  { pauses = false }: { pauses?: boolean } = {},
): Milestone {
  const { status, currentPeriodEnd, cancelAtPeriodEnd } = subscription;
  switch (status) {
    case "past_due":
      return "pastDue";
    case "unpaid":
      return "unpaid";
    case "paused":
      return "paused";
    case "incomplete":
      return "incomplete";
    case "canceled":
      return "ended";
    case "active":
    case "trialing":
      if (currentPeriodEnd === null) return "running";
      if (periodEnd(subscription, now) === null) return "due";
      if (cancelAtPeriodEnd) return "ends";
      if (pauses) return "pauses";
      return status === "trialing" ? "trialEnds" : "renews";
    default:
      return status satisfies never;
  }
}

/** When the paid period ends; `null`: unknown, also while the event of the next one has not arrived yet. */
export function periodEnd({ currentPeriodEnd }: Subscription, now: Date): Date | null {
  return currentPeriodEnd !== null && currentPeriodEnd > now ? currentPeriodEnd : null;
}

/** Whether it is set to end although something else has to be said first, such as that a payment failed. */
export function hasScheduledEnd(subscription: Subscription, now: Date): boolean {
  const { status, cancelAtPeriodEnd } = subscription;
  const isInterrupted = status === "past_due" || status === "unpaid" || status === "paused";
  return isInterrupted && cancelAtPeriodEnd && periodEnd(subscription, now) !== null;
}
