import type { PaymentEvent } from "../../domain/events/payment-event.ts";
import type { ListedSubscription, SubscriptionPage } from "../../domain/providers/payment-api.ts";
import { isPaymentApiProblem } from "../../domain/providers/payment-api-problem.ts";
import type { Adapter } from "../adapter.ts";
import type { ConnectedProvider } from "./connected-provider.ts";
import { textAt } from "./response-fields.ts";
import { subscriptionState } from "./subscription-state.ts";

/** The subscriptions of one page. An unreadable one is skipped, so that it does not hide the others. */
export function* readableStates(
  provider: ConnectedProvider,
  adapter: Adapter,
  deliveries: readonly object[],
): Generator<PaymentEvent> {
  for (const delivery of deliveries) {
    const { state } = listedSubscription(provider, adapter, { delivery, object: null, email: null });
    if (state !== null) yield state;
  }
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

/** All readable subscriptions of all pages. */
export async function* eachState(
  page: (position: string | null) => Promise<SubscriptionPage>,
): AsyncGenerator<PaymentEvent> {
  for (let position: string | null = null; ; ) {
    const { subscriptions, next }: SubscriptionPage = await page(position);
    for (const { state } of subscriptions) if (state !== null) yield state;
    if (next === null) return;
    position = next;
  }
}
