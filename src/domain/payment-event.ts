import type { SubscriptionStatus } from "./subscription-status.ts";

/** The four events of the specification. Every wire format's own names are mapped onto these. */
export const EVENT_KINDS = [
  "checkout.session.completed",
  "customer.subscription.created",
  "customer.subscription.updated",
  "customer.subscription.deleted",
] as const;

export type EventKind = (typeof EVENT_KINDS)[number];

/** What identifies a verified delivery, before anything of its meaning is read. */
export type EventIdentity = {
  /** 1 to 255 characters, well-formed Unicode, no NUL. */
  eventId: string;
  /** The provider's own name of the event, as delivered. 1 to 255 characters, no NUL. */
  eventType: string;
};

/**
 * What a delivery means, in one shape for all wire formats. `null` always means
 * "this event says nothing about it", so that it can never erase what is known.
 */
export type PaymentEvent = {
  /** `ignored`: not among the four, or a qualifier says that nothing was paid. */
  kind: EventKind | "ignored";
  /** When it happened by the provider's clock, in microseconds since the epoch. */
  occurredAtMicros: number | null;
  /** From the custom data that the checkout was created with. */
  userId: string | null;
  planId: string | null;
  providerSubscriptionId: string | null;
  customerId: string | null;
  /** What is paid for, in the order delivered; `priceIds` are the names under which a plan may know the item. */
  items: readonly PaidItem[];
  status: SubscriptionStatus | null;
  currentPeriodEnd: Date | null;
  cancelAtPeriodEnd: boolean | null;
  /** A checkout of a single payment: no subscription follows it. */
  isOneTime?: true;
};

export type PaidItem = { priceIds: readonly string[]; seats: number | null };
