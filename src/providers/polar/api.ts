import { createCheckouts, getCheckouts } from "@polar-sh/sdk/2026-10/services/checkouts";
import { createCustomerSessions } from "@polar-sh/sdk/2026-10/services/customer_sessions";
import { listOrders } from "@polar-sh/sdk/2026-10/services/orders";
import { getProducts } from "@polar-sh/sdk/2026-10/services/products";
import { createRefunds } from "@polar-sh/sdk/2026-10/services/refunds";
import {
  getSubscriptions,
  listSubscriptions as listAll,
  revokeSubscriptions,
} from "@polar-sh/sdk/2026-10/services/subscriptions";
import type {
  CheckoutEnd,
  CheckoutOrder,
  ClosingCheckout,
  OpenedCheckout,
  PayingCustomer,
  PaymentApi,
} from "../../domain/payment-api.ts";
import { type ConnectedProvider, connectProvider } from "../outbound/connected-provider.ts";
import { eachState } from "../outbound/list-states.ts";
import { ensureEnded, hasEnded, nullIfNotFound, pathSegment } from "../outbound/null-if-not-found.ts";
import { oldestFirst } from "../outbound/oldest-first.ts";
import { foreignCustomer, hasConfirmed } from "../outbound/own-customer.ts";
import { problem, RefusedByProvider } from "../outbound/problems.ts";
import { dateAt, listAt, requiredText, requiredUrl, textAt } from "../outbound/response-fields.ts";
import { beginCall } from "../outbound/send-request.ts";
import { subscriptionState } from "../outbound/subscription-state.ts";
import type { PaymentConnection } from "../payment-connection.ts";
import { changeSubscription } from "./change-subscription.ts";
import { type PolarClient, polarClient, readPolarError } from "./client.ts";
import { deliveryPages, isEndpointDisabled } from "./deliveries.ts";
import { fetchPayment, listPayments } from "./list-payments.ts";
import { findSubscriptions, subscriptionPage } from "./list-subscriptions.ts";
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
    previewChange: async () => null,
    refundSubscription: (id) => refundSubscription(provider, begin(), id),
    knowsPrice: (id) => knowsProduct(provider, begin(), id),
    listEvents: (since) => oldestFirst(provider, deliveryPages(provider, since)),
    isEndpointDisabled: () => isEndpointDisabled(provider),
    listSubscriptions: () => eachState((position) => subscriptionPage(provider, position)),
    listSubscriptionPage: (position) => subscriptionPage(provider, position),
    listCustomerPage: null,
    findSubscriptions: (customer) => findSubscriptions(provider, customer),
    listPayments: (selection) => listPayments(provider, selection),
    fetchPayment: (id) => fetchPayment(provider, id),
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
    // Never by a stored customer id: a payer with this address may be another person's customer.
    external_customer_id: order.userId,
    customer_email: order.email,
    allow_discount_codes: true,
    ...trialOf(order),
  };
  const response = await createCheckouts(client)({ ...checkout, seats: order.seats }).catch(
    async (error: unknown) => {
      // A product without seat-based pricing rejects `seats`, and one seat is the default.
      const seatsRefused = error instanceof RefusedByProvider && error.code === "body.seats";
      if (!seatsRefused || order.seats !== 1 || (await hasSeats(provider, client, order.priceId)))
        throw error;
      return createCheckouts(client)(checkout);
    },
  );
  return {
    id: requiredText(provider, response, "id"),
    url: requiredUrl(provider, response, "url"),
    expiresAt: dateAt(response, "expires_at"),
  };
}

/** Without either, the product's own trial applies. */
function trialOf({ trialDays }: CheckoutOrder) {
  if (trialDays === null) return {};
  if (trialDays === 0) return { allow_trial: false };
  return { trial_interval: "day" as const, trial_interval_count: trialDays };
}

/** Read from the product: every refusal of `seats` has the same type, `value_error`. */
async function hasSeats(
  provider: ConnectedProvider,
  client: PolarClient,
  productId: string,
): Promise<boolean> {
  const { prices } = await getProducts(client)(pathSegment(provider, productId));
  return prices.some((price) => textAt(price, "amount_type") === "seat_based");
}

const PAID = new Set(["confirmed", "succeeded"]);

/** Polar has no way to close a checkout: it stays payable until it expires. */
async function closeCheckout(
  provider: ConnectedProvider,
  client: PolarClient,
  { id, userId }: ClosingCheckout,
): Promise<CheckoutEnd> {
  const checkout = await nullIfNotFound(async () => getCheckouts(client)(pathSegment(provider, id)));
  if (checkout === null) return { status: "closed" };
  if (checkout.status === "open") return { status: "open" };
  if (!PAID.has(checkout.status)) return { status: "closed" };
  // The checkout's own `subscription_id` is one that was upgraded, not the resulting one.
  const { items } = await listAll(client)({ external_customer_id: userId, active: true, limit: 1 });
  return { status: "paid", providerSubscriptionId: textAt(items[0], "id") };
}

/**
 * By the person's own id: a stored customer id may belong to somebody else whose address was typed in. Customers of
 * seat-based products have members, one of whom is required; the buyer has the customer's external id.
 */
async function openPortal(
  provider: ConnectedProvider,
  client: PolarClient,
  customer: PayingCustomer,
): Promise<{ url: string }> {
  if (customer.customerId === null && customer.providerSubscriptionId === null)
    throw problem(provider, "missing", "the person is not known as a customer");
  if (!(await isOwnCustomer(client, customer))) throw foreignCustomer(provider);
  const session = { external_customer_id: customer.userId, return_url: customer.returnUrl };
  const response = await createCustomerSessions(client)({
    ...session,
    external_member_id: customer.userId,
  }).catch((error: unknown) => {
    const hasNoMembers = error instanceof RefusedByProvider && error.code?.endsWith("external_member_id");
    if (!hasNoMembers) throw error;
    return createCustomerSessions(client)(session);
  });
  return { url: requiredUrl(provider, response, "customer_portal_url") };
}

const PURCHASES_LIMIT = 100;

/**
 * Polar gives our id to a customer that had none, even if only the payer says that the address is theirs: such a
 * customer has bought more than the person. What our checkouts sold names the person; that alone counts, as events of
 * the customer's other purchases are assigned by the same id.
 */
async function isOwnCustomer(client: PolarClient, customer: PayingCustomer): Promise<boolean> {
  const query = { external_customer_id: customer.userId, limit: PURCHASES_LIMIT };
  const [subscriptions, orders] = await Promise.all([listAll(client)(query), listOrders(client)(query)]);
  const isOwn = (purchase: unknown) => textAt(purchase, "metadata", "userId") === customer.userId;
  const lists = [listAt(subscriptions, "items"), listAt(orders, "items")] as const;
  const hasBoughtAll = lists.every((items) => items.length < PURCHASES_LIMIT && items.every(isOwn));
  return (
    hasBoughtAll ||
    lists.flat().some((purchase) => hasConfirmed(customer, textAt(purchase, "customer", "email")))
  );
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
