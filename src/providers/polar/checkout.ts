import { createCheckouts, getCheckouts } from "@polar-sh/sdk/2026-10/services/checkouts";
import { listSubscriptions as listAll } from "@polar-sh/sdk/2026-10/services/subscriptions";
import type {
  CheckoutEnd,
  CheckoutOrder,
  ClosingCheckout,
  OpenedCheckout,
} from "../../domain/providers/payment-api.ts";
import type { ConnectedProvider } from "../outbound/connected-provider.ts";
import { nullIfNotFound } from "../outbound/null-if-not-found.ts";
import { pathSegment } from "../outbound/path-segment.ts";
import { RefusedByProvider } from "../outbound/problems.ts";
import { dateAt, requiredText, requiredUrl, textAt } from "../outbound/response-fields.ts";
import type { PolarClient } from "./client.ts";
import { PAGE_SIZE } from "./next-page.ts";
import { hasSeats } from "./seats.ts";

export async function createCheckout(
  provider: ConnectedProvider,
  client: PolarClient,
  order: CheckoutOrder,
): Promise<OpenedCheckout> {
  const checkout = {
    products: [order.priceId],
    // Both are copied to the order and to the subscription.
    metadata: { userId: order.userId, planId: order.planId },
    success_url: order.successUrl,
    return_url: order.cancelUrl,
    // Never by a stored customer id: a payer with this address may be another person's customer.
    external_customer_id: order.userId,
    customer_email: order.email,
    allow_discount_codes: true,
    ...trialOf(order),
  };
  const response = await createCheckouts(client)({ ...checkout, seats: order.seats }).catch(
    async (error: unknown) => {
      // A product without seat-based pricing rejects `seats`, and one seat is the default.
      const seatsRefused = error instanceof RefusedByProvider && error.code === "body.seats";
      if (!seatsRefused || order.seats !== 1 || (await hasSeats(provider, client, order.priceId)))
        throw error;
      return createCheckouts(client)(checkout);
    },
  );
  return {
    id: requiredText(provider, response, "id"),
    url: requiredUrl(provider, response, "url"),
    expiresAt: dateAt(response, "expires_at"),
  };
}

/** Without either, the product's own trial applies. */
function trialOf({ trialDays }: CheckoutOrder) {
  if (trialDays === null) return {};
  if (trialDays === 0) return { allow_trial: false };
  return { trial_interval: "day" as const, trial_interval_count: trialDays };
}

const PAID = new Set(["confirmed", "succeeded"]);

/** Polar has no way to close a checkout: it stays payable until it expires. */
export async function closeCheckout(
  provider: ConnectedProvider,
  client: PolarClient,
  { id, userId }: ClosingCheckout,
): Promise<CheckoutEnd> {
  const checkout = await nullIfNotFound(async () => getCheckouts(client)(pathSegment(provider, id)));
  if (checkout === null) return { status: "closed" };
  if (checkout.status === "open") return { status: "open" };
  if (!PAID.has(checkout.status)) return { status: "closed" };
  // The checkout's own `subscription_id` is one that was upgraded, not the resulting one. The person may have bought
  // the organization's other products, too.
  const { items } = await listAll(client)({
    external_customer_id: userId,
    active: true,
    limit: PAGE_SIZE,
  });
  const bought = items.find((subscription) => subscription.checkout_id === checkout.id);
  return { status: "paid", providerSubscriptionId: textAt(bought, "id") };
}
