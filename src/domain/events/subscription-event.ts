import type { EventKind, PaymentEvent } from "./payment-event.ts";

/** An event that affects a subscription. */
export type SubscriptionEvent = PaymentEvent & { kind: EventKind };

export function isSubscriptionEvent(event: PaymentEvent): event is SubscriptionEvent {
  return event.kind !== "ignored" && event.kind !== "payment";
}
