import type Stripe from "stripe";
import type { CheckoutEnd, CheckoutOrder, OpenedCheckout } from "../../domain/providers/payment-api.ts";
import type { ConnectedProvider } from "../outbound/connected-provider.ts";
import { nullIfNotFound } from "../outbound/null-if-not-found.ts";
import { pathSegment } from "../outbound/path-segment.ts";
import { requiredUrl, textAt } from "../outbound/response-fields.ts";
import { mapStripeErrors } from "./client.ts";
import { customerFor } from "./customer.ts";

/** A session with a longer reference is refused. The metadata name the user all the same. */
const MAX_REFERENCE_CHARACTERS = 200;

export async function createCheckout(
  provider: ConnectedProvider,
  client: Stripe,
  order: CheckoutOrder,
): Promise<OpenedCheckout> {
  const metadata = { userId: order.userId, planId: order.planId };
  const customer = await customerFor(provider, client, order);
  const session = await mapStripeErrors(provider, () =>
    client.checkout.sessions.create(
      {
        mode: "subscription",
        line_items: [{ price: order.priceId, quantity: order.seats }],
        success_url: order.successUrl,
        cancel_url: order.cancelUrl,
        ...(order.userId.length <= MAX_REFERENCE_CHARACTERS ? { client_reference_id: order.userId } : {}),
        metadata,
        // A subscription does not inherit its checkout's metadata.
        subscription_data: { metadata, ...(order.trialDays ? { trial_period_days: order.trialDays } : {}) },
        allow_promotion_codes: true,
        ...(customer === null ? { customer_email: order.email } : { customer }),
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

/** Expiring fails for a session that is complete or has already expired: its status tells which. */
export async function closeCheckout(
  provider: ConnectedProvider,
  client: Stripe,
  id: string,
): Promise<CheckoutEnd> {
  const session = pathSegment(provider, id);
  try {
    await mapStripeErrors(provider, () => client.checkout.sessions.expire(session));
    return { status: "closed" };
  } catch (refused) {
    const retrieved = await nullIfNotFound(() =>
      mapStripeErrors(provider, () => client.checkout.sessions.retrieve(session)),
    );
    if (retrieved === null || retrieved.status === "expired") return { status: "closed" };
    if (retrieved.status !== "complete") throw refused;
    const providerSubscriptionId =
      textAt(retrieved, "subscription") ?? textAt(retrieved, "subscription", "id");
    return { status: "paid", providerSubscriptionId };
  }
}
