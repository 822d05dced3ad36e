import type { PaymentEvent } from "../../domain/events/payment-event.ts";
import type {
  CustomerPage,
  SubscriptionListOptions,
  SubscriptionPage,
} from "../../domain/providers/payment-api.ts";
import type { ConnectedProvider } from "../outbound/connected-provider.ts";
import { listedSubscription, readableStates } from "../outbound/list-states.ts";
import { MAX_PAGE_BYTES } from "../outbound/oldest-first.ts";
import { textAt } from "../outbound/response-fields.ts";
import { beginCall } from "../outbound/send-request.ts";
import { mapStripeErrors, stripeClient } from "./client.ts";
import { nextPosition, PAGE_SIZE } from "./next-position.ts";
import { stripe } from "./webhook.ts";

/** All of them: Stripe can only filter by creation time. https://docs.stripe.com/api/subscriptions/list */
export async function subscriptionPage(
  provider: ConnectedProvider,
  position: string | null,
  { withEmails }: SubscriptionListOptions,
): Promise<SubscriptionPage> {
  const client = stripeClient(provider, beginCall(provider, { maxBytes: MAX_PAGE_BYTES }));
  const page = await mapStripeErrors(provider, () =>
    client.subscriptions.list({
      status: "all",
      limit: PAGE_SIZE,
      ...(position === null ? {} : { starting_after: position }),
      ...(withEmails ? { expand: ["data.customer"] } : {}),
    }),
  );
  const subscriptions = page.data.map((object) => {
    const customer = textAt(object, "customer", "id") ?? object.customer;
    const delivery = asDelivery({ ...object, customer });
    return listedSubscription(provider, stripe, {
      object,
      delivery,
      email: textAt(object, "customer", "email"),
    });
  });
  return { subscriptions, next: nextPosition(provider, page) };
}

/** Newest first. https://docs.stripe.com/api/customers/list */
export async function customerPage(
  provider: ConnectedProvider,
  position: string | null,
): Promise<CustomerPage> {
  const client = stripeClient(provider, beginCall(provider, { maxBytes: MAX_PAGE_BYTES }));
  const page = await mapStripeErrors(provider, () =>
    client.customers.list({ limit: PAGE_SIZE, ...(position === null ? {} : { starting_after: position }) }),
  );
  const customers = page.data.map((customer) => ({
    id: customer.id,
    email: textAt(customer, "email"),
    name: textAt(customer, "name"),
    locale: customer.preferred_locales?.[0] ?? null,
    userId: textAt(customer, "metadata", "userId"),
  }));
  return { customers, next: nextPosition(provider, page) };
}

export async function findSubscriptions(
  provider: ConnectedProvider,
  { customerId: customer }: { customerId: string },
): Promise<PaymentEvent[]> {
  const client = stripeClient(provider, beginCall(provider, { maxBytes: MAX_PAGE_BYTES }));
  const page = await mapStripeErrors(provider, () =>
    client.subscriptions.list({ customer, status: "all", limit: PAGE_SIZE }),
  );
  return readableStates(provider, stripe, page.data.map(asDelivery));
}

function asDelivery(subscription: object): object {
  return { data: { object: subscription } };
}
