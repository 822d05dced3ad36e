import { listOrders } from "@polar-sh/sdk/2026-10/services/orders";
import { getProducts } from "@polar-sh/sdk/2026-10/services/products";
import { createRefunds } from "@polar-sh/sdk/2026-10/services/refunds";
import { getSubscriptions, revokeSubscriptions } from "@polar-sh/sdk/2026-10/services/subscriptions";
import type { PaymentApi } from "../../domain/providers/payment-api.ts";
import { type ConnectedProvider, connectProvider } from "../outbound/connected-provider.ts";
import { ensureEnded, hasEnded } from "../outbound/ensure-ended.ts";
import { nullIfNotFound } from "../outbound/null-if-not-found.ts";
import { oldestFirst } from "../outbound/oldest-first.ts";
import { pathSegment } from "../outbound/path-segment.ts";
import { problem } from "../outbound/problems.ts";
import { beginCall } from "../outbound/send-request.ts";
import { subscriptionState } from "../outbound/subscription-state.ts";
import type { PaymentConnection } from "../payment-connection.ts";
import { changeSubscription, fetchScheduledChange, previewChange } from "./change-subscription.ts";
import { closeCheckout, createCheckout } from "./checkout.ts";
import { type PolarClient, polarClient, readPolarError } from "./client.ts";
import { deliveryPages, isEndpointDisabled } from "./deliveries.ts";
import { fetchPayment, listPayments } from "./list-payments.ts";
import { findSubscriptions, subscriptionPage } from "./list-subscriptions.ts";
import { openPortal } from "./portal.ts";
import { POLAR_TRAITS } from "./traits.ts";
import { polar } from "./webhook.ts";

export function polarApi(connection: PaymentConnection): PaymentApi {
  const provider = connectProvider(connection, POLAR_TRAITS, readPolarError);
  const begin = () => polarClient(provider, beginCall(provider));
  return {
    traits: provider.traits,
    createCheckout: (order) => createCheckout(provider, begin(), order),
    closeCheckout: (checkout) => closeCheckout(provider, begin(), checkout),
    updateCheckout: async () => {
      throw problem(provider, "rejected", "a checkout sells only the products that it was opened with");
    },
    openPortal: (customer) => openPortal(provider, begin(), customer),
    fetchSubscription: (id) => fetchSubscription(provider, begin(), id),
    cancelSubscription: (id) => {
      const client = begin();
      const fetchCurrent = () => fetchSubscription(provider, client, id);
      const revoke = async () => revokeSubscriptions(client)(pathSegment(provider, id));
      return ensureEnded(revoke, fetchCurrent, hasEnded);
    },
    changeSubscription: (id, change) => changeSubscription(provider, begin(), id, change),
    fetchScheduledChange: (id) => fetchScheduledChange(begin(), pathSegment(provider, id)),
    previewChange: (id, change) => previewChange(provider, begin(), id, change),
    refundSubscription: (id) => refundSubscription(provider, begin(), id),
    knowsPrice: (id) => knowsProduct(provider, begin(), id),
    listEvents: (since) => oldestFirst(() => deliveryPages(provider, since)),
    isInTestMode: null,
    isEndpointDisabled: () => isEndpointDisabled(provider),
    listSubscriptionPage: (position) => subscriptionPage(provider, position),
    listCustomerPage: null,
    findSubscriptions: (customer) => findSubscriptions(provider, customer),
    listPayments: (selection) => listPayments(provider, selection),
    fetchPayment: (id) => fetchPayment(provider, id),
  };
}

async function refundSubscription(
  provider: ConnectedProvider,
  client: PolarClient,
  id: string,
): Promise<boolean> {
  const { items } = await listOrders(client)({
    subscription_id: pathSegment(provider, id),
    sorting: ["-created_at"],
    limit: 1,
  });
  const [order] = items;
  const amount = order?.refundable_amount ?? 0;
  if (order?.status === "refunded") return true;
  if (order === undefined || amount <= 0) return false;
  await createRefunds(client)({ order_id: order.id, reason: "customer_request", amount });
  return true;
}

async function fetchSubscription(provider: ConnectedProvider, client: PolarClient, id: string) {
  const subscription = await nullIfNotFound(async () => getSubscriptions(client)(pathSegment(provider, id)));
  return subscription && subscriptionState(provider, polar, { data: subscription });
}

/** We sell a product, at any of its prices. */
async function knowsProduct(provider: ConnectedProvider, client: PolarClient, id: string): Promise<boolean> {
  const product = await nullIfNotFound(async () => getProducts(client)(pathSegment(provider, id)));
  return product !== null && product.is_archived !== true;
}
