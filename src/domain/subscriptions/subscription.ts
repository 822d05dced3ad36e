import type { Slot } from "../slot.ts";
import { isRunning, type SubscriptionStatus } from "./subscription-status.ts";

/** What its user was last notified of, see `notification.ts`. */
export type LastNotified = { state: "active" | "past_due" | "unpaid" | "canceled"; planId: string };

export type Subscription = {
  id: string;
  /** `null` once the user has deleted the account. */
  userId: string | null;
  provider: Slot;
  /** `null` until an event contains it: some checkouts do not. */
  providerSubscriptionId: string | null;
  /** Bought with a single payment: the provider has no subscription for it, and nothing renews it. A refund ends its access. */
  isOneTime: boolean;
  /** The provider's id of that payment, which no other has; `null`: free of charge, not known, or a subscription. */
  paymentId: string | null;
  customerId: string | null;
  /** The last price id, to notice a change to a price that no plan knows. */
  priceId: string | null;
  planId: string;
  seats: number;
  status: SubscriptionStatus;
  currentPeriodEnd: Date | null;
  cancelAtPeriodEnd: boolean;
  /** A pause is scheduled for that end, or payments are paused already: it does not renew at a charge. */
  pausesAtPeriodEnd: boolean;
  /** Events arrived out of order and may have left it wrong: to be compared with the provider. */
  outOfOrder: boolean;
  /** The latest time, by the provider's clock, of an event applied to it; microseconds. */
  lastEventAtMicros: number | null;
  /** The highest rank among the events of that time, see `event-order.ts`; `null`: not known. */
  lastEventRank: number | null;
  /** When the provider was last asked; microseconds. Earlier events are late. */
  comparedAtMicros: number | null;
  /**
   * When its grace period started, see `past-due-since.ts`; microseconds. A late event that ends the failure leaves it
   * until a comparison. `null` also where a server of the release before has stored `past_due`.
   */
  pastDueSinceMicros: number | null;
  /** `null`: nothing yet. */
  lastNotified: LastNotified | null;
};

/** Whether the provider is going to charge somebody who has deleted the account, and resumed it there since. */
export function renewsWithoutUser({ userId, status, cancelAtPeriodEnd }: Subscription): boolean {
  return userId === null && isRunning(status) && !cancelAtPeriodEnd;
}

/** Whether a change links a known one to its payments, which may be refunded already. */
export function isFirstLink(before: Subscription | null, after: Subscription): boolean {
  const isLinked = ({ providerSubscriptionId, paymentId }: Subscription) =>
    providerSubscriptionId !== null || paymentId !== null;
  return before !== null && !isLinked(before) && isLinked(after);
}
