import type { Charge, PaymentStatus, Reversal } from "./payment.ts";

/** A payment as its provider has it now. Ids are the provider's. */
export type PaymentState = {
  providerSubscriptionId: string | null;
  customerId: string | null;
  userId: string | null;
  /**
   * `refundedAmount` as far as `reversals` does not contain it; periods only where the provider keeps the
   * payment's own.
   */
  charge: Charge & { refundedAmount: number };
  /** Unpaid so far, and the provider does not say whether a charge has failed: only its events do. */
  isUndecided: boolean;
  /** As in PaymentReport. */
  names: readonly string[];
  /** All refunds and disputes, where the provider lists them; else `[]`. */
  reversals: readonly Reversal[];
  /** The API key may not read disputes: those that are recorded still hold. */
  hasUnknownDisputes: boolean;
};

/** What refunds take back in total. */
export function refundedAmountOf({ charge, reversals }: PaymentState): number {
  return Math.max(charge.refundedAmount, sum(reversals, "refund"));
}

/** By the same rules as events: see `settle-payments.ts`. */
export function paymentStatusOf(state: PaymentState): PaymentStatus {
  const { charge, reversals } = state;
  const refunded = refundedAmountOf(state);
  if (sum(reversals, "dispute") > 0) return "disputed";
  if (refunded === 0) return charge.state;
  return refunded >= charge.amount ? "refunded" : "partly_refunded";
}

function sum(reversals: readonly Reversal[], kind: Reversal["kind"]): number {
  return reversals.reduce((total, reversal) => (reversal.kind === kind ? total + reversal.amount : total), 0);
}
