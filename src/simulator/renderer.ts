import type { Coupon } from "./lifecycle/coupon.ts";
import type { Offer } from "./lifecycle/offer.ts";
import type { Reversal } from "./lifecycle/reversal.ts";
import type { EmittedEvent, SubscriptionState } from "./lifecycle/subscription.ts";

/** Whose subscription it is, and the provider's ids of it. */
export type SubscriptionIds = { userId: string; subscriptionId: string; customerId: string };

/** What an event is rendered from. */
export type EventContext = {
  lifecycle: { bought: Offer; startedAtSeconds: number };
  step: { event: EmittedEvent; atSeconds: number; state: SubscriptionState };
  /** The position of the event among those of its subscription, from 0. */
  at: number;
  ids: SubscriptionIds;
  /** The position of the first event of the payment that is being made: a failed charge is tried again. */
  chargeAt?: number;
  /** Distinguishes all ids from those of other runs. */
  run: string;
  /** What changes with the next period; `null`: nothing. */
  scheduled?: { offer: Offer | null; seats: number | null } | null;
  /** The coupon of its discount, as the seller defines it now; `null` or absent: none. */
  coupon?: Coupon | null;
  /** What the subscription was like at its previous event; absent for the first. */
  previous?: EventContext;
  /** What the hosted checkout was opened with and filled in with; a scenario has none. */
  checkout?: PaidCheckout;
};

export type PaidCheckout = {
  id: string;
  /** Custom data as given, and as the provider keeps it on the subscription. */
  data: CustomData;
  subscriptionData: CustomData;
  email: string;
  /** The seller's own id of the customer, where the provider keeps one. */
  externalId: string | null;
  successUrl: string | null;
  cancelUrl: string | null;
  allowPromotionCodes?: boolean | null;
  /** Made anew for each event, where the provider sends it with the subscription. */
  portalUrl: string | null;
};

export type CustomData = Readonly<Record<string, unknown>>;

export type WireEvent = {
  /** For the header, in formats that carry the id there; else it is in the body. */
  eventId: string;
  eventType: string;
  body: object;
};

type PaymentRenderer = {
  /** The events that report a payment, or that it failed. */
  reportedBy: readonly EmittedEvent[];
  /** Whether it also makes an invoice of what is merely credited. */
  reportsCredits: boolean;
  /** The provider's id of the payment that such an event reports. */
  idOf(context: EventContext): string;
  /** Sent after the event that reports the payment: events that link it to its charge. */
  linkEvents(context: EventContext): readonly WireEvent[];
  /** The events that report a refund or dispute, in order; none where the provider sends none. */
  reversalEvents(context: ReversalContext): readonly WireEvent[];
};

/** What the events of a refund or dispute are rendered from. */
export type ReversalContext = {
  paymentId: string;
  /** What the event that reported the payment was rendered from. */
  payment: EventContext;
  /** The changed one, and all of the payment's. */
  reversal: Reversal;
  reversals: readonly Reversal[];
};

/** Puts what happened to a subscription into a provider's format. */
export type Renderer = {
  /** @param number which of the run's subscriptions, from 0 */
  newIds(run: string, number: number): Omit<SubscriptionIds, "userId">;
  render(context: EventContext): WireEvent;
  /** `null`: its events report no payments. */
  payments: PaymentRenderer | null;
  /** The subscription alone, as the provider's API returns it. */
  subscription(context: EventContext): object;
  /** The events after which it sends a general update as well. */
  restates: readonly EmittedEvent[];
  /** Whether an event of the end says that the end had been scheduled. */
  endKeepsSchedule: boolean;
};

/** The checkout's custom data. It names the plan that was bought, whatever is changed later. */
export function checkoutData({ lifecycle, ids, checkout }: EventContext): CustomData {
  return checkout ? checkout.data : { userId: ids.userId, planId: lifecycle.bought.planId };
}

/** The subscription's custom data, which Stripe keeps apart from the checkout's. */
export function subscriptionData({ lifecycle, ids, checkout }: EventContext): CustomData {
  return checkout ? checkout.subscriptionData : { userId: ids.userId, planId: lifecycle.bought.planId };
}

export function emailOf({ ids, checkout }: EventContext): string {
  return checkout?.email ?? `${ids.userId}@example.com`;
}
