import type { PaymentEvent } from "../../domain/events/payment-event.ts";
import type { ListedSubscription } from "../../domain/providers/payment-api.ts";
import { isPaymentApiProblem } from "../../domain/providers/payment-api-problem.ts";
import type { Adapter } from "../adapter.ts";
import type { ConnectedProvider } from "./connected-provider.ts";
import { textAt } from "./response-fields.ts";
import { subscriptionState } from "./subscription-state.ts";

/** An unreadable one is skipped, so that it does not hide the others. */
export function readableStates(
  provider: ConnectedProvider,
  adapter: Adapter,
  deliveries: readonly object[],
): PaymentEvent[] {
  return deliveries.flatMap(
    (delivery) => listedSubscription(provider, adapter, { delivery, object: null, email: null }).state ?? [],
  );
}

/** @param listed `object`: as the provider lists it; `delivery`: the same in the shape of a delivery */
export function listedSubscription(
  provider: ConnectedProvider,
  adapter: Adapter,
  { object, delivery, email }: { object: unknown; delivery: object; email: string | null },
): ListedSubscription {
  const providerSubscriptionId = textAt(object, "id");
  try {
    const state = subscriptionState(provider, adapter, delivery);
    return { providerSubscriptionId, state, problem: null, email };
  } catch (error) {
    if (!isPaymentApiProblem(error)) throw error;
    return { providerSubscriptionId, state: null, problem: error.message, email };
  }
}
