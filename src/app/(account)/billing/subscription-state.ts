import type { z } from "zod";
import type { SubscriptionView } from "../../../operations/subscriptions/subscription-view.ts";

export type Subscription = z.output<typeof SubscriptionView>;

/** Whether its person goes on paying for it, or will again; what was never paid for can be ordered anew. */
export function isRunning(subscription: Subscription | null): boolean {
  return subscription !== null && subscription.status !== "incomplete" && subscription.status !== "canceled";
}

/**
 * Whether all is told of what was paid for at the checkout just now. What comes first may say that it is paid, and not
 * yet for how many seats and until when.
 */
export function isConfirmed(subscription: Subscription | null): boolean {
  return isRunning(subscription) && subscription?.currentPeriodEnd !== null;
}

/** What comes next: the key of its sentence. */
type Milestone =
  | "renews"
  | "trialEnds"
  | "ends"
  | "due"
  | "running"
  | "pastDue"
  | "unpaid"
  | "paused"
  | "incomplete"
  | "ended";

export function nextMilestone(subscription: Subscription, now: Date): Milestone {
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
      // The provider's word on what became of it is still on its way.
      if (currentPeriodEnd <= now) return "due";
      if (cancelAtPeriodEnd) return "ends";
      return status === "trialing" ? "trialEnds" : "renews";
    default:
      return status satisfies never;
  }
}
