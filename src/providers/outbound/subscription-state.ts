import type { PaymentEvent } from "../../domain/payment-event.ts";
import { type Adapter, UnreadablePayload } from "../adapter.ts";
import type { ConnectedProvider } from "./connected-provider.ts";
import { problem } from "./problems.ts";

/**
 * A fetched subscription, parsed like the provider's deliveries. It has no time: it is not an event, and
 * `updated_at` may be earlier than the event that caused it.
 * @param delivery the response in the shape of a delivery
 */
export function subscriptionState(
  provider: ConnectedProvider,
  adapter: Adapter,
  delivery: object,
): PaymentEvent {
  try {
    const updated = adapter.interpret("customer.subscription.updated", delivery);
    const state =
      updated.status === "canceled" ? adapter.interpret("customer.subscription.deleted", delivery) : updated;
    return { ...state, occurredAtMicros: null };
  } catch (error) {
    if (!(error instanceof UnreadablePayload)) throw error;
    throw problem(provider, "unreachable", `the subscription is not as expected: ${error.message}`);
  }
}
