import type {
  CheckoutEnd,
  CheckoutOrder,
  ClosingCheckout,
  OpenedCheckout,
} from "../../domain/providers/payment-api.ts";
import type { ConnectedProvider } from "../outbound/connected-provider.ts";
import { nullIfNotFound } from "../outbound/null-if-not-found.ts";
import { pathSegment } from "../outbound/path-segment.ts";
import { problem } from "../outbound/problems.ts";
import { dateAt, listAt, requiredText, requiredUrl, textAt } from "../outbound/response-fields.ts";
import type { SendRequest } from "../outbound/send-request.ts";
import { request } from "./requests.ts";

/** Long enough to find a card, short enough to wait for before choosing another plan. */
const CHECKOUT_LIFETIME_MS = 30 * 60 * 1000;
/** A payment that begins before may end this long after. */
const PAYMENT_MS = 10 * 60 * 1000;

export async function createCheckout(
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

/** The only store that the key reaches. */
export async function theOnlyStore(provider: ConnectedProvider, send: SendRequest): Promise<string> {
  const stores = listAt(await send(request(provider, "GET", "/v1/stores")), "data");
  if (stores.length === 1) return requiredText(provider, stores[0], "id");
  const detail = `the key reaches ${stores.length} stores, and a slot sells from one`;
  throw problem(provider, "rejected", detail, {
    remedy: "Use a key of an account that has exactly one store: there, the plans' variants belong to it.",
  });
}

/**
 * A checkout cannot be closed and does not show whether it was paid; the subscriptions of its address do, unless they
 * are of the store's other products. A payment with another address is found when its event arrives, which may be
 * after the checkout's end: it counts as open still.
 */
export async function closeCheckout(
  provider: ConnectedProvider,
  send: SendRequest,
  { id, email }: ClosingCheckout,
): Promise<CheckoutEnd> {
  const path = `/v1/checkouts/${pathSegment(provider, id)}`;
  const checkout = await nullIfNotFound(async () => send(request(provider, "GET", path)));
  if (checkout === null) return { status: "closed" };
  const createdAt = dateAt(checkout, "data", "attributes", "created_at")?.getTime() ?? Date.now();
  const expiresAt =
    dateAt(checkout, "data", "attributes", "expires_at")?.getTime() ?? Number.POSITIVE_INFINITY;
  const variant = textAt(checkout, "data", "attributes", "variant_id");
  const query = new URLSearchParams({ "filter[user_email]": email });
  const subscriptions = listAt(await send(request(provider, "GET", `/v1/subscriptions?${query}`)), "data");
  const paid = subscriptions.find((subscription) => {
    const startedAt = dateAt(subscription, "attributes", "created_at")?.getTime() ?? 0;
    return (
      startedAt >= createdAt &&
      startedAt < expiresAt + PAYMENT_MS &&
      !hasExpired(subscription) &&
      isOfVariant(subscription, variant)
    );
  });
  if (paid !== undefined) return { status: "paid", providerSubscriptionId: textAt(paid, "id") };
  return { status: "open" };
}

/** A checkout sells one variant. */
function isOfVariant(subscription: unknown, variant: string | null): boolean {
  const bought = textAt(subscription, "attributes", "variant_id");
  return variant === null || bought === null || bought === variant;
}

function hasExpired(subscription: unknown): boolean {
  return textAt(subscription, "attributes", "status") === "expired";
}
