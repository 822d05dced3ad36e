import type { PaymentState } from "../../domain/payments/payment-state.ts";
import type { PaymentSelection } from "../../domain/providers/payment-api.ts";
import type { ConnectedProvider } from "../outbound/connected-provider.ts";
import { nullIfNotFound } from "../outbound/null-if-not-found.ts";
import { MAX_PAGE_BYTES } from "../outbound/oldest-first.ts";
import { pathSegment } from "../outbound/path-segment.ts";
import { fetchedPayment, listedReversals, paymentState } from "../outbound/payment-state.ts";
import { dateAt, listAt, textAt, valueAt } from "../outbound/response-fields.ts";
import { beginCall } from "../outbound/send-request.ts";
import { JsonReader } from "../webhook/json-reader.ts";
import { nextPosition } from "./next-position.ts";
import { readAdjustment, readTransaction } from "./payments.ts";
import { get } from "./requests.ts";

const PAGE_SIZE = 30;

/** https://developer.paddle.com/api-reference/transactions/list-transactions */
export async function* listPayments(
  provider: ConnectedProvider,
  { since, providerSubscriptionId }: PaymentSelection,
): AsyncGenerator<PaymentState> {
  const query = new URLSearchParams({
    include: "adjustments",
    order_by: "id[ASC]",
    per_page: String(PAGE_SIZE),
    ...(since === null ? {} : { "created_at[GTE]": since.toISOString() }),
    ...(providerSubscriptionId === null ? {} : { subscription_id: providerSubscriptionId }),
  });
  for (;;) {
    const send = beginCall(provider, { maxBytes: MAX_PAGE_BYTES });
    const page = await send(get(provider, `/transactions?${query}`));
    for (const transaction of listAt(page, "data")) {
      const state = stateOf(transaction);
      if (state !== null) yield state;
    }
    const last = nextPosition(provider, page, { size: PAGE_SIZE });
    if (last === null) return;
    query.set("after", last);
  }
}

export async function fetchPayment(provider: ConnectedProvider, id: string): Promise<PaymentState | null> {
  const path = `/transactions/${pathSegment(provider, id)}?include=adjustments`;
  const send = beginCall(provider);
  const response = await nullIfNotFound(async () => send(get(provider, path)));
  return response && fetchedPayment(provider, id, stateOf(valueAt(response, "data")));
}

/** A transaction is `paid` for a moment before it is completed. */
function stateOf(transaction: unknown): PaymentState | null {
  const status = textAt(transaction, "status");
  const isPaid = status === "completed";
  const hasFailed =
    status === "past_due" ||
    listAt(transaction, "payments").some((attempt) => textAt(attempt, "status") === "error");
  return paymentState(
    () => readTransaction(isPaid ? "paid" : "failed", new JsonReader({ data: transaction })),
    {
      createdAt: dateAt(transaction, "billed_at") ?? dateAt(transaction, "created_at"),
      isUndecided: !isPaid && (!hasFailed || status === "paid"),
      reversals: listAt(transaction, "adjustments").flatMap((data) =>
        listedReversals(() => readAdjustment(new JsonReader({ data }))),
      ),
    },
  );
}
