import type { EventKind, PaymentEvent } from "./payment-event.ts";

/** An event with an effect on a subscription: everything but the ignored. */
export type SubscriptionEvent = PaymentEvent & { kind: EventKind };

export function isSubscriptionEvent(event: PaymentEvent): event is SubscriptionEvent {
  return event.kind !== "ignored";
}
