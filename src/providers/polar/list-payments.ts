import { getOrders, listOrders } from "@polar-sh/sdk/2026-10/services/orders";
import type { PaymentState } from "../../domain/payments/payment-state.ts";
import type { PaymentSelection } from "../../domain/providers/payment-api.ts";
import type { ConnectedProvider } from "../outbound/connected-provider.ts";
import { nullIfNotFound } from "../outbound/null-if-not-found.ts";
import { MAX_PAGE_BYTES } from "../outbound/oldest-first.ts";
import { pathSegment } from "../outbound/path-segment.ts";
import { fetchedPayment, paymentState } from "../outbound/payment-state.ts";
import { dateAt, listAt, textAt } from "../outbound/response-fields.ts";
import { beginCall } from "../outbound/send-request.ts";
import { JsonReader } from "../webhook/json-reader.ts";
import { polarClient } from "./client.ts";
import { type Disputes, disputesOf, disputesSince } from "./disputes.ts";
import { nextPage, PAGE_SIZE } from "./next-page.ts";
import { PAID_ORDER, readOrder } from "./payments.ts";
import { ordersRefundedSince } from "./refunds.ts";

/**
 * Oldest first, so that an order that is made meanwhile does not shift the remaining pages. Polar sends no events for
 * disputes, nor any while the endpoint is disabled: orders that were disputed or refunded since are listed too, however
 * old they are.
 */
export async function* listPayments(
  provider: ConnectedProvider,
  { since, providerSubscriptionId }: PaymentSelection,
): AsyncGenerator<PaymentState> {
  const disputes = await disputesSince(provider, since);
  const listed = new Set<string>();
  for (let page = 1; ; page += 1) {
    const client = polarClient(provider, beginCall(provider, { maxBytes: MAX_PAGE_BYTES }));
    const response = await listOrders(client)({
      page,
      limit: PAGE_SIZE,
      sorting: ["created_at"],
      ...(since === null ? {} : { created_after: since.toISOString() }),
      ...(providerSubscriptionId === null ? {} : { subscription_id: providerSubscriptionId }),
    });
    const orders = listAt(response, "items");
    for (const order of orders) {
      const state = stateOf(order, disputes);
      if (state === null) continue;
      listed.add(state.charge.id);
      yield state;
    }
    if (nextPage(provider, response, page) === null) break;
  }
  if (providerSubscriptionId !== null) return;
  const refunded = since === null ? [] : await ordersRefundedSince(provider, since);
  for (const id of new Set([...(disputes?.keys() ?? []), ...refunded])) {
    const order = listed.has(id) ? null : await fetchOrder(provider, id);
    const state = order && stateOf(order, await disputesOf(provider, id));
    if (state !== null) yield state;
  }
}

export async function fetchPayment(provider: ConnectedProvider, id: string): Promise<PaymentState | null> {
  const order = await fetchOrder(provider, id);
  return order && fetchedPayment(provider, id, stateOf(order, await disputesOf(provider, id)));
}

async function fetchOrder(provider: ConnectedProvider, id: string): Promise<object | null> {
  const client = polarClient(provider, beginCall(provider));
  return nullIfNotFound(async () => getOrders(client)(pathSegment(provider, id)));
}

function stateOf(order: unknown, disputes: Disputes): PaymentState | null {
  const id = textAt(order, "id");
  return paymentState(() => readOrder(new JsonReader({ data: order })), {
    createdAt: dateAt(order, "created_at"),
    isUndecided: !PAID_ORDER.has(textAt(order, "status") ?? ""),
    reversals: (id === null ? undefined : disputes?.get(id)) ?? [],
    hasUnknownDisputes: disputes === null,
  });
}
