/** A refund or dispute of a payment. */
export type Reversal = {
  /** Its position among those of the payment, from 1. */
  number: number;
  kind: "refund" | "dispute";
  /** In the currency's smallest unit. */
  amount: number;
  /** A dispute that was decided for the seller: it takes nothing back any more. */
  isWon: boolean;
  /** A dispute that was decided against the seller; older states do not have it. */
  isLost?: boolean;
  createdAtSeconds: number;
  changedAtSeconds: number;
};

/** What refunds, or disputes, take back in total. */
export function reversedAmount(reversals: readonly Reversal[], kind: Reversal["kind"]): number {
  return reversals
    .filter((reversal) => reversal.kind === kind && !reversal.isWon)
    .reduce((total, { amount }) => total + amount, 0);
}
