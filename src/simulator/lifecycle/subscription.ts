import type { Charge, ChargeLine } from "./charge-line.ts";
import type { Discount } from "./discount.ts";
import type { Offer } from "./offer.ts";

export type SubscriptionState = {
  offer: Offer;
  seats: number;
  status: "incomplete" | "trialing" | "active" | "past_due" | "paused" | "unpaid" | "canceled";
  cancelAtPeriodEnd: boolean;
  periodStartSeconds: number;
  periodEndSeconds: number;
  /** Who scheduled the cancellation, and when; older states have neither. */
  canceledBy?: "seller" | "customer" | null;
  canceledAtSeconds?: number | null;
  /** The latest invoice; absent: it is the period's price. */
  charge?: Charge | null;
  discount?: Discount | null;
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
  | "paused"
  | "unpaused"
  | "written off"
  | "expired"
  | "deleted";

/** Additional events: payments of renewals and changes, and the same change again as a general update. */
export type EmittedEvent = LifecycleEvent | "charged" | "charge failed" | "change charged" | "restated";

/** A subscription with its next changes. Times are the provider's. */
export type BillingState = {
  state: SubscriptionState;
  /** Periods are counted from here: one month later, two months later. */
  anchorSeconds: number;
  periods: number;
  nextCharge: "succeeds" | "fails";
  /** What changes with the next period; older states have none. */
  scheduled?: { offer: Offer | null; seats: number | null } | null;
  /** What changes are charged with the next period; older states have none. */
  pendingLines?: readonly ChargeLine[];
  /** What the customer has got credited, in the currency's smallest unit. */
  credit?: number;
  /** How many invoices were made for changes. */
  changeInvoices?: number;
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
