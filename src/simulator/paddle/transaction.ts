import type { Offer } from "../lifecycle/offer.ts";
import { rfc3339 } from "../rfc3339.ts";
import { paddlePrice } from "./price.ts";

export type Transaction = {
  id: string;
  status: "ready" | "completed" | "canceled";
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
      line_items: [],
    },
    payments: [],
    checkout: { url: transaction.checkoutUrl },
    created_at: rfc3339(transaction.createdAtSeconds),
    updated_at: updatedAt,
    billed_at: isCompleted ? updatedAt : null,
    revised_at: null,
  };
}
