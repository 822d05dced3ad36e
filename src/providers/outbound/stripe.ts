import type Stripe from "stripe";
import type {
  CheckoutOrder,
  ListedEvent,
  OpenedCheckout,
  PayingCustomer,
  PaymentApi,
} from "../../domain/payment-api.ts";
import { STRIPE_EVENT_TYPES, stripe } from "../stripe.ts";
import { requiredUrl } from "./answer.ts";
import { beginCall } from "./ask.ts";
import { knownState } from "./known-state.ts";
import { ensureOver, hasEnded, orNull, segment } from "./missing.ts";
import { listedEvent, MAX_PAGE_BYTES, oldestFirst } from "./oldest-first.ts";
import { payerOf } from "./payer.ts";
import type { PaymentConnection } from "./payment-connection.ts";
import { type Provider, providerAt } from "./provider.ts";
import { asked, readStripeRefusal, stripeClient } from "./stripe-client.ts";

const PAGE_SIZE = 100;

export function stripeApi(connection: PaymentConnection): Required<PaymentApi> {
  const provider = providerAt(connection, {
    name: "Stripe",
    productionUrl: "https://api.stripe.com",
    keyHint: "a secret or restricted key of Stripe (Developers, API keys)",
    readRefusal: readStripeRefusal,
  });
  const begin = () => stripeClient(provider, beginCall(provider));
  const cancelled = (client: Stripe, id: string) =>
    asked(provider, () => client.subscriptions.cancel(segment(provider, id)));
  return {
    createCheckout: (order) => createCheckout(provider, begin(), order),
    closeCheckout: (id) => closeCheckout(provider, begin(), id),
    openPortal: (customer) => openPortal(provider, begin(), customer),
    fetchSubscription: (id) => fetchSubscription(provider, begin(), id),
    cancelSubscription: (id) => {
      const client = begin();
      return ensureOver(
        () => cancelled(client, id),
        () => fetchSubscription(provider, client, id),
        hasEnded,
      );
    },
    knowsPrice: (id) => knowsPrice(provider, begin(), id),
    listEvents: (since) => oldestFirst(provider, eventPages(provider, since)),
  };
}

async function createCheckout(
  provider: Provider,
  client: Stripe,
  order: CheckoutOrder,
): Promise<OpenedCheckout> {
  const metadata = { userId: order.userId, planId: order.planId };
  const session = await asked(provider, () =>
    client.checkout.sessions.create(
      {
        mode: "subscription",
        line_items: [{ price: order.priceId, quantity: order.seats }],
        success_url: order.successUrl,
        cancel_url: order.cancelUrl,
        client_reference_id: order.userId,
        metadata,
        // A subscription does not inherit the metadata of its checkout.
        subscription_data: { metadata },
        ...(order.customerId === null ? { customer_email: order.email } : { customer: order.customerId }),
      },
      { idempotencyKey: order.idempotencyKey },
    ),
  );
  return {
    id: session.id,
    url: requiredUrl(provider, session, "url"),
    expiresAt: Number.isSafeInteger(session.expires_at) ? new Date(session.expires_at * 1000) : null,
  };
}

async function closeCheckout(provider: Provider, client: Stripe, id: string): Promise<void> {
  await asked(provider, () => client.checkout.sessions.expire(segment(provider, id)));
}

async function openPortal(
  provider: Provider,
  client: Stripe,
  customer: PayingCustomer,
): Promise<{ url: string }> {
  const look = (id: string) => fetchSubscription(provider, client, id);
  const customerId = await payerOf(provider, customer, look);
  const session = await asked(provider, () =>
    client.billingPortal.sessions.create({ customer: customerId, return_url: customer.returnUrl }),
  );
  return { url: requiredUrl(provider, session, "url") };
}

async function fetchSubscription(provider: Provider, client: Stripe, id: string) {
  const subscription = await orNull(() =>
    asked(provider, () => client.subscriptions.retrieve(segment(provider, id))),
  );
  return subscription && knownState(provider, stripe, { data: { object: subscription } });
}

async function knowsPrice(provider: Provider, client: Stripe, id: string): Promise<boolean> {
  const price = await orNull(() => asked(provider, () => client.prices.retrieve(id)));
  return price !== null && price.active !== false;
}

async function* eventPages(provider: Provider, since: Date): AsyncGenerator<ListedEvent[]> {
  const created = { gte: Math.floor(since.getTime() / 1000) };
  for (let last: string | null = null; ; ) {
    const client = stripeClient(provider, beginCall(provider, { maxBytes: MAX_PAGE_BYTES }));
    const after: { starting_after?: string } = last === null ? {} : { starting_after: last };
    const page = await asked(provider, () =>
      client.events.list({ types: [...STRIPE_EVENT_TYPES], created, limit: PAGE_SIZE, ...after }),
    );
    yield page.data.map((event) => listedEvent(event.id, event.type, event));
    last = page.data.at(-1)?.id ?? null;
    if (!page.has_more || last === null) return;
  }
}
