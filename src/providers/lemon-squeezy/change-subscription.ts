import type { ChangeOrder } from "../../domain/providers/payment-api.ts";
import type { PaymentApiProblem } from "../../domain/providers/payment-api-problem.ts";
import type { ConnectedProvider } from "../outbound/connected-provider.ts";
import { pathSegment } from "../outbound/path-segment.ts";
import { problem } from "../outbound/problems.ts";
import { textAt, valueAt, wholeNumberAt } from "../outbound/response-fields.ts";
import { sendInTurn } from "../outbound/send-in-turn.ts";
import type { SendRequest } from "../outbound/send-request.ts";
import { request } from "./requests.ts";

/**
 * The variant belongs to the subscription, the quantity to its item. Both are invoiced at once, prorated. A change of variant
 * has been seen to reset the quantity to 1 (github.com/lmsqueezy/lemonsqueezy.js/issues/146): the seats are then set again.
 */
export async function changeSubscription(
  provider: ConnectedProvider,
  send: SendRequest,
  id: string,
  { priceId, seats }: ChangeOrder,
): Promise<void> {
  const path = `/v1/subscriptions/${pathSegment(provider, id)}`;
  const readItem = async () =>
    valueAt(await send(request(provider, "GET", path)), "data", "attributes", "first_subscription_item");
  // Before the variant is changed, and charged: not only one of the two. The seats that stay are those that there are.
  const before = await readItem();
  const quantity = seats ?? wholeNumberAt(before, "quantity");
  if (seats !== null && textAt(before, "id") === null) throw noItemProblem(provider);
  const changeVariant = async (priceId: string) => {
    const variant = /^\d{1,15}$/.test(priceId) ? Number(priceId) : priceId;
    const attributes = { variant_id: variant, invoice_immediately: true };
    const data = { type: "subscriptions", id, attributes };
    assertChanged(provider, await send(request(provider, "PATCH", path, { data })), "variant_id", priceId);
  };
  // One seat is what a reset leaves: no second read is needed, which could fail after the plan has changed.
  if (priceId !== null && seats === null && quantity !== null && quantity <= 1) {
    await changeVariant(priceId);
    return;
  }
  const changeQuantity = async () => {
    const item = priceId === null ? before : await readItem();
    const itemId = textAt(item, "id");
    if (seats === null && (itemId === null || quantity === null)) return;
    if (itemId === null) throw noItemProblem(provider);
    if (wholeNumberAt(item, "quantity") === quantity || isUsageBased(item)) return;
    const data = {
      type: "subscription-items",
      id: itemId,
      attributes: { quantity, invoice_immediately: true },
    };
    const itemPath = `/v1/subscription-items/${pathSegment(provider, itemId)}`;
    const response = await send(request(provider, "PATCH", itemPath, { data }));
    assertChanged(provider, response, "quantity", String(quantity));
  };
  await sendInTurn([...(priceId === null ? [] : [() => changeVariant(priceId)]), changeQuantity]);
}

/**
 * A subscription that is paid through PayPal stays as it was, without an error: its customer has to confirm every change there.
 * https://docs.lemonsqueezy.com/help/orders/paypal-subscriptions
 */
function assertChanged(provider: ConnectedProvider, response: unknown, field: string, value: string): void {
  const present = textAt(response, "data", "attributes", field);
  if (present !== null && present !== value)
    throw problem(
      provider,
      "unsupported",
      `the ${field} is still ${present}, as when it is paid through PayPal`,
      {
        obstacle: "in_portal",
      },
    );
}

/** Billed afterwards: its quantity is always 0, and counts no seats. */
function isUsageBased(item: unknown): boolean {
  return valueAt(item, "is_usage_based") === true;
}

function noItemProblem(provider: ConnectedProvider): PaymentApiProblem {
  return problem(
    provider,
    "unsupported",
    "the subscription has no item yet whose quantity could be changed",
    {
      remedy: "Its seats can be changed when its trial is over.",
      obstacle: "trial",
    },
  );
}
