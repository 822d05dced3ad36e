import type Stripe from "stripe";
import type { ChangeOrder, ChangePreview, WaitingChange } from "../../domain/providers/payment-api.ts";
import type { ConnectedProvider } from "../outbound/connected-provider.ts";
import { pathSegment } from "../outbound/path-segment.ts";
import { afterWithdrawal } from "../outbound/send-in-turn.ts";
import { unknownItem } from "../outbound/unknown-item.ts";
import { mapStripeErrors } from "./client.ts";
import { readSchedule, releaseSchedule, scheduleChange } from "./schedule-change.ts";

// Charged at once; a failed charge leaves the subscription as it was.
const AT_ONCE = { proration_behavior: "always_invoice" } as const;

export async function changeSubscription(
  provider: ConnectedProvider,
  client: Stripe,
  id: string,
  change: ChangeOrder,
): Promise<void> {
  const subscription = await retrieve(provider, client, id);
  const isChange = change.priceId !== null || change.seats !== null;
  if (!isChange) return releaseSchedule(provider, client, subscription);
  const item = itemOf(provider, subscription, change);
  if (change.when === "period_end") return scheduleChange(provider, client, subscription, change);
  const update = () =>
    mapStripeErrors(provider, () =>
      client.subscriptions.update(pathSegment(provider, id), {
        ...AT_ONCE,
        payment_behavior: "error_if_incomplete",
        items: [itemUpdate(item, change)],
      }),
    );
  const release = () => releaseSchedule(provider, client, subscription);
  await afterWithdrawal(subscription.schedule ? release : null, update);
}

export async function fetchScheduledChange(
  provider: ConnectedProvider,
  client: Stripe,
  id: string,
  currentPriceId: string | null,
): Promise<WaitingChange | null> {
  return readSchedule(provider, client, await retrieve(provider, client, id), currentPriceId);
}

/**
 * The invoice of the change, or the next renewal's with it.
 * https://docs.stripe.com/api/invoices/create_preview
 */
export async function previewChange(
  provider: ConnectedProvider,
  client: Stripe,
  id: string,
  change: ChangeOrder,
): Promise<ChangePreview | null> {
  const subscription = await retrieve(provider, client, id);
  const item = itemOf(provider, subscription, change);
  const isAtOnce = change.when === "now";
  // Nothing is charged in a trial: the preview would be the invoice at its end.
  if (isAtOnce && subscription.status === "trialing")
    return { amountDue: 0, currency: subscription.currency.toUpperCase(), at: new Date() };
  const invoice = await mapStripeErrors(provider, () =>
    client.invoices.createPreview({
      subscription: pathSegment(provider, id),
      subscription_details: {
        ...(isAtOnce ? AT_ONCE : { proration_behavior: "none" }),
        items: [itemUpdate(item, change)],
      },
    }),
  );
  return {
    // A credit is not due: it goes to the customer's balance.
    amountDue: invoice.total < 0 ? invoice.total : invoice.amount_due,
    currency: invoice.currency.toUpperCase(),
    at: isAtOnce ? new Date() : new Date(item.current_period_end * 1000),
  };
}

function retrieve(provider: ConnectedProvider, client: Stripe, id: string): Promise<Stripe.Subscription> {
  return mapStripeErrors(provider, () => client.subscriptions.retrieve(pathSegment(provider, id)));
}

function itemOf(
  provider: ConnectedProvider,
  subscription: Stripe.Subscription,
  { currentPriceId }: ChangeOrder,
): Stripe.SubscriptionItem {
  const items = subscription.items?.data ?? [];
  const item =
    items.find(({ price }) => price.id === currentPriceId) ?? (items.length > 1 ? undefined : items[0]);
  if (item === undefined) throw unknownItem(provider);
  return item;
}

function itemUpdate(
  { id }: Stripe.SubscriptionItem,
  { priceId, seats }: ChangeOrder,
): { id: string; price?: string; quantity?: number } {
  return {
    id,
    ...(priceId === null ? {} : { price: priceId }),
    ...(seats === null ? {} : { quantity: seats }),
  };
}
