import type { PaymentState } from "../../domain/payments/payment-state.ts";
import type { PaymentSelection } from "../../domain/providers/payment-api.ts";
import type { ConnectedProvider } from "../outbound/connected-provider.ts";
import { nullIfNotFound } from "../outbound/null-if-not-found.ts";
import { MAX_PAGE_BYTES } from "../outbound/oldest-first.ts";
import { pathSegment } from "../outbound/path-segment.ts";
import { fetchedPayment, paymentState } from "../outbound/payment-state.ts";
import { dateAt, listAt, textAt, valueAt } from "../outbound/response-fields.ts";
import { beginCall } from "../outbound/send-request.ts";
import { JsonReader } from "../webhook/json-reader.ts";
import { nextPage, PAGE_SIZE } from "./next-page.ts";
import { ORDER_PREFIX, readLemonSqueezyPayment } from "./payments.ts";
import { request } from "./requests.ts";

const INVOICES = "/v1/subscription-invoices";

/**
 * Invoices of subscriptions, and the refunded ones among the orders: a paid order's payment is its
 * subscription's first invoice. Invoices that were refunded since are listed too, however old they are.
 * https://docs.lemonsqueezy.com/api/subscription-invoices/list-all-subscription-invoices
 */
export async function* listPayments(
  provider: ConnectedProvider,
  { since, providerSubscriptionId }: PaymentSelection,
): AsyncGenerator<PaymentState> {
  const filter: Record<string, string> =
    providerSubscriptionId === null ? {} : { "filter[subscription_id]": providerSubscriptionId };
  for await (const invoice of newestFirst(provider, INVOICES, filter, since)) {
    const state = invoiceState(invoice);
    if (state !== null) yield state;
  }
  for await (const invoice of since === null ? [] : olderRefunded(provider, filter, since)) {
    const state = invoiceState(invoice);
    if (state !== null) yield state;
  }
  // Orders cannot be listed by subscription.
  if (providerSubscriptionId !== null) return;
  for await (const order of newestFirst(provider, "/v1/orders", {}, since)) {
    const state = orderState(order);
    if (state !== null && state.charge.refundedAmount > 0) yield state;
  }
}

export async function fetchPayment(provider: ConnectedProvider, id: string): Promise<PaymentState | null> {
  const isOrder = id.startsWith(ORDER_PREFIX);
  const segment = pathSegment(provider, isOrder ? id.slice(ORDER_PREFIX.length) : id);
  const path = `/v1/${isOrder ? "orders" : "subscription-invoices"}/${segment}`;
  const send = beginCall(provider);
  const response = await nullIfNotFound(async () => send(request(provider, "GET", path)));
  const data = valueAt(response, "data");
  return response && fetchedPayment(provider, id, isOrder ? orderState(data) : invoiceState(data));
}

/** Both lists are ordered by creation; an item that is added meanwhile only repeats another item. */
async function* newestFirst(
  provider: ConnectedProvider,
  path: string,
  filter: Record<string, string>,
  since: Date | null,
): AsyncGenerator<unknown> {
  for (let page = 1; ; page += 1) {
    const query = new URLSearchParams({
      ...filter,
      "page[number]": String(page),
      "page[size]": String(PAGE_SIZE),
    });
    const send = beginCall(provider, { maxBytes: MAX_PAGE_BYTES });
    const response = await send(request(provider, "GET", `${path}?${query}`));
    const items = listAt(response, "data");
    const recent = items.filter((item) => since === null || createdAt(item) >= since.getTime());
    yield* recent;
    if (recent.length < items.length) return;
    if (nextPage(provider, response, page) === null) return;
  }
}

const REFUNDED = ["refunded", "partial_refund"];

/** The list has no filter by the time of a refund: all that were ever refunded are read. */
async function* olderRefunded(
  provider: ConnectedProvider,
  filter: Record<string, string>,
  since: Date,
): AsyncGenerator<unknown> {
  for (const status of REFUNDED) {
    const refunded = newestFirst(provider, INVOICES, { ...filter, "filter[status]": status }, null);
    for await (const invoice of refunded)
      if (createdAt(invoice) < since.getTime() && changedAt(invoice) >= since.getTime()) yield invoice;
  }
}

const PAID = new Set(["paid", ...REFUNDED]);

function invoiceState(invoice: unknown): PaymentState | null {
  const isPaid = PAID.has(textAt(invoice, "attributes", "status") ?? "");
  const eventType = isPaid ? "subscription_payment_success" : "subscription_payment_failed";
  return stateOf(eventType, invoice, { isUndecided: !isPaid });
}

function orderState(order: unknown): PaymentState | null {
  return stateOf("order_refunded", order, { isUndecided: false });
}

function stateOf(
  eventType: string,
  data: unknown,
  { isUndecided }: { isUndecided: boolean },
): PaymentState | null {
  return paymentState(() => readLemonSqueezyPayment(eventType, new JsonReader({ data })), {
    createdAt: dateAt(data, "attributes", "created_at"),
    isUndecided,
  });
}

/** One without a time may be new. */
function createdAt(item: unknown): number {
  return dateAt(item, "attributes", "created_at")?.getTime() ?? Number.POSITIVE_INFINITY;
}

/** One without a time may have changed. */
function changedAt(item: unknown): number {
  const times = ["updated_at", "refunded_at"].flatMap(
    (name) => dateAt(item, "attributes", name)?.getTime() ?? [],
  );
  return times.length === 0 ? Number.POSITIVE_INFINITY : Math.max(...times);
}
