import type Stripe from "stripe";
import type { PaymentEvent } from "../../domain/events/payment-event.ts";
import type { ListedEvent, PayingCustomer, PaymentApi } from "../../domain/providers/payment-api.ts";
import { type ConnectedProvider, connectProvider } from "../outbound/connected-provider.ts";
import { ensureEnded, hasEnded } from "../outbound/ensure-ended.ts";
import { nullIfNotFound } from "../outbound/null-if-not-found.ts";
import { listedEvent, MAX_PAGE_BYTES, oldestFirst } from "../outbound/oldest-first.ts";
import { foreignCustomer } from "../outbound/own-customer.ts";
import { pathSegment } from "../outbound/path-segment.ts";
import { problem, RefusedByProvider } from "../outbound/problems.ts";
import { resolveCustomerId } from "../outbound/resolve-customer-id.ts";
import { requiredUrl, textAt } from "../outbound/response-fields.ts";
import { beginCall } from "../outbound/send-request.ts";
import { subscriptionState } from "../outbound/subscription-state.ts";
import type { PaymentConnection } from "../payment-connection.ts";
import { changeSubscription, fetchScheduledChange, previewChange } from "./change-subscription.ts";
import { closeCheckout, createCheckout } from "./checkout.ts";
import { mapStripeErrors, readStripeError, stripeClient } from "./client.ts";
import { isForeign } from "./customer.ts";
import { fetchPayment, listPayments } from "./list-payments.ts";
import { customerPage, findSubscriptions, subscriptionPage } from "./list-subscriptions.ts";
import { nextPosition, PAGE_SIZE } from "./next-position.ts";
import { namesOf } from "./payment-names.ts";
import { STRIPE_TRAITS } from "./traits.ts";
import { STRIPE_EVENT_TYPES, stripe } from "./webhook.ts";

export function stripeApi(connection: PaymentConnection): PaymentApi {
  const provider = connectProvider(connection, STRIPE_TRAITS, readStripeError);
  const begin = () => stripeClient(provider, beginCall(provider));
  const cancel = (client: Stripe, id: string) =>
    mapStripeErrors(provider, () => client.subscriptions.cancel(pathSegment(provider, id)));
  return {
    traits: provider.traits,
    createCheckout: (order) => createCheckout(provider, begin(), order),
    closeCheckout: ({ id }) => closeCheckout(provider, begin(), id),
    updateCheckout: async () => {
      throw problem(provider, "rejected", "a Checkout Session cannot be changed to another price");
    },
    openPortal: (customer) => openPortal(provider, begin(), customer),
    fetchSubscription: (id) => fetchSubscription(provider, begin(), id),
    cancelSubscription: (id) => {
      const client = begin();
      return ensureEnded(
        () => cancel(client, id),
        () => fetchSubscription(provider, client, id),
        hasEnded,
      );
    },
    changeSubscription: (id, change) => changeSubscription(provider, begin(), id, change),
    fetchScheduledChange: (id, priceId) => fetchScheduledChange(provider, begin(), id, priceId),
    previewChange: (id, change) => previewChange(provider, begin(), id, change),
    refundSubscription: (id) => refundSubscription(provider, begin(), id),
    knowsPrice: (id) => knowsPrice(provider, begin(), id),
    listEvents: (since) => oldestFirst(() => eventPages(provider, since)),
    isInTestMode: null,
    isEndpointDisabled: null,
    listSubscriptionPage: (position, options) => subscriptionPage(provider, position, options),
    listCustomerPage: (position) => customerPage(provider, position),
    findSubscriptions: (customer) => findSubscriptions(provider, customer),
    listPayments: (selection) => listPayments(provider, selection),
    fetchPayment: (id) => fetchPayment(provider, id),
  };
}

async function openPortal(
  provider: ConnectedProvider,
  client: Stripe,
  customer: PayingCustomer,
): Promise<{ url: string }> {
  const fetch = (id: string) => fetchSubscription(provider, client, id);
  const customerId = await resolveCustomerId(provider, customer, fetch);
  if (await isForeign(provider, client, customerId, customer)) throw foreignCustomer(provider);
  const session = await mapStripeErrors(provider, () =>
    client.billingPortal.sessions.create({ customer: customerId, return_url: customer.returnUrl }),
  );
  return { url: requiredUrl(provider, session, "url") };
}

async function fetchSubscription(provider: ConnectedProvider, client: Stripe, id: string) {
  const subscription = await nullIfNotFound(() =>
    mapStripeErrors(provider, () => client.subscriptions.retrieve(pathSegment(provider, id))),
  );
  return subscription && stateOf(provider, subscription);
}

function stateOf(provider: ConnectedProvider, subscription: object): PaymentEvent {
  return subscriptionState(provider, stripe, { data: { object: subscription } });
}

/** Since API version 2025-03-31 an invoice's payments are separate resources. */
async function refundSubscription(provider: ConnectedProvider, client: Stripe, id: string): Promise<boolean> {
  const run = <Result>(request: () => Promise<Result>) => mapStripeErrors(provider, request);
  const subscription = await run(() => client.subscriptions.retrieve(pathSegment(provider, id)));
  const invoice = textAt(subscription, "latest_invoice") ?? textAt(subscription, "latest_invoice", "id");
  if (invoice === null) return false;
  const payments = await run(() => client.invoicePayments.list({ invoice, status: "paid" }));
  let isRefunded = false;
  for (const { payment } of payments.data) {
    const [name] = namesOf(payment);
    if (name === undefined) continue;
    // With the SDK's key for this call: to one of our own Stripe would repeat a failure for a day. What has been
    // refunded in full is refused. https://docs.stripe.com/api/idempotent_requests
    const refunding = run(() => client.refunds.create({ [name.by]: name.id }));
    await refunding.catch((error: unknown) => {
      // By hand in the meantime, or by a request whose answer was lost.
      if (!(error instanceof RefusedByProvider) || error.code !== "charge_already_refunded") throw error;
    });
    isRefunded = true;
  }
  return isRefunded;
}

async function knowsPrice(provider: ConnectedProvider, client: Stripe, id: string): Promise<boolean> {
  const price = await nullIfNotFound(() => mapStripeErrors(provider, () => client.prices.retrieve(id)));
  return price !== null && price.active !== false;
}

async function* eventPages(provider: ConnectedProvider, since: Date): AsyncGenerator<ListedEvent[]> {
  const created = { gte: Math.floor(since.getTime() / 1000) };
  for (let last: string | null = null; ; ) {
    const client = stripeClient(provider, beginCall(provider, { maxBytes: MAX_PAGE_BYTES }));
    const after: { starting_after?: string } = last === null ? {} : { starting_after: last };
    const page = await mapStripeErrors(provider, () =>
      client.events.list({ types: [...STRIPE_EVENT_TYPES], created, limit: PAGE_SIZE, ...after }),
    );
    yield page.data.map((event) => listedEvent(event.id, event.type, event));
    last = nextPosition(provider, page);
    if (last === null) return;
  }
}
