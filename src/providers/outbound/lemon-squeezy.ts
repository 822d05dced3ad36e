import type { CheckoutOrder, OpenedCheckout, PayingCustomer, PaymentApi } from "../../domain/payment-api.ts";
import type { PaymentEvent } from "../../domain/payment-event.ts";
import { lemonSqueezy } from "../lemon-squeezy.ts";
import { dateAt, listAt, requiredText, requiredUrl, valueAt } from "./answer.ts";
import { type Ask, beginCall } from "./ask.ts";
import { knownState } from "./known-state.ts";
import { readLemonSqueezyRefusal, request } from "./lemon-squeezy-requests.ts";
import { ensureOver, hasEnded, orNull, segment } from "./missing.ts";
import type { PaymentConnection } from "./payment-connection.ts";
import { problem } from "./problems.ts";
import { type Provider, providerAt } from "./provider.ts";

export function lemonSqueezyApi(connection: PaymentConnection): Required<PaymentApi> {
  const provider = providerAt(connection, {
    name: "Lemon Squeezy",
    productionUrl: "https://api.lemonsqueezy.com",
    keyHint: "an API key of Lemon Squeezy (Settings, API)",
    readRefusal: readLemonSqueezyRefusal,
  });
  let storeId: string | null = null;
  const storeOf = async (ask: Ask) => {
    storeId ??= await theOnlyStore(provider, ask);
    return storeId;
  };
  const begin = () => beginCall(provider);
  return {
    createCheckout: async (order) => {
      const ask = begin();
      return createCheckout(provider, ask, order, await storeOf(ask));
    },
    closeCheckout: async () => {},
    openPortal: (customer) => openPortal(provider, begin(), customer),
    fetchSubscription: (id) => fetchSubscription(provider, begin(), id),
    cancelSubscription: (id) => {
      const ask = begin();
      const look = () => fetchSubscription(provider, ask, id);
      return ensureOver(() => cancel(provider, ask, id), look, endsAnyway);
    },
    knowsPrice: (id) => knowsVariant(provider, begin(), id),
    listEvents: null,
  };
}

async function theOnlyStore(provider: Provider, ask: Ask): Promise<string> {
  const stores = listAt(await ask(request(provider, "GET", "/v1/stores")), "data");
  if (stores.length === 1) return requiredText(provider, stores[0], "id");
  const what = `the key reaches ${stores.length} stores, and a slot sells from one`;
  throw problem(provider, "rejected", what, {
    remedy: "Use a key of an account that has exactly one store: there, the plans' variants belong to it.",
  });
}

async function createCheckout(
  provider: Provider,
  ask: Ask,
  order: CheckoutOrder,
  storeId: string,
): Promise<OpenedCheckout> {
  const variant = /^\d{1,15}$/.test(order.priceId) ? Number(order.priceId) : order.priceId;
  const data = {
    type: "checkouts",
    attributes: {
      // The product's other variants would be on offer too, and with them other plans.
      product_options: { redirect_url: order.successUrl, enabled_variants: [variant] },
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
  const answer = await ask(request(provider, "POST", "/v1/checkouts", { data }));
  return {
    id: requiredText(provider, answer, "data", "id"),
    url: requiredUrl(provider, answer, "data", "attributes", "url"),
    expiresAt: dateAt(answer, "data", "attributes", "expires_at"),
  };
}

/** The links to it stand in the subscription, and in the customer, signed for a day. */
async function openPortal(provider: Provider, ask: Ask, customer: PayingCustomer): Promise<{ url: string }> {
  const { providerSubscriptionId, customerId } = customer;
  if (providerSubscriptionId === null && customerId === null)
    throw problem(provider, "missing", "the person is not known as a customer");
  const path =
    customerId === null
      ? `/v1/subscriptions/${segment(provider, providerSubscriptionId ?? "")}`
      : `/v1/customers/${segment(provider, customerId)}`;
  const answer = await ask(request(provider, "GET", path));
  return { url: requiredUrl(provider, answer, "data", "attributes", "urls", "customer_portal") };
}

/** Without the custom data: only deliveries carry them. */
async function fetchSubscription(provider: Provider, ask: Ask, id: string): Promise<PaymentEvent | null> {
  const answer = await orNull(async () =>
    ask(request(provider, "GET", `/v1/subscriptions/${segment(provider, id)}`)),
  );
  return answer && knownState(provider, lemonSqueezy, { data: valueAt(answer, "data") });
}

async function knowsVariant(provider: Provider, ask: Ask, id: string): Promise<boolean> {
  const variant = await orNull(async () =>
    ask(request(provider, "GET", `/v1/variants/${segment(provider, id)}`)),
  );
  return variant !== null;
}

/** Ends with the period that is paid for: the provider knows no other way. */
async function cancel(provider: Provider, ask: Ask, id: string): Promise<void> {
  await ask(request(provider, "DELETE", `/v1/subscriptions/${segment(provider, id)}`));
}

function endsAnyway(state: PaymentEvent): boolean {
  return hasEnded(state) || state.cancelAtPeriodEnd === true;
}
