import type { ChangeOrder } from "../../domain/providers/payment-api.ts";
import type { ConnectedProvider } from "../outbound/connected-provider.ts";
import { pathSegment } from "../outbound/path-segment.ts";
import { problem } from "../outbound/problems.ts";
import { textAt } from "../outbound/response-fields.ts";
import { sendInTurn } from "../outbound/send-in-turn.ts";
import type { SendRequest } from "../outbound/send-request.ts";
import { request } from "./requests.ts";

/** The variant belongs to the subscription, the quantity to its item. Both are invoiced at once, prorated. */
export async function changeSubscription(
  provider: ConnectedProvider,
  send: SendRequest,
  id: string,
  { priceId, seats }: ChangeOrder,
): Promise<void> {
  const path = `/v1/subscriptions/${pathSegment(provider, id)}`;
  // Before the variant is changed, and charged: not only one of the two.
  const before = seats === null ? null : await itemOf(provider, send, path);
  const changeVariant = (priceId: string) => {
    const variant = /^\d{1,15}$/.test(priceId) ? Number(priceId) : priceId;
    const attributes = { variant_id: variant, invoice_immediately: true };
    return send(request(provider, "PATCH", path, { data: { type: "subscriptions", id, attributes } }));
  };
  const changeQuantity = async (itemBefore: string) => {
    const item = priceId === null ? itemBefore : await itemOf(provider, send, path);
    const attributes = { quantity: seats, invoice_immediately: true };
    const data = { type: "subscription-items", id: item, attributes };
    return send(
      request(provider, "PATCH", `/v1/subscription-items/${pathSegment(provider, item)}`, { data }),
    );
  };
  await sendInTurn([
    ...(priceId === null ? [] : [() => changeVariant(priceId)]),
    ...(before === null ? [] : [() => changeQuantity(before)]),
  ]);
}

async function itemOf(provider: ConnectedProvider, send: SendRequest, path: string): Promise<string> {
  const response = await send(request(provider, "GET", path));
  const item = textAt(response, "data", "attributes", "first_subscription_item", "id");
  if (item !== null) return item;
  throw problem(provider, "unsupported", "the subscription has no item yet whose quantity could be changed", {
    remedy: "Its seats can be changed when its trial is over.",
    obstacle: "trial",
  });
}
