import type { ChargeTotals } from "../lifecycle/charge.ts";
import type { ChargeLine } from "../lifecycle/charge-line.ts";
import type { Offer } from "../lifecycle/offer.ts";
import { rfc3339 } from "../rfc3339.ts";
import { paddlePrice, paddleProduct } from "./price.ts";

export type Transaction = {
  id: string;
  status: "ready" | "completed" | "canceled" | "past_due";
  /** `subscription_recurring`: a renewal's; `subscription_update`: a change's. */
  origin: "web" | "api" | "subscription_recurring" | "subscription_update";
  offer: Offer;
  lines: readonly ChargeLine[];
  totals: ChargeTotals;
  discountId: string | null;
  customerId: string | null;
  subscriptionId: string | null;
  customData: object;
  period: { startSeconds: number; endSeconds: number } | null;
  checkoutUrl: string | null;
  createdAtSeconds: number;
  updatedAtSeconds: number;
};

export function paddleTransaction(transaction: Transaction) {
  const { id, status, offer, customerId, period } = transaction;
  const isCompleted = status === "completed";
  const updatedAt = rfc3339(transaction.updatedAtSeconds);
  // What is credited is taken off the whole, not charged by a line.
  const lines = transaction.lines.filter(({ subtotal }) => subtotal >= 0);
  const sum = (field: "subtotal" | "discount") => lines.reduce((total, line) => total + line[field], 0);
  const [subtotal, discount, due] = [sum("subtotal"), sum("discount"), transaction.totals.due];
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
    discount_id: transaction.discountId,
    billing_details: null,
    billing_period: period && {
      starts_at: rfc3339(period.startSeconds),
      ends_at: rfc3339(period.endSeconds),
    },
    items: lines.map((line) => ({
      price: paddlePrice(line.offer),
      price_id: line.offer.priceId,
      quantity: line.seats,
      proration: prorationOf(line),
    })),
    details: {
      tax_rates_used: [],
      totals: {
        subtotal: String(subtotal),
        tax: "0",
        discount: String(discount),
        total: String(subtotal - discount),
        grand_total: String(due),
        fee: null,
        credit: String(subtotal - discount - due),
        credit_to_balance: String(Math.max(0, -transaction.totals.credited)),
        balance: isCompleted ? "0" : String(due),
        earnings: null,
        currency_code: offer.currency,
      },
      payout_totals: null,
      adjusted_totals: null,
      adjusted_payout_totals: null,
      line_items: lines.map((line, index) => lineItem(id, line, index)),
    },
    payments:
      isCompleted || status === "past_due" ? [paymentAttempt(id, String(due), updatedAt, isCompleted)] : [],
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

function lineItem(transactionId: string, line: ChargeLine, index: number): object {
  const { offer, seats, subtotal, discount } = line;
  const id = lineItemIdOf(transactionId);
  const totalsOf = (amount: number, discounted: number) => {
    const total = String(amount - discounted);
    return { subtotal: String(amount), tax: "0", discount: String(discounted), total };
  };
  return {
    id: index === 0 ? id : `${id}_${index}`,
    price_id: offer.priceId,
    quantity: seats,
    proration: prorationOf(line),
    tax_rate: "0",
    unit_totals: totalsOf(Math.round(subtotal / seats), Math.round(discount / seats)),
    totals: totalsOf(subtotal, discount),
    product: paddleProduct(offer),
  };
}

function prorationOf({ offer, seats, subtotal, isProration, startSeconds, endSeconds }: ChargeLine) {
  if (!isProration) return null;
  return {
    rate: String(Number((subtotal / Math.max(1, offer.amount * seats)).toFixed(5))),
    billing_period: { starts_at: rfc3339(startSeconds), ends_at: rfc3339(endSeconds) },
  };
}

function paymentAttempt(transactionId: string, amount: string, at: string, isCaptured: boolean): object {
  const name = transactionId.slice("txn_".length);
  const card = { type: "visa", last4: "4242", expiry_month: 12, expiry_year: 2030, cardholder_name: "" };
  return {
    payment_attempt_id: `pat_${name}`,
    payment_method_id: `paymtd_${name}`,
    stored_payment_method_id: `stored_${name}`,
    amount,
    ...(isCaptured ? { status: "captured", error_code: null } : { status: "error", error_code: "declined" }),
    method_details: { type: "card", card },
    created_at: at,
    captured_at: isCaptured ? at : null,
  };
}
