import type { Offer } from "./offer.ts";

export type SubscriptionState = {
  offer: Offer;
  seats: number;
  status: "incomplete" | "trialing" | "active" | "past_due" | "unpaid" | "canceled";
  cancelAtPeriodEnd: boolean;
  periodStartSeconds: number;
  periodEndSeconds: number;
  /** Who scheduled the cancellation, and when; older states have neither. */
  canceledBy?: "seller" | "customer" | null;
  canceledAtSeconds?: number | null;
};

/** Changes of a subscription. Providers have an event for each. */
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
  | "expired"
  | "deleted";

/** Additional events: a renewal's payment, made or failed, and the same change again as a general update. */
export type EmittedEvent = LifecycleEvent | "charged" | "charge failed" | "restated";

/** A subscription with its next changes. Times are the provider's. */
export type BillingState = {
  state: SubscriptionState;
  /** Periods are counted from here: one month later, two months later. */
  anchorSeconds: number;
  periods: number;
  nextCharge: "succeeds" | "fails";
  /** What changes with the next period; older states have none. */
  scheduled?: { offer: Offer | null; seats: number | null } | null;
  /** When the unpaid renewal was due, and how often it was charged again. */
  overdue: { sinceSeconds: number; tries: number } | null;
};

/** How a provider retries a failed renewal. */
export type Dunning = {
  /** Retries of the charge, counted from the failed renewal. */
  retryAfterDays: readonly number[];
  /** How long it stays unpaid after the last retry; `null`: it ends then. */
  unpaidForDays: number | null;
};
