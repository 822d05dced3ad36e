import type { PaymentEvent } from "../../domain/events/payment-event.ts";
import type { PaymentApi } from "../../domain/providers/payment-api.ts";
import { type ConnectedProvider, connectProvider } from "../outbound/connected-provider.ts";
import { ensureEnded, hasEnded } from "../outbound/ensure-ended.ts";
import { nullIfNotFound } from "../outbound/null-if-not-found.ts";
import { pathSegment } from "../outbound/path-segment.ts";
import { problem } from "../outbound/problems.ts";
import { listAt, requiredText, textAt, valueAt } from "../outbound/response-fields.ts";
import { beginCall, type SendRequest } from "../outbound/send-request.ts";
import { subscriptionState } from "../outbound/subscription-state.ts";
import type { PaymentConnection } from "../payment-connection.ts";
import { changeSubscription } from "./change-subscription.ts";
import { closeCheckout, createCheckout, theOnlyStore } from "./checkout.ts";
import { fetchPayment, listPayments } from "./list-payments.ts";
import { findSubscriptions, subscriptionPage } from "./list-subscriptions.ts";
import { openPortal } from "./portal.ts";
import { readLemonSqueezyError, request } from "./requests.ts";
import { LEMON_SQUEEZY_TRAITS } from "./traits.ts";
import { lemonSqueezy } from "./webhook.ts";

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
    fetchScheduledChange: async () => null,
    previewChange: async () => null,
    refundSubscription: (id) => refundSubscription(provider, begin(), id),
    knowsPrice: (id) => knowsVariant(provider, begin(), id),
    isInTestMode: () => isInTestMode(provider, begin()),
    listEvents: null,
    isEndpointDisabled: null,
    listSubscriptionPage: (position, options) => subscriptionPage(provider, position, options),
    listCustomerPage: null,
    findSubscriptions: (customer) => findSubscriptions(provider, customer),
    listPayments: (selection) => listPayments(provider, selection),
    fetchPayment: (id) => fetchPayment(provider, id),
  };
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

async function isInTestMode(provider: ConnectedProvider, send: SendRequest): Promise<boolean> {
  return valueAt(await send(request(provider, "GET", "/v1/users/me")), "meta", "test_mode") === true;
}

/** Cancels at the end of the paid period: the API has no other way. */
async function cancel(provider: ConnectedProvider, send: SendRequest, id: string): Promise<void> {
  await send(request(provider, "DELETE", `/v1/subscriptions/${pathSegment(provider, id)}`));
}

function endsAnyway(state: PaymentEvent): boolean {
  return hasEnded(state) || state.cancelAtPeriodEnd === true;
}

/** A refunded invoice remains the latest: asked again, an earlier one must not be refunded as well. */
const CHARGED = new Set(["paid", "partial_refund", "refunded"]);

async function refundSubscription(
  provider: ConnectedProvider,
  send: SendRequest,
  id: string,
): Promise<boolean> {
  const query = new URLSearchParams({ "filter[subscription_id]": pathSegment(provider, id) });
  const invoices = listAt(await send(request(provider, "GET", `/v1/subscription-invoices?${query}`)), "data");
  const latest = invoices.find((invoice) => CHARGED.has(textAt(invoice, "attributes", "status") ?? ""));
  if (latest === undefined || textAt(latest, "attributes", "total") === "0") return false;
  if (textAt(latest, "attributes", "status") === "refunded") return true;
  const invoiceId = requiredText(provider, latest, "id");
  const path = `/v1/subscription-invoices/${pathSegment(provider, invoiceId)}/refund`;
  await send(request(provider, "POST", path, { data: { type: "subscription-invoices", id: invoiceId } }));
  return true;
}
