import type { z } from "zod";
import type { SubscriptionView } from "../../../operations/subscriptions/subscription-view.ts";
import type { Tone } from "../../../ui/status.tsx";

export type Subscription = z.output<typeof SubscriptionView>;

export const TONES: Record<Subscription["status"], Tone> = {
  incomplete: "warn",
  trialing: "good",
  active: "good",
  past_due: "bad",
  paused: "neutral",
  unpaid: "bad",
  canceled: "neutral",
};

/** Whether its person goes on paying for it, or will again; what was never paid for can be ordered anew. */
export function isRunning(subscription: Subscription | null): boolean {
  return subscription !== null && subscription.status !== "incomplete" && subscription.status !== "canceled";
}

/** What comes next: the key of its sentence. */
export type Next =
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

export function nextOf(subscription: Subscription, now: Date): Next {
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
