import type { SubscriptionChange } from "../../domain/payment-api.ts";
import type { ConnectedProvider } from "../outbound/connected-provider.ts";
import { pathSegment } from "../outbound/null-if-not-found.ts";
import { requiredText } from "../outbound/response-fields.ts";
import type { SendRequest } from "../outbound/send-request.ts";
import { request } from "./requests.ts";

/** The variant belongs to the subscription, the quantity to its item. Both are invoiced at once, prorated. */
export async function changeSubscription(
  provider: ConnectedProvider,
  send: SendRequest,
  id: string,
  { priceId, seats }: SubscriptionChange,
): Promise<void> {
  const path = `/v1/subscriptions/${pathSegment(provider, id)}`;
  if (priceId !== null) {
    const variant = /^\d{1,15}$/.test(priceId) ? Number(priceId) : priceId;
    const attributes = { variant_id: variant, invoice_immediately: true };
    await send(request(provider, "PATCH", path, { data: { type: "subscriptions", id, attributes } }));
  }
  if (seats === null) return;
  const item = requiredText(
    provider,
    await send(request(provider, "GET", path)),
    ...["data", "attributes", "first_subscription_item", "id"],
  );
  const attributes = { quantity: seats, invoice_immediately: true };
  const data = { type: "subscription-items", id: item, attributes };
  await send(request(provider, "PATCH", `/v1/subscription-items/${pathSegment(provider, item)}`, { data }));
}
