import type Stripe from "stripe";
import type { ChangePreview, SubscriptionChange } from "../../domain/payment-api.ts";
import type { ConnectedProvider } from "../outbound/connected-provider.ts";
import { pathSegment } from "../outbound/null-if-not-found.ts";
import { problem } from "../outbound/problems.ts";
import { mapStripeErrors } from "./client.ts";

// Charged at once; a failed charge leaves the subscription as it was.
const AT_ONCE = { proration_behavior: "always_invoice" } as const;

export async function changeSubscription(
  provider: ConnectedProvider,
  client: Stripe,
  id: string,
  change: SubscriptionChange,
): Promise<void> {
  const items = [await changedItem(provider, client, id, change)];
  await mapStripeErrors(provider, () =>
    client.subscriptions.update(pathSegment(provider, id), {
      ...AT_ONCE,
      payment_behavior: "error_if_incomplete",
      items,
    }),
  );
}

/** https://docs.stripe.com/api/invoices/create_preview */
export async function previewChange(
  provider: ConnectedProvider,
  client: Stripe,
  id: string,
  change: SubscriptionChange,
): Promise<ChangePreview | null> {
  const items = [await changedItem(provider, client, id, change)];
  const invoice = await mapStripeErrors(provider, () =>
    client.invoices.createPreview({
      subscription: pathSegment(provider, id),
      subscription_details: { ...AT_ONCE, items },
    }),
  );
  return { amountDue: invoice.amount_due, currency: invoice.currency.toUpperCase(), at: new Date() };
}

async function changedItem(
  provider: ConnectedProvider,
  client: Stripe,
  id: string,
  { currentPriceId, priceId, seats }: SubscriptionChange,
): Promise<{ id: string; price?: string; quantity?: number }> {
  const subscription = await mapStripeErrors(provider, () =>
    client.subscriptions.retrieve(pathSegment(provider, id)),
  );
  const items = subscription.items?.data ?? [];
  const item = items.find(({ price }) => price.id === currentPriceId) ?? items[0];
  if (item === undefined) throw problem(provider, "rejected", "the subscription has no items");
  return {
    id: item.id,
    ...(priceId === null ? {} : { price: priceId }),
    ...(seats === null ? {} : { quantity: seats }),
  };
}
