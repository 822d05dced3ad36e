import type { ChangeOrder, ChangePreview } from "../../domain/providers/payment-api.ts";
import type { ConnectedProvider } from "../outbound/connected-provider.ts";
import { pathSegment } from "../outbound/path-segment.ts";
import { listAt, textAt, valueAt } from "../outbound/response-fields.ts";
import type { SendRequest } from "../outbound/send-request.ts";
import { unknownItem } from "../outbound/unknown-item.ts";
import { get, patch } from "./requests.ts";

export async function changeSubscription(
  provider: ConnectedProvider,
  send: SendRequest,
  id: string,
  change: ChangeOrder,
): Promise<void> {
  const path = `/subscriptions/${pathSegment(provider, id)}`;
  await send(patch(provider, path, await changeOf(provider, send, path, change)));
}

/** https://developer.paddle.com/api-reference/subscriptions/preview-subscription */
export async function previewChange(
  provider: ConnectedProvider,
  send: SendRequest,
  id: string,
  change: ChangeOrder,
): Promise<ChangePreview | null> {
  const path = `/subscriptions/${pathSegment(provider, id)}`;
  const body = await changeOf(provider, send, path, change);
  const preview = valueAt(await send(patch(provider, `${path}/preview`, body)), "data");
  const result = valueAt(preview, "update_summary", "result");
  const isCredit = textAt(result, "action") === "credit";
  // The summary leaves out what the customer's credit balance pays.
  const charged = textAt(preview, "immediate_transaction", "details", "totals", "grand_total");
  const amount = Number((isCredit ? null : charged) ?? textAt(result, "amount") ?? Number.NaN);
  const currency = textAt(result, "currency_code");
  if (!Number.isSafeInteger(amount) || currency === null) return null;
  return { amountDue: (isCredit ? -amount : amount) + 0, currency, at: new Date() };
}

/**
 * The list of items replaces the one before: add-ons are sent along, and what stays is sent as Paddle has it, which
 * may have been changed elsewhere.
 */
async function changeOf(
  provider: ConnectedProvider,
  send: SendRequest,
  path: string,
  { currentPriceId, priceId, seats }: ChangeOrder,
): Promise<object> {
  const subscription = valueAt(await send(get(provider, path)), "data");
  const items = listAt(subscription, "items").map((item) => ({
    price_id: textAt(item, "price", "id"),
    quantity: valueAt(item, "quantity"),
  }));
  const changed =
    items.find(({ price_id }) => price_id === currentPriceId) ?? (items.length > 1 ? undefined : items[0]);
  if (changed === undefined) throw unknownItem(provider);
  return {
    items: [
      { price_id: priceId ?? changed.price_id, quantity: seats ?? changed.quantity },
      ...items.filter((item) => item !== changed && item.price_id !== null),
    ],
    // Nothing is paid for yet in a trial, and Paddle refuses every other mode there.
    proration_billing_mode:
      textAt(subscription, "status") === "trialing" ? "do_not_bill" : "prorated_immediately",
  };
}
