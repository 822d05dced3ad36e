import type { Offer } from "../lifecycle/offer.ts";
import { rfc3339 } from "../rfc3339.ts";
import { paddlePrice, paddleProduct } from "./price.ts";

export type Transaction = {
  id: string;
  status: "ready" | "completed" | "canceled" | "past_due";
  /** `subscription_recurring`: a renewal's. */
  origin: "web" | "api" | "subscription_recurring";
  offer: Offer;
  seats: number;
  customerId: string | null;
  subscriptionId: string | null;
  customData: object;
  period: { startSeconds: number; endSeconds: number } | null;
  checkoutUrl: string | null;
  createdAtSeconds: number;
  updatedAtSeconds: number;
};

export function paddleTransaction(transaction: Transaction): object {
  const { id, status, offer, seats, customerId, period } = transaction;
  const isCompleted = status === "completed";
  const updatedAt = rfc3339(transaction.updatedAtSeconds);
  const total = String(offer.amount * seats);
  return {
    id,
    status,
    customer_id: customerId,
    address_id: customerId && `add_${customerId}`,
    business_id: null,
    custom_data: transaction.customData,
    currency_code: offer.currency,
    origin: transaction.origin,
    subscription_id: transaction.subscriptionId,
    invoice_id: isCompleted ? `inv_${id.slice("txn_".length)}` : null,
    collection_mode: "automatic",
    invoice_number: isCompleted ? `SIM-${id.slice(-5)}` : null,
    discount_id: null,
    billing_details: null,
    billing_period: period && {
      starts_at: rfc3339(period.startSeconds),
      ends_at: rfc3339(period.endSeconds),
    },
    items: [{ price: paddlePrice(offer), price_id: offer.priceId, quantity: seats, proration: null }],
    details: {
      tax_rates_used: [],
      totals: {
        subtotal: total,
        tax: "0",
        discount: "0",
        total,
        grand_total: total,
        fee: null,
        credit: "0",
        balance: isCompleted ? "0" : total,
        earnings: null,
        currency_code: offer.currency,
      },
      payout_totals: null,
      adjusted_totals: null,
      adjusted_payout_totals: null,
      line_items: [lineItem(transaction)],
    },
    payments: isCompleted || status === "past_due" ? [paymentAttempt(id, total, updatedAt, isCompleted)] : [],
    checkout: { url: transaction.checkoutUrl },
    created_at: rfc3339(transaction.createdAtSeconds),
    updated_at: updatedAt,
    billed_at: isCompleted ? updatedAt : null,
    revised_at: null,
  };
}

/** A partial refund names it. */
export function lineItemIdOf(transactionId: string): string {
  return transactionId.replace(/^txn_/, "txnitm_");
}

function lineItem({ id, offer, seats }: Transaction): object {
  const totalsOf = (amount: number) => {
    const total = String(amount);
    return { subtotal: total, tax: "0", discount: "0", total };
  };
  return {
    ...{ id: lineItemIdOf(id), price_id: offer.priceId, quantity: seats, proration: null, tax_rate: "0" },
    ...{ unit_totals: totalsOf(offer.amount), totals: totalsOf(offer.amount * seats) },
    product: paddleProduct(offer),
  };
}

function paymentAttempt(transactionId: string, amount: string, at: string, isCaptured: boolean): object {
  const name = transactionId.slice("txn_".length);
  const card = { type: "visa", last4: "4242", expiry_month: 12, expiry_year: 2030, cardholder_name: "" };
  return {
    ...{ payment_attempt_id: `pat_${name}`, payment_method_id: `paymtd_${name}` },
    ...{ stored_payment_method_id: `stored_${name}`, amount },
    ...(isCaptured ? { status: "captured", error_code: null } : { status: "error", error_code: "declined" }),
    ...{ method_details: { type: "card", card }, created_at: at, captured_at: isCaptured ? at : null },
  };
}
