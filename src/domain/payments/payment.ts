/** What became of a payment. */
export const PAYMENT_STATUSES = ["paid", "failed", "refunded", "partly_refunded", "disputed"] as const;

export type PaymentStatus = (typeof PAYMENT_STATUSES)[number];

/**
 * What an event says about a payment. Ids are the provider's. An event may speak of a payment that no other
 * event has named yet: a refund can arrive before the payment, and names it by another id.
 */
export type PaymentReport = {
  charge: Charge | null;
  /** Other ids of the payment `names[0]`, under which refunds and disputes may name it; or `[]`. */
  names: readonly string[];
  reversal: Reversal | null;
};

/** The payment itself. */
export type Charge = {
  id: string;
  state: "paid" | "failed";
  /** In the currency's smallest unit. */
  amount: number;
  /** ISO 4217, upper case. */
  currency: string;
  /** In total so far; `null`: not in this event. */
  refundedAmount: number | null;
  /** Both the same: it is for no period, but for something beside the plan. */
  periodStart: Date | null;
  periodEnd: Date | null;
  /** It is for a change within a period, as the provider says instead of naming the period. */
  isForChange?: boolean;
  receiptUrl: string | null;
  /** `null`: the time of the event. */
  occurredAt: Date | null;
};

/** A refund or dispute, from an event of its own. */
export type Reversal = {
  id: string;
  kind: "refund" | "dispute";
  /** An id of the payment. */
  of: string;
  /** 0: not in effect, or not any more. Negative: takes back another reversal of the same payment. */
  amount: number;
};
