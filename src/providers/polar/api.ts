import { createCheckouts } from "@polar-sh/sdk/2026-10/services/checkouts";
import { createCustomerSessions } from "@polar-sh/sdk/2026-10/services/customer_sessions";
import { getProducts } from "@polar-sh/sdk/2026-10/services/products";
import { getSubscriptions, revokeSubscriptions } from "@polar-sh/sdk/2026-10/services/subscriptions";
import type { CheckoutOrder, OpenedCheckout, PayingCustomer, PaymentApi } from "../../domain/payment-api.ts";
import { type ConnectedProvider, connectProvider } from "../outbound/connected-provider.ts";
import { ensureEnded, hasEnded, nullIfNotFound, pathSegment } from "../outbound/null-if-not-found.ts";
import { oldestFirst } from "../outbound/oldest-first.ts";
import { RefusedByProvider } from "../outbound/problems.ts";
import { resolveCustomerId } from "../outbound/resolve-customer-id.ts";
import { dateAt, requiredText, requiredUrl } from "../outbound/response-fields.ts";
import { beginCall } from "../outbound/send-request.ts";
import { subscriptionState } from "../outbound/subscription-state.ts";
import type { PaymentConnection } from "../payment-connection.ts";
import { type PolarClient, polarClient, readPolarError } from "./client.ts";
import { deliveryPages } from "./deliveries.ts";
import { listSubscriptions } from "./list-subscriptions.ts";
import { POLAR_TRAITS } from "./traits.ts";
import { polar } from "./webhook.ts";

export function polarApi(connection: PaymentConnection): PaymentApi {
  const provider = connectProvider(connection, POLAR_TRAITS, readPolarError);
  const begin = () => polarClient(provider, beginCall(provider));
  return {
    traits: provider.traits,
    createCheckout: (order) => createCheckout(provider, begin(), order),
    closeCheckout: async () => {},
    openPortal: (customer) => openPortal(provider, begin(), customer),
    fetchSubscription: (id) => fetchSubscription(provider, begin(), id),
    cancelSubscription: (id) => {
      const client = begin();
      const look = () => fetchSubscription(provider, client, id);
      return ensureEnded(async () => revokeSubscriptions(client)(pathSegment(provider, id)), look, hasEnded);
    },
    knowsPrice: (id) => knowsProduct(provider, begin(), id),
    listEvents: (since) => oldestFirst(provider, deliveryPages(provider, since)),
    listSubscriptions: () => listSubscriptions(provider),
  };
}

async function createCheckout(
  provider: ConnectedProvider,
  client: PolarClient,
  order: CheckoutOrder,
): Promise<OpenedCheckout> {
  const checkout = {
    products: [order.priceId],
    // Both are copied to the order and to the subscription.
    metadata: { userId: order.userId, planId: order.planId },
    success_url: order.successUrl,
    return_url: order.cancelUrl,
    ...(order.customerId === null
      ? { external_customer_id: order.userId, customer_email: order.email }
      : { customer_id: order.customerId }),
  };
  const answer = await createCheckouts(client)({ ...checkout, seats: order.seats }).catch(
    (error: unknown) => {
      // A product that is not sold by the seat refuses them, and needs none for one.
      const seatsRefused =
        error instanceof RefusedByProvider && error.code === "body.seats" && /seat-based/.test(error.message);
      if (seatsRefused && order.seats === 1) return createCheckouts(client)(checkout);
      throw error;
    },
  );
  return {
    id: requiredText(provider, answer, "id"),
    url: requiredUrl(provider, answer, "url"),
    expiresAt: dateAt(answer, "expires_at"),
  };
}

async function openPortal(
  provider: ConnectedProvider,
  client: PolarClient,
  customer: PayingCustomer,
): Promise<{ url: string }> {
  const look = (id: string) => fetchSubscription(provider, client, id);
  const customerId = await resolveCustomerId(provider, customer, look);
  const session = { customer_id: customerId, return_url: customer.returnUrl };
  const answer = await createCustomerSessions(client)(session);
  return { url: requiredUrl(provider, answer, "customer_portal_url") };
}

async function fetchSubscription(provider: ConnectedProvider, client: PolarClient, id: string) {
  const subscription = await nullIfNotFound(async () => getSubscriptions(client)(pathSegment(provider, id)));
  return subscription && subscriptionState(provider, polar, { data: subscription });
}

/** What is sold here is a product, at whichever of its prices. */
async function knowsProduct(provider: ConnectedProvider, client: PolarClient, id: string): Promise<boolean> {
  const product = await nullIfNotFound(async () => getProducts(client)(pathSegment(provider, id)));
  return product !== null && product.is_archived !== true;
}
