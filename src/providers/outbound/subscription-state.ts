import { UnreadablePayload } from "../../domain/deliveries/payload-problems.ts";
import type { PaymentEvent } from "../../domain/events/payment-event.ts";
import { interpretState } from "../../domain/providers/interpret-state.ts";
import type { Adapter } from "../adapter.ts";
import type { ConnectedProvider } from "./connected-provider.ts";
import { problem } from "./problems.ts";

/**
 * The state of a fetched subscription.
 * @param delivery the response in the shape of a delivery
 * @throws PaymentApiProblem
 */
export function subscriptionState(
  provider: ConnectedProvider,
  adapter: Adapter,
  delivery: object,
): PaymentEvent {
  try {
    return interpretState(adapter, delivery);
  } catch (error) {
    if (!(error instanceof UnreadablePayload)) throw error;
    throw problem(provider, "unreadable", `the subscription is not as expected: ${error.message}`);
  }
}
