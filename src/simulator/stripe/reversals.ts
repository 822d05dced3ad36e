import type { Reversal } from "../lifecycle/reversal.ts";
import type { EventContext, ReversalContext, WireEvent } from "../renderer.ts";
import { envelope } from "./envelope.ts";

type PaymentIds = { id: string; currency: string };

/** Since API version 2025-03-31 an invoice names no charge: this object links the two. */
export function invoicePayment({ id, currency, amount }: PaymentIds & { amount: number }): object {
  return {
    id: invoicePaymentId(id),
    object: "invoice_payment",
    invoice: id,
    amount_paid: amount,
    currency,
    status: "paid",
    is_default: true,
    payment: { type: "payment_intent", payment_intent: intentOf(id) },
  };
}

export function invoicePaymentId(invoiceId: string): string {
  return invoiceId.replace(/^in_/, "inpay_");
}

function intentOf(invoiceId: string): string {
  return invoiceId.replace(/^in_/, "pi_");
}

export function reversalId(invoiceId: string, { kind, number }: Reversal): string {
  const suffix = number === 1 ? "" : `_${number}`;
  return `${invoiceId.replace(/^in_/, kind === "refund" ? "re_" : "du_")}${suffix}`;
}

/** A refund or dispute. https://docs.stripe.com/api/refunds and disputes */
export function reversalJson({ id, currency }: PaymentIds, reversal: Reversal): object {
  const { kind, amount, createdAtSeconds } = reversal;
  const isRefund = kind === "refund";
  return {
    id: reversalId(id, reversal),
    object: kind,
    amount,
    currency,
    created: createdAtSeconds,
    charge: id.replace(/^in_/, "ch_"),
    payment_intent: intentOf(id),
    metadata: {},
    reason: isRefund ? "requested_by_customer" : "fraudulent",
    status: isRefund ? "succeeded" : disputeStatus(reversal),
  };
}

function disputeStatus({ isWon, isLost }: Reversal): string {
  return isWon ? "won" : isLost ? "lost" : "needs_response";
}

export function reversalEvents({ paymentId, payment, reversal }: ReversalContext): WireEvent[] {
  const { kind, number, isWon, isLost, changedAtSeconds } = reversal;
  const isClosed = isWon || isLost === true;
  const eventType =
    kind === "refund" ? "refund.created" : isClosed ? "charge.dispute.closed" : "charge.dispute.created";
  const object = reversalJson({ id: paymentId, currency: currencyOf(payment) }, reversal);
  const suffix = `reversal_${number}${isClosed ? `_${disputeStatus(reversal)}` : ""}`;
  return [envelope(payment, { eventType, suffix, atSeconds: changedAtSeconds, object })];
}

export function currencyOf({ step }: EventContext): string {
  return step.state.offer.currency.toLowerCase();
}
