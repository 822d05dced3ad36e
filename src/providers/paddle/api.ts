import type { PayingCustomer, PaymentApi } from "../../domain/payment-api.ts";
import { type ConnectedProvider, connectProvider } from "../outbound/connected-provider.ts";
import { eachState } from "../outbound/list-states.ts";
import { ensureEnded, hasEnded, nullIfNotFound, pathSegment } from "../outbound/null-if-not-found.ts";
import { oldestFirst } from "../outbound/oldest-first.ts";
import { foreignCustomer } from "../outbound/own-customer.ts";
import { resolveCustomerId } from "../outbound/resolve-customer-id.ts";
import { listAt, requiredText, requiredUrl, valueAt } from "../outbound/response-fields.ts";
import { beginCall, type SendRequest } from "../outbound/send-request.ts";
import { subscriptionState } from "../outbound/subscription-state.ts";
import type { PaymentConnection } from "../payment-connection.ts";
import { changeSubscription, previewChange } from "./change-subscription.ts";
import { closeCheckout, createCheckout, updateCheckout } from "./checkout.ts";
import { isOwnCustomer } from "./customer.ts";
import { eventPages } from "./list-events.ts";
import { findSubscriptions, subscriptionPage } from "./list-subscriptions.ts";
import { get, post, readPaddleError } from "./requests.ts";
import { PADDLE_TRAITS } from "./traits.ts";
import { paddle } from "./webhook.ts";

/** Plain requests: the SDK supports neither a time-out nor disabling redirects. */
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
      const ask = begin();
      return ensureEnded(
        () => cancel(provider, ask, id),
        () => fetchSubscription(provider, ask, id),
        hasEnded,
      );
    },
    changeSubscription: (id, change) => changeSubscription(provider, begin(), id, change),
    previewChange: (id, change) => previewChange(provider, begin(), id, change),
    refundSubscription: (id) => refundSubscription(provider, begin(), id),
    knowsPrice: (id) => knowsPrice(provider, begin(), id),
    listEvents: (since) => oldestFirst(provider, eventPages(provider, since)),
    isEndpointDisabled: null,
    listSubscriptions: () =>
      eachState((position) => subscriptionPage(provider, position, { withEmails: false })),
    listSubscriptionPage: (position, options) => subscriptionPage(provider, position, options),
    listCustomerPage: null,
    findSubscriptions: (customer) => findSubscriptions(provider, customer),
  };
}

async function openPortal(
  provider: ConnectedProvider,
  ask: SendRequest,
  customer: PayingCustomer,
): Promise<{ url: string }> {
  const look = (id: string) => fetchSubscription(provider, ask, id);
  const customerId = await resolveCustomerId(provider, customer, look);
  if (!(await isOwnCustomer(provider, ask, customer, customerId))) throw foreignCustomer(provider);
  const path = `/customers/${pathSegment(provider, customerId)}/portal-sessions`;
  const answer = await ask(post(provider, path, {}, { repeatable: true }));
  return { url: requiredUrl(provider, answer, "data", "urls", "general", "overview") };
}

async function fetchSubscription(provider: ConnectedProvider, ask: SendRequest, id: string) {
  const answer = await nullIfNotFound(async () =>
    ask(get(provider, `/subscriptions/${pathSegment(provider, id)}`)),
  );
  return answer && subscriptionState(provider, paddle, { data: valueAt(answer, "data") });
}

async function refundSubscription(
  provider: ConnectedProvider,
  ask: SendRequest,
  id: string,
): Promise<boolean> {
  const query = new URLSearchParams({
    subscription_id: pathSegment(provider, id),
    status: "completed",
    order_by: "created_at[DESC]",
    per_page: "1",
  });
  const [last] = listAt(await ask(get(provider, `/transactions?${query}`)), "data");
  if (last === undefined) return false;
  const refund = {
    action: "refund",
    type: "full",
    transaction_id: requiredText(provider, last, "id"),
    reason: "The account was deleted before the payment.",
  };
  await ask(post(provider, "/adjustments", refund, { repeatable: false }));
  return true;
}

async function knowsPrice(provider: ConnectedProvider, ask: SendRequest, id: string): Promise<boolean> {
  const price = await nullIfNotFound(async () => ask(get(provider, `/prices/${pathSegment(provider, id)}`)));
  return price !== null && valueAt(price, "data", "status") !== "archived";
}

async function cancel(provider: ConnectedProvider, ask: SendRequest, id: string): Promise<void> {
  const path = `/subscriptions/${pathSegment(provider, id)}/cancel`;
  await ask(post(provider, path, { effective_from: "immediately" }, { repeatable: true }));
}
