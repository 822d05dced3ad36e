import type { EventKind, PaymentEvent } from "./payment-event.ts";

/** An event that affects a subscription. */
export type SubscriptionEvent = PaymentEvent & { kind: EventKind };

export function isSubscriptionEvent(event: PaymentEvent): event is SubscriptionEvent {
  return event.kind !== "ignored" && event.kind !== "payment";
}

/** Whether it reports that its subscription has ended for good. */
export function reportsEnd({ kind, status }: SubscriptionEvent): boolean {
  return kind === "customer.subscription.deleted" || status === "canceled";
}
