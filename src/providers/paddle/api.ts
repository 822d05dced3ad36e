import type { PayingCustomer, PaymentApi } from "../../domain/providers/payment-api.ts";
import { type ConnectedProvider, connectProvider } from "../outbound/connected-provider.ts";
import { ensureEnded, hasEnded } from "../outbound/ensure-ended.ts";
import { nullIfNotFound } from "../outbound/null-if-not-found.ts";
import { oldestFirst } from "../outbound/oldest-first.ts";
import { foreignCustomer } from "../outbound/own-customer.ts";
import { pathSegment } from "../outbound/path-segment.ts";
import { resolveCustomerId } from "../outbound/resolve-customer-id.ts";
import { listAt, requiredText, requiredUrl, textAt, valueAt } from "../outbound/response-fields.ts";
import { beginCall, type SendRequest } from "../outbound/send-request.ts";
import { subscriptionState } from "../outbound/subscription-state.ts";
import type { PaymentConnection } from "../payment-connection.ts";
import { cancelSubscription } from "./cancel-subscription.ts";
import { changeSubscription, previewChange } from "./change-subscription.ts";
import { closeCheckout, createCheckout, updateCheckout } from "./checkout.ts";
import { isOwnCustomer } from "./customer.ts";
import { eventPages } from "./list-events.ts";
import { fetchPayment, listPayments } from "./list-payments.ts";
import { findSubscriptions, subscriptionPage } from "./list-subscriptions.ts";
import { get, post, readPaddleError } from "./requests.ts";
import { PADDLE_TRAITS } from "./traits.ts";
import { paddle } from "./webhook.ts";

/** Plain requests: the SDK supports neither a timeout nor disabling redirects. */
export function paddleApi(connection: PaymentConnection): PaymentApi {
  const provider = connectProvider(connection, PADDLE_TRAITS, readPaddleError);
  const begin = () => beginCall(provider);
  return {
    traits: provider.traits,
    createCheckout: (order) => createCheckout(provider, begin(), order),
    closeCheckout: ({ id }) => closeCheckout(provider, begin(), id),
    updateCheckout: (id, order) => updateCheckout(provider, begin(), id, order),
    openPortal: (customer) => openPortal(provider, begin(), customer),
    fetchSubscription: (id) => fetchSubscription(provider, begin(), id),
    cancelSubscription: (id) => {
      const send = begin();
      return ensureEnded(
        () => cancelSubscription(provider, send, id),
        () => fetchSubscription(provider, send, id),
        hasEnded,
      );
    },
    changeSubscription: (id, change) => changeSubscription(provider, begin(), id, change),
    fetchScheduledChange: async () => null,
    previewChange: (id, change) => previewChange(provider, begin(), id, change),
    refundSubscription: (id) => refundSubscription(provider, begin(), id),
    knowsPrice: (id) => knowsPrice(provider, begin(), id),
    listEvents: (since) => oldestFirst(() => eventPages(provider, since)),
    isInTestMode: null,
    isEndpointDisabled: null,
    listSubscriptionPage: (position, options) => subscriptionPage(provider, position, options),
    listCustomerPage: null,
    findSubscriptions: (customer) => findSubscriptions(provider, customer),
    listPayments: (selection) => listPayments(provider, selection),
    fetchPayment: (id) => fetchPayment(provider, id),
  };
}

async function openPortal(
  provider: ConnectedProvider,
  send: SendRequest,
  customer: PayingCustomer,
): Promise<{ url: string }> {
  const fetch = (id: string) => fetchSubscription(provider, send, id);
  const customerId = await resolveCustomerId(provider, customer, fetch);
  if (!(await isOwnCustomer(provider, send, customer, customerId))) throw foreignCustomer(provider);
  const path = `/customers/${pathSegment(provider, customerId)}/portal-sessions`;
  const response = await send(post(provider, path, {}, { repeatable: true }));
  return { url: requiredUrl(provider, response, "data", "urls", "general", "overview") };
}

async function fetchSubscription(provider: ConnectedProvider, send: SendRequest, id: string) {
  const response = await nullIfNotFound(async () =>
    send(get(provider, `/subscriptions/${pathSegment(provider, id)}`)),
  );
  return response && subscriptionState(provider, paddle, { data: valueAt(response, "data") });
}

async function refundSubscription(
  provider: ConnectedProvider,
  send: SendRequest,
  id: string,
): Promise<boolean> {
  const query = new URLSearchParams({
    subscription_id: pathSegment(provider, id),
    status: "completed",
    order_by: "created_at[DESC]",
    per_page: "1",
    include: "adjustments",
  });
  const [lastTransaction] = listAt(await send(get(provider, `/transactions?${query}`)), "data");
  if (lastTransaction === undefined || isFree(lastTransaction)) return false;
  if (listAt(lastTransaction, "adjustments").some(isFullRefund)) return true;
  const refund = {
    action: "refund",
    type: "full",
    transaction_id: requiredText(provider, lastTransaction, "id"),
    reason: "The account was deleted, or already had a subscription.",
  };
  await send(post(provider, "/adjustments", refund, { repeatable: false }));
  return true;
}

/** A trial begins with a completed transaction too, whose refund Paddle rejects. */
function isFree(transaction: unknown): boolean {
  return textAt(transaction, "details", "totals", "grand_total") === "0";
}

/** Paddle rejects a second one, also while the first waits for its approval. */
function isFullRefund(adjustment: unknown): boolean {
  const status = textAt(adjustment, "status");
  return (
    textAt(adjustment, "action") === "refund" &&
    textAt(adjustment, "type") === "full" &&
    (status === "approved" || status === "pending_approval")
  );
}

async function knowsPrice(provider: ConnectedProvider, send: SendRequest, id: string): Promise<boolean> {
  const price = await nullIfNotFound(async () => send(get(provider, `/prices/${pathSegment(provider, id)}`)));
  return price !== null && valueAt(price, "data", "status") !== "archived";
}
