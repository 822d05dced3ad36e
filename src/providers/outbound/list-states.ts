import { isPaymentApiProblem } from "../../domain/payment-api.ts";
import type { PaymentEvent } from "../../domain/payment-event.ts";
import type { Adapter } from "../adapter.ts";
import type { ConnectedProvider } from "./connected-provider.ts";
import { subscriptionState } from "./subscription-state.ts";

/** The subscriptions of one page. An unreadable one is skipped, so that it does not hide the others. */
export function* readableStates(
  provider: ConnectedProvider,
  adapter: Adapter,
  deliveries: readonly object[],
): Generator<PaymentEvent> {
  for (const delivery of deliveries) {
    try {
      yield subscriptionState(provider, adapter, delivery);
    } catch (error) {
      if (!isPaymentApiProblem(error)) throw error;
    }
  }
}
