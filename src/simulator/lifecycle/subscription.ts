import type { Offer } from "./offer.ts";

export type SubscriptionState = {
  offer: Offer;
  seats: number;
  status: "incomplete" | "trialing" | "active" | "past_due" | "unpaid" | "canceled";
  cancelAtPeriodEnd: boolean;
  periodStartSeconds: number;
  periodEndSeconds: number;
};

/** What changes a subscription. Providers have an event for each. */
export type LifecycleEvent =
  | "checkout completed"
  | "created"
  | "activated"
  | "trial ended"
  | "seats changed"
  | "plan changed"
  | "renewed"
  | "payment failed"
  | "payment recovered"
  | "cancellation scheduled"
  | "cancellation withdrawn"
  | "written off"
  | "deleted";

/** Besides those: a renewal's payment, and the same change once more as a general update. */
export type EmittedEvent = LifecycleEvent | "charged" | "restated";

/** A subscription and what it does next. Times are the provider's. */
export type BillingState = {
  state: SubscriptionState;
  /** Periods are counted from here: one month later, two months later. */
  anchorSeconds: number;
  periods: number;
  nextCharge: "succeeds" | "fails";
  /** Since when a renewal is unpaid, and how often it was charged again. */
  overdue: { sinceSeconds: number; tries: number } | null;
};

/** How a provider tries to collect a failed renewal. */
export type Dunning = {
  /** How long after the failed renewal the charge is tried again. */
  retryAfterDays: readonly number[];
  /** How long it stays unpaid after the last try; `null`: it ends with the last try. */
  unpaidForDays: number | null;
};
