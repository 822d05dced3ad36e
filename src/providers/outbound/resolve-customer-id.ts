import type { PaymentEvent } from "../../domain/events/payment-event.ts";
import type { PayingCustomer } from "../../domain/providers/payment-api.ts";
import type { ConnectedProvider } from "./connected-provider.ts";
import { problem } from "./problems.ts";

/**
 * The provider's customer id, fetched from the subscription where only that is known. @throws
 * PaymentApiProblem
 */
export async function resolveCustomerId(
  provider: ConnectedProvider,
  { customerId, providerSubscriptionId }: PayingCustomer,
  fetch: (subscriptionId: string) => Promise<PaymentEvent | null>,
): Promise<string> {
  const resolved =
    customerId ?? (providerSubscriptionId && (await fetch(providerSubscriptionId))?.customerId);
  if (resolved) return resolved;
  throw problem(provider, "missing", "the person is not known as a customer");
}
