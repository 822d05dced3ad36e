import { createCheckouts } from "@polar-sh/sdk/2026-10/services/checkouts";
import { createCustomerSessions } from "@polar-sh/sdk/2026-10/services/customer_sessions";
import { getProducts } from "@polar-sh/sdk/2026-10/services/products";
import { getSubscriptions, revokeSubscriptions } from "@polar-sh/sdk/2026-10/services/subscriptions";
import type { CheckoutOrder, OpenedCheckout, PayingCustomer, PaymentApi } from "../../domain/payment-api.ts";
import { polar } from "../polar.ts";
import { dateAt, requiredText, requiredUrl } from "./answer.ts";
import { beginCall } from "./ask.ts";
import { knownState } from "./known-state.ts";
import { ensureOver, hasEnded, orNull, segment } from "./missing.ts";
import { oldestFirst } from "./oldest-first.ts";
import { payerOf } from "./payer.ts";
import type { PaymentConnection } from "./payment-connection.ts";
import { type PolarClient, polarClient, readPolarRefusal } from "./polar-client.ts";
import { deliveredEvents } from "./polar-deliveries.ts";
import { RefusedByProvider } from "./problems.ts";
import { type Provider, providerAt } from "./provider.ts";

export function polarApi(connection: PaymentConnection): Required<PaymentApi> {
  const provider = providerAt(connection, {
    name: "Polar",
    productionUrl: "https://api.polar.sh",
    keyHint: "an organization access token of Polar (Settings, Developers)",
    readRefusal: readPolarRefusal,
  });
  const begin = () => polarClient(provider, beginCall(provider));
  return {
    createCheckout: (order) => createCheckout(provider, begin(), order),
    closeCheckout: async () => {},
    openPortal: (customer) => openPortal(provider, begin(), customer),
    fetchSubscription: (id) => fetchSubscription(provider, begin(), id),
    cancelSubscription: (id) => {
      const client = begin();
      const look = () => fetchSubscription(provider, client, id);
      return ensureOver(async () => revokeSubscriptions(client)(segment(provider, id)), look, hasEnded);
    },
    knowsPrice: (id) => knowsProduct(provider, begin(), id),
    listEvents: (since) => oldestFirst(provider, deliveredEvents(provider, since)),
  };
}

async function createCheckout(
  provider: Provider,
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
  provider: Provider,
  client: PolarClient,
  customer: PayingCustomer,
): Promise<{ url: string }> {
  const look = (id: string) => fetchSubscription(provider, client, id);
  const customerId = await payerOf(provider, customer, look);
  const session = { customer_id: customerId, return_url: customer.returnUrl };
  const answer = await createCustomerSessions(client)(session);
  return { url: requiredUrl(provider, answer, "customer_portal_url") };
}

async function fetchSubscription(provider: Provider, client: PolarClient, id: string) {
  const subscription = await orNull(async () => getSubscriptions(client)(segment(provider, id)));
  return subscription && knownState(provider, polar, { data: subscription });
}

/** What is sold here is a product, at whichever of its prices. */
async function knowsProduct(provider: Provider, client: PolarClient, id: string): Promise<boolean> {
  const product = await orNull(async () => getProducts(client)(segment(provider, id)));
  return product !== null && product.is_archived !== true;
}
