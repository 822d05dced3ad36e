import type { PaymentEvent } from "../events/payment-event.ts";

/**
 * Parses a subscription as a provider returns it, like the provider's deliveries. The state has no
 * event's time: it is not one, and `updated_at` may be earlier than the event that caused it.
 * @param delivery the subscription in the shape of a delivery
 * @throws UnreadablePayload
 */
export function interpretState(
  adapter: { interpret(eventType: string, body: unknown): PaymentEvent },
  delivery: object,
): PaymentEvent {
  const updated = adapter.interpret("customer.subscription.updated", delivery);
  const state =
    updated.status === "canceled" ? adapter.interpret("customer.subscription.deleted", delivery) : updated;
  const { occurredAtMicros: changedAtMicros } = state;
  return { ...state, occurredAtMicros: null, ...(changedAtMicros === null ? {} : { changedAtMicros }) };
}
