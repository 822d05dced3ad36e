import type Stripe from "stripe";
import type { Reversal } from "../../domain/payments/payment.ts";
import type { PaymentState } from "../../domain/payments/payment-state.ts";
import type { PaymentSelection } from "../../domain/providers/payment-api.ts";
import type { ConnectedProvider } from "../outbound/connected-provider.ts";
import { nullIfNotFound } from "../outbound/null-if-not-found.ts";
import { MAX_PAGE_BYTES } from "../outbound/oldest-first.ts";
import { pathSegment } from "../outbound/path-segment.ts";
import { fetchedPayment, listedReversals, paymentState } from "../outbound/payment-state.ts";
import { listAt, textAt, valueAt } from "../outbound/response-fields.ts";
import { beginCall } from "../outbound/send-request.ts";
import { mapStripeErrors, stripeClient } from "./client.ts";
import { nextPosition, PAGE_SIZE } from "./next-position.ts";
import { namesOf, type PaymentName } from "./payment-names.ts";
import { readStripePayment } from "./payments.ts";

/**
 * Invoices with their payments. Refunds and disputes name only those: for all invoices they are listed once,
 * for fewer by payment. https://docs.stripe.com/api/invoices/list
 */
export async function* listPayments(
  provider: ConnectedProvider,
  { since, providerSubscriptionId }: PaymentSelection,
): AsyncGenerator<PaymentState> {
  const isAll = since === null && providerSubscriptionId === null;
  const reversals = isAll ? await reversalsBy(provider, {}) : null;
  const pages = eachPage(provider, (client, after) =>
    client.invoices.list({
      limit: PAGE_SIZE,
      expand: ["data.payments"],
      ...after,
      ...(since === null ? {} : { created: { gte: Math.floor(since.getTime() / 1000) } }),
      ...(providerSubscriptionId === null ? {} : { subscription: providerSubscriptionId }),
    }),
  );
  for await (const invoice of pages) {
    const state = stateOf(invoice, reversals ?? (await reversalsOf(provider, invoice)));
    if (state !== null) yield state;
  }
}

export async function fetchPayment(provider: ConnectedProvider, id: string): Promise<PaymentState | null> {
  const client = stripeClient(provider, beginCall(provider));
  const invoice = await nullIfNotFound(() =>
    mapStripeErrors(provider, () =>
      client.invoices.retrieve(pathSegment(provider, id), { expand: ["payments"] }),
    ),
  );
  return invoice && fetchedPayment(provider, id, stateOf(invoice, await reversalsOf(provider, invoice)));
}

function stateOf(invoice: object, reversals: Reversals): PaymentState | null {
  const isPaid = textAt(invoice, "status") === "paid";
  const wasAttempted = "attempted" in invoice && invoice.attempted === true;
  const names = namesIn(invoice).map(({ id }) => id);
  const created = Number(textAt(invoice, "created") ?? Number.NaN);
  const eventType = isPaid ? "invoice.paid" : "invoice.payment_failed";
  const state = paymentState(() => readStripePayment(eventType, { data: { object: invoice } }), {
    createdAt: Number.isNaN(created) ? null : new Date(created * 1000),
    isUndecided: !isPaid && !wasAttempted,
    reversals: names.flatMap((name) => reversals.get(name) ?? []),
  });
  // The webhook of an older API version named its payment in the invoice itself.
  return state && { ...state, names: [...new Set([state.charge.id, ...names, ...state.names])] };
}

function namesIn(invoice: object): PaymentName[] {
  return listAt(invoice, "payments", "data").flatMap((item) => namesOf(valueAt(item, "payment")));
}

/** Refunds and disputes by what they name; `null`: an unreadable one. */
type Reversals = ReadonlyMap<string, readonly (Reversal | null)[]>;

async function reversalsOf(provider: ConnectedProvider, invoice: object): Promise<Reversals> {
  const reversals = await Promise.all(
    namesIn(invoice).map(({ by, id }) => reversalsBy(provider, { [by]: id })),
  );
  return new Map(reversals.flatMap((ofPayment) => [...ofPayment]));
}

async function reversalsBy(
  provider: ConnectedProvider,
  filter: { [by in PaymentName["by"]]?: string },
): Promise<Reversals> {
  const reversalsByPayment = new Map<string, (Reversal | null)[]>();
  const add = (eventType: string, object: object) => {
    const [name] = namesOf(object);
    if (name === undefined) return;
    // One without an amount is unreadable too.
    const [reversal = null] = listedReversals(() => readStripePayment(eventType, { data: { object } }));
    reversalsByPayment.set(name.id, [...(reversalsByPayment.get(name.id) ?? []), reversal]);
  };
  const refunds = eachPage(provider, (client, after) =>
    client.refunds.list({ limit: PAGE_SIZE, ...filter, ...after }),
  );
  for await (const refund of refunds) add("refund.updated", refund);
  const disputes = eachPage(provider, (client, after) =>
    client.disputes.list({ limit: PAGE_SIZE, ...filter, ...after }),
  );
  for await (const dispute of disputes) add("charge.dispute.updated", dispute);
  return reversalsByPayment;
}

async function* eachPage<Item>(
  provider: ConnectedProvider,
  list: (client: Stripe, after: { starting_after?: string }) => PromiseLike<{ data: Item[] }>,
): AsyncGenerator<Item> {
  for (let last: string | null = null; ; ) {
    const client = stripeClient(provider, beginCall(provider, { maxBytes: MAX_PAGE_BYTES }));
    const after: { starting_after?: string } = last === null ? {} : { starting_after: last };
    const page = await mapStripeErrors(provider, async () => list(client, after));
    yield* page.data;
    last = nextPosition(provider, page);
    if (last === null) return;
  }
}
