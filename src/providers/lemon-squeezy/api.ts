import type {
  CheckoutEnd,
  CheckoutOrder,
  ClosingCheckout,
  OpenedCheckout,
  PayingCustomer,
  PaymentApi,
} from "../../domain/payment-api.ts";
import type { PaymentEvent } from "../../domain/payment-event.ts";
import { type ConnectedProvider, connectProvider } from "../outbound/connected-provider.ts";
import { ensureEnded, hasEnded, nullIfNotFound, pathSegment } from "../outbound/null-if-not-found.ts";
import { foreignCustomer, hasConfirmed } from "../outbound/own-customer.ts";
import { problem } from "../outbound/problems.ts";
import { dateAt, listAt, requiredText, requiredUrl, textAt, valueAt } from "../outbound/response-fields.ts";
import { beginCall, type SendRequest } from "../outbound/send-request.ts";
import { subscriptionState } from "../outbound/subscription-state.ts";
import type { PaymentConnection } from "../payment-connection.ts";
import { changeSubscription } from "./change-subscription.ts";
import { fetchPayment, listPayments } from "./list-payments.ts";
import { findSubscriptions, listSubscriptions, subscriptionPage } from "./list-subscriptions.ts";
import { readLemonSqueezyError, request } from "./requests.ts";
import { LEMON_SQUEEZY_TRAITS } from "./traits.ts";
import { lemonSqueezy } from "./webhook.ts";

/** Long enough to find a card, short enough to wait for before choosing another plan. */
const CHECKOUT_LIFETIME_MS = 30 * 60 * 1000;

export function lemonSqueezyApi(connection: PaymentConnection): PaymentApi {
  const provider = connectProvider(connection, LEMON_SQUEEZY_TRAITS, readLemonSqueezyError);
  let storeId: string | null = null;
  const storeOf = async (send: SendRequest) => {
    storeId ??= await theOnlyStore(provider, send);
    return storeId;
  };
  const begin = () => beginCall(provider);
  return {
    traits: provider.traits,
    createCheckout: async (order) => {
      const send = begin();
      return createCheckout(provider, send, order, await storeOf(send));
    },
    closeCheckout: (checkout) => closeCheckout(provider, begin(), checkout),
    updateCheckout: async () => {
      throw problem(provider, "rejected", "a checkout cannot be changed");
    },
    openPortal: (customer) => openPortal(provider, begin(), customer),
    fetchSubscription: (id) => fetchSubscription(provider, begin(), id),
    cancelSubscription: (id) => {
      const send = begin();
      const fetch = () => fetchSubscription(provider, send, id);
      return ensureEnded(() => cancel(provider, send, id), fetch, endsAnyway);
    },
    changeSubscription: (id, change) => changeSubscription(provider, begin(), id, change),
    previewChange: async () => null,
    refundSubscription: (id) => refundSubscription(provider, begin(), id),
    knowsPrice: (id) => knowsVariant(provider, begin(), id),
    listEvents: null,
    isEndpointDisabled: null,
    listSubscriptions: (since) => listSubscriptions(provider, since),
    listSubscriptionPage: (position) => subscriptionPage(provider, position),
    listCustomerPage: null,
    findSubscriptions: (customer) => findSubscriptions(provider, customer),
    listPayments: (selection) => listPayments(provider, selection),
    fetchPayment: (id) => fetchPayment(provider, id),
  };
}

async function theOnlyStore(provider: ConnectedProvider, send: SendRequest): Promise<string> {
  const stores = listAt(await send(request(provider, "GET", "/v1/stores")), "data");
  if (stores.length === 1) return requiredText(provider, stores[0], "id");
  const detail = `the key reaches ${stores.length} stores, and a slot sells from one`;
  throw problem(provider, "rejected", detail, {
    remedy: "Use a key of an account that has exactly one store: there, the plans' variants belong to it.",
  });
}

async function createCheckout(
  provider: ConnectedProvider,
  send: SendRequest,
  order: CheckoutOrder,
  storeId: string,
): Promise<OpenedCheckout> {
  const variant = /^\d{1,15}$/.test(order.priceId) ? Number(order.priceId) : order.priceId;
  const data = {
    type: "checkouts",
    attributes: {
      // Without it a checkout stays payable for ever, also after another one has replaced it.
      expires_at: new Date(Date.now() + CHECKOUT_LIFETIME_MS).toISOString(),
      // Otherwise the checkout offers the product's other variants, and with them other plans.
      product_options: { redirect_url: order.successUrl, enabled_variants: [variant] },
      // A trial belongs to the variant: a checkout can only skip it.
      checkout_options: { discount: true, ...(order.trialDays === 0 ? { skip_trial: true } : {}) },
      checkout_data: {
        email: order.email,
        custom: { userId: order.userId, planId: order.planId },
        variant_quantities: [{ variant_id: variant, quantity: order.seats }],
      },
    },
    relationships: {
      store: { data: { type: "stores", id: storeId } },
      variant: { data: { type: "variants", id: order.priceId } },
    },
  };
  const response = await send(request(provider, "POST", "/v1/checkouts", { data }));
  return {
    id: requiredText(provider, response, "data", "id"),
    url: requiredUrl(provider, response, "data", "attributes", "url"),
    expiresAt: dateAt(response, "data", "attributes", "expires_at"),
  };
}

/**
 * The portal's links are in the subscription and in the customer, signed for a day. A checkout makes its payer the
 * customer of whatever address is typed in.
 */
async function openPortal(
  provider: ConnectedProvider,
  send: SendRequest,
  customer: PayingCustomer,
): Promise<{ url: string }> {
  const { providerSubscriptionId, customerId } = customer;
  if (providerSubscriptionId === null && customerId === null)
    throw problem(provider, "missing", "the person is not known as a customer");
  const path =
    customerId === null
      ? `/v1/subscriptions/${pathSegment(provider, providerSubscriptionId ?? "")}`
      : `/v1/customers/${pathSegment(provider, customerId)}`;
  const response = await send(request(provider, "GET", path));
  const address =
    textAt(response, "data", "attributes", "user_email") ?? textAt(response, "data", "attributes", "email");
  if (!hasConfirmed(customer, address) && !(await hasBoughtAll(provider, send, customer, address)))
    throw foreignCustomer(provider);
  return { url: requiredUrl(provider, response, "data", "attributes", "urls", "customer_portal") };
}

const PURCHASES_LIMIT = 100;

/** Whether everything that was bought with the address belongs to the person's own subscriptions. */
async function hasBoughtAll(
  provider: ConnectedProvider,
  send: SendRequest,
  { ownSubscriptionIds }: PayingCustomer,
  address: string | null,
): Promise<boolean> {
  if (address === null) return false;
  const query = new URLSearchParams({
    ...{ "filter[user_email]": address, "page[size]": String(PURCHASES_LIMIT) },
  });
  const listed = async (path: string) =>
    listAt(await send(request(provider, "GET", `${path}?${query}`)), "data");
  const [subscriptions, orders] = await Promise.all([listed("/v1/subscriptions"), listed("/v1/orders")]);
  if (Math.max(subscriptions.length, orders.length) >= PURCHASES_LIMIT) return false;
  const ownIds = new Set(ownSubscriptionIds);
  const ownOrders = new Set(
    subscriptions.map((subscription) => textAt(subscription, "attributes", "order_id")),
  );
  return (
    subscriptions.every((subscription) => ownIds.has(textAt(subscription, "id") ?? "")) &&
    orders.every((order) => ownOrders.has(textAt(order, "id")))
  );
}

/** Without the custom data: only deliveries contain it. */
async function fetchSubscription(
  provider: ConnectedProvider,
  send: SendRequest,
  id: string,
): Promise<PaymentEvent | null> {
  const response = await nullIfNotFound(async () =>
    send(request(provider, "GET", `/v1/subscriptions/${pathSegment(provider, id)}`)),
  );
  return response && subscriptionState(provider, lemonSqueezy, { data: valueAt(response, "data") });
}

async function knowsVariant(provider: ConnectedProvider, send: SendRequest, id: string): Promise<boolean> {
  const variant = await nullIfNotFound(async () =>
    send(request(provider, "GET", `/v1/variants/${pathSegment(provider, id)}`)),
  );
  return variant !== null;
}

/** Cancels at the end of the paid period: the API has no other way. */
async function cancel(provider: ConnectedProvider, send: SendRequest, id: string): Promise<void> {
  await send(request(provider, "DELETE", `/v1/subscriptions/${pathSegment(provider, id)}`));
}

function endsAnyway(state: PaymentEvent): boolean {
  return hasEnded(state) || state.cancelAtPeriodEnd === true;
}

/**
 * A checkout cannot be closed and does not show whether it was paid; the subscriptions of its address do. A payment
 * with another address is found when its event arrives.
 */
async function closeCheckout(
  provider: ConnectedProvider,
  send: SendRequest,
  { id, email }: ClosingCheckout,
): Promise<CheckoutEnd> {
  const path = `/v1/checkouts/${pathSegment(provider, id)}`;
  const checkout = await nullIfNotFound(async () => send(request(provider, "GET", path)));
  if (checkout === null) return { status: "closed" };
  const createdAt = dateAt(checkout, "data", "attributes", "created_at")?.getTime() ?? Date.now();
  const query = new URLSearchParams({ "filter[user_email]": email });
  const subscriptions = listAt(await send(request(provider, "GET", `/v1/subscriptions?${query}`)), "data");
  const paid = subscriptions.find(
    (subscription) =>
      (dateAt(subscription, "attributes", "created_at")?.getTime() ?? 0) >= createdAt &&
      !hasExpired(subscription),
  );
  if (paid !== undefined) return { status: "paid", providerSubscriptionId: textAt(paid, "id") };
  const expiresAt = dateAt(checkout, "data", "attributes", "expires_at");
  return { status: expiresAt !== null && expiresAt.getTime() <= Date.now() ? "closed" : "open" };
}

function hasExpired(subscription: unknown): boolean {
  return textAt(subscription, "attributes", "status") === "expired";
}

async function refundSubscription(
  provider: ConnectedProvider,
  send: SendRequest,
  id: string,
): Promise<boolean> {
  const query = new URLSearchParams({ "filter[subscription_id]": pathSegment(provider, id) });
  const invoices = listAt(await send(request(provider, "GET", `/v1/subscription-invoices?${query}`)), "data");
  const lastPaid = invoices.find((invoice) => textAt(invoice, "attributes", "status") === "paid");
  if (lastPaid === undefined) return false;
  const invoiceId = requiredText(provider, lastPaid, "id");
  const path = `/v1/subscription-invoices/${pathSegment(provider, invoiceId)}/refund`;
  await send(request(provider, "POST", path, { data: { type: "subscription-invoices", id: invoiceId } }));
  return true;
}
