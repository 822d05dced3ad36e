import type { PaymentEvent } from "../../domain/payment-event.ts";
import { type Adapter, UnreadablePayload } from "../adapter.ts";
import type { ConnectedProvider } from "./connected-provider.ts";
import { problem } from "./problems.ts";

/**
 * A subscription as it was answered, read by what reads the format's deliveries. It carries no time: it is no event,
 * and `updated_at` and its like may lie before the time of the event that they come from.
 * @param delivery the answer, put as a delivery would carry it
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
