import { amountDue, chargeTotals } from "../lifecycle/charge.ts";
import { type Reversal, reversedAmount } from "../lifecycle/reversal.ts";
import {
  type EventContext,
  emailOf,
  type ReversalContext,
  subscriptionData,
  type WireEvent,
} from "../renderer.ts";
import { rfc3339 } from "../rfc3339.ts";
import { uuid } from "../uuid.ts";
import { amounts } from "./amounts.ts";
import { nameOf, numberOf } from "./names.ts";

export function invoiceId({ ids, at, chargeAt = at }: EventContext): string {
  return numberOf(`invoice ${ids.subscriptionId} ${chargeAt}`);
}

type Invoice = { type: string; id: string; attributes: InvoiceAttributes };

type InvoiceAttributes = Record<string, unknown> & { status: string; refunded: boolean };

export function invoice(context: EventContext): Invoice {
  const { step, ids } = context;
  const { offer } = step.state;
  const id = invoiceId(context);
  // What is credited is taken off the subtotal.
  const { discount, due: total } = chargeTotals(step.state);
  return {
    type: "subscription-invoices",
    id,
    attributes: {
      store_id: 1,
      subscription_id: Number(ids.subscriptionId),
      customer_id: Number(ids.customerId),
      user_name: nameOf(context),
      user_email: emailOf(context),
      billing_reason: billingReason(context),
      currency: offer.currency,
      ...(step.event === "charge failed"
        ? { status: "pending", status_formatted: "Pending" }
        : { status: "paid", status_formatted: "Paid" }),
      currency_rate: "1.00000000",
      card_brand: "visa",
      card_last_four: "4242",
      ...amounts(
        { subtotal: total + discount, discount_total: discount, tax: 0, total, refunded_amount: 0 },
        offer.currency,
      ),
      tax_inclusive: false,
      refunded: false,
      refunded_at: null,
      urls: { invoice_url: `https://app.lemonsqueezy.example/my-orders/invoices/${id}` },
      created_at: rfc3339(step.atSeconds),
      updated_at: rfc3339(step.atSeconds),
      test_mode: true,
    },
  };
}

function billingReason({ lifecycle, step }: EventContext): string {
  if (step.event === "change charged") return "updated";
  return step.state.periodStartSeconds === lifecycle.startedAtSeconds ? "initial" : "renewal";
}

/** The invoice after refunds. */
export function refundedInvoice(payment: EventContext, reversals: readonly Reversal[]): Invoice {
  const paid = invoice(payment);
  const refunded = reversedAmount(reversals, "refund");
  if (refunded === 0) return paid;
  const { offer } = payment.step.state;
  const isRefunded = refunded >= amountDue(payment.step.state);
  const changedAt = Math.max(...reversals.map(({ changedAtSeconds }) => changedAtSeconds));
  return {
    ...paid,
    attributes: {
      ...paid.attributes,
      status: isRefunded ? "refunded" : "partial_refund",
      status_formatted: isRefunded ? "Refunded" : "Partial refund",
      refunded: isRefunded,
      refunded_at: rfc3339(changedAt),
      ...amounts({ refunded_amount: refunded }, offer.currency),
      updated_at: rfc3339(changedAt),
    },
  };
}

export function reversalEvents({ payment, reversal, reversals }: ReversalContext): WireEvent[] {
  const { ids, run, at } = payment;
  const eventType = "subscription_payment_refunded";
  const meta = {
    test_mode: true,
    event_name: eventType,
    webhook_id: uuid(`${run} ${ids.subscriptionId} ${at} refund ${reversal.number}`),
    custom_data: subscriptionData(payment),
  };
  return [{ eventId: "", eventType, body: { meta, data: refundedInvoice(payment, reversals) } }];
}
