import type { PaymentReport } from "../payments/payment.ts";
import type { PaidItem } from "../plans/paid-item.ts";
import type { SubscriptionStatus } from "../subscriptions/subscription-status.ts";

/** The specification's four events, onto which every provider's own are mapped. */
export const EVENT_KINDS = [
  "checkout.session.completed",
  "customer.subscription.created",
  "customer.subscription.updated",
  "customer.subscription.deleted",
] as const;

export type EventKind = (typeof EVENT_KINDS)[number];

/** The identity of a verified delivery, read before its content. */
export type EventIdentity = {
  /** 1 to 255 characters, well-formed Unicode, no NUL. */
  eventId: string;
  /** The provider's own name of the event, as delivered. 1 to 255 characters, no NUL. */
  eventType: string;
};

/**
 * A delivery's content in one shape for all providers. `null` means "not in this event", so that it never
 * erases known values.
 */
export type PaymentEvent = {
  /** `payment`: it concerns a payment alone. `ignored`: none of these, or nothing was paid. */
  kind: EventKind | "payment" | "ignored";
  /** When it happened by the provider's clock, in microseconds since the epoch. */
  occurredAtMicros: number | null;
  /** Of a listed or fetched subscription, which is not an event: when it last changed, where it says so. */
  changedAtMicros?: number | undefined;
  /** From the checkout's custom data. */
  userId: string | null;
  planId: string | null;
  providerSubscriptionId: string | null;
  customerId: string | null;
  /** A customer that the provider knows to be another person's: never stored. */
  foreignCustomerId?: string;
  /**
   * The address that makes the payer this customer, where anybody may type one: it must be the user's
   * confirmed one.
   */
  customerEmail?: string;
  /** What is paid for, in the order delivered. */
  items: readonly PaidItem[];
  status: SubscriptionStatus | null;
  currentPeriodEnd: Date | null;
  cancelAtPeriodEnd: boolean | null;
  /** Absent: not in this event, or the provider schedules no pauses. */
  pausesAtPeriodEnd?: boolean | undefined;
  /**
   * A change for the period's end has been scheduled or withdrawn, or waits: which one is read from the
   * provider.
   */
  concernsScheduledChange?: true;
  /** A one-time payment: no subscription follows. */
  isOneTime?: true;
  /** What it says about a payment, besides what it does to a subscription. */
  payment?: PaymentReport;
};

/** The id of the payment that bought a plan for good; `null`: it is of a subscription, or nothing was charged. */
export function singlePaymentOf({ isOneTime, payment }: PaymentEvent): string | null {
  return (isOneTime && payment?.charge?.id) ?? null;
}
