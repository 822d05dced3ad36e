import type { CheckoutEnd, CheckoutOrder, OpenedCheckout } from "../../domain/providers/payment-api.ts";
import type { ConnectedProvider } from "../outbound/connected-provider.ts";
import { nullIfNotFound } from "../outbound/null-if-not-found.ts";
import { pathSegment } from "../outbound/path-segment.ts";
import { problem } from "../outbound/problems.ts";
import { requiredText, requiredUrl, textAt, valueAt } from "../outbound/response-fields.ts";
import type { SendRequest } from "../outbound/send-request.ts";
import { customerFor } from "./customer.ts";
import { get, patch, post } from "./requests.ts";

/** The return URL is up to the page behind the default payment link, which runs Paddle's script. */
export async function createCheckout(
  provider: ConnectedProvider,
  send: SendRequest,
  order: CheckoutOrder,
): Promise<OpenedCheckout> {
  const customerId = await customerFor(provider, send, order);
  const transaction = { ...contentsOf(order), customer_id: customerId, collection_mode: "automatic" };
  return openedCheckout(
    provider,
    await send(post(provider, "/transactions", transaction, { repeatable: false })),
  );
}

export async function updateCheckout(
  provider: ConnectedProvider,
  send: SendRequest,
  id: string,
  order: CheckoutOrder,
): Promise<OpenedCheckout> {
  const path = `/transactions/${pathSegment(provider, id)}`;
  return openedCheckout(provider, await send(patch(provider, path, contentsOf(order))));
}

function contentsOf(order: CheckoutOrder): object {
  return {
    items: [{ price_id: order.priceId, quantity: order.seats }],
    // The resulting subscription inherits them.
    custom_data: { userId: order.userId, planId: order.planId },
  };
}

function openedCheckout(provider: ConnectedProvider, response: unknown): OpenedCheckout {
  if (valueAt(response, "data", "checkout", "url") === null)
    throw problem(provider, "rejected", "the transaction has no checkout URL", {
      remedy: "Set the default payment link in Paddle (Checkout, Checkout settings).",
    });
  return {
    id: requiredText(provider, response, "data", "id"),
    url: requiredUrl(provider, response, "data", "checkout", "url"),
    expiresAt: null,
  };
}

const PAID = new Set(["paid", "completed", "billed", "past_due"]);

/** A ready transaction is canceled; a draft, whose customer has given no address yet, cannot be. */
export async function closeCheckout(
  provider: ConnectedProvider,
  send: SendRequest,
  id: string,
): Promise<CheckoutEnd> {
  const path = `/transactions/${pathSegment(provider, id)}`;
  try {
    await send(patch(provider, path, { status: "canceled" }));
    return { status: "closed" };
  } catch (refused) {
    const transaction = await nullIfNotFound(async () => send(get(provider, path)));
    const status = textAt(transaction, "data", "status");
    if (transaction === null || status === "canceled") return { status: "closed" };
    if (status === "draft") return { status: "open" };
    if (status === null || !PAID.has(status)) throw refused;
    return { status: "paid", providerSubscriptionId: textAt(transaction, "data", "subscription_id") };
  }
}
