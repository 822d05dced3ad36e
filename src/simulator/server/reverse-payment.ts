import { type Reversal, reversedAmount } from "../lifecycle/reversal.ts";
import { chargedAmount, hasFailed, paymentContext, refundedAmount } from "./payments.ts";
import { nowSeconds, type ProviderSlot } from "./provider-slot.ts";
import { queueEvents } from "./queue-events.ts";
import type { SimulatedPayment } from "./state.ts";

/**
 * Refunds a payment and reports it. Text: why that is refused.
 * @param amount in the currency's smallest unit; `null`: all that is left
 */
export function refundPayment(
  slot: ProviderSlot,
  payment: SimulatedPayment,
  amount: number | null = null,
): Reversal | string {
  const problem = problemOf(payment);
  if (problem !== null) return problem;
  const refundable = chargedAmount(payment) - refundedAmount(payment);
  const refunded = amount ?? refundable;
  if (refundable === 0) return "This payment has already been refunded.";
  if (!(Number.isInteger(refunded) && refunded >= 1 && refunded <= refundable))
    return `A refund is a whole number from 1 to ${refundable}.`;
  return addReversal(slot, payment, { kind: "refund", amount: refunded });
}

/** The customer disputes a payment at their bank. Text: why that is refused. */
export function disputePayment(slot: ProviderSlot, payment: SimulatedPayment): Reversal | string {
  const problem = problemOf(payment);
  if (problem !== null) return problem;
  if (reversedAmount(payment.reversals, "dispute") > 0) return "This payment is already disputed.";
  if (slot.traits.disputes === "refunded") return refundPayment(slot, payment);
  return addReversal(slot, payment, { kind: "dispute", amount: chargedAmount(payment) });
}

/** The dispute is decided, for or against the seller. Text: why that is refused. */
export function decideDispute(
  slot: ProviderSlot,
  payment: SimulatedPayment,
  outcome: "won" | "lost",
): Reversal | string {
  const dispute = openDispute(payment);
  if (dispute === undefined) return "This payment has no dispute that is open.";
  dispute.isWon = outcome === "won";
  dispute.isLost = outcome === "lost";
  dispute.changedAtSeconds = timeOfChange(slot, payment);
  return report(slot, payment, dispute);
}

/** A dispute of the payment that has not been decided; `undefined`: none. */
export function openDispute({ reversals }: Pick<SimulatedPayment, "reversals">): Reversal | undefined {
  return reversals.find(({ kind, isWon, isLost }) => kind === "dispute" && !isWon && isLost !== true);
}

/** Why nothing can be given back; `null`: something may. */
function problemOf(payment: SimulatedPayment): string | null {
  if (hasFailed(payment)) return "This payment has failed: nothing was paid.";
  if (chargedAmount(payment) === 0) return "Nothing was charged: credit has paid for it.";
  return null;
}

function addReversal(
  slot: ProviderSlot,
  payment: SimulatedPayment,
  { kind, amount }: Pick<Reversal, "kind" | "amount">,
): Reversal {
  const atSeconds = timeOfChange(slot, payment);
  const number = payment.reversals.length + 1;
  const times = { createdAtSeconds: atSeconds, changedAtSeconds: atSeconds };
  const reversal: Reversal = { number, kind, amount, isWon: false, ...times };
  payment.reversals.push(reversal);
  return report(slot, payment, reversal);
}

function report(slot: ProviderSlot, payment: SimulatedPayment, reversal: Reversal): Reversal {
  const { id: paymentId, subscriptionId, reversals } = payment;
  const context = { paymentId, payment: paymentContext(slot, payment), reversal, reversals };
  queueEvents(slot, subscriptionId, slot.renderer.payments?.reversalEvents(context) ?? []);
  slot.changed();
  return reversal;
}

/** Later than what happened to the payment before, by the provider's clock. */
function timeOfChange(slot: ProviderSlot, { atSeconds, reversals }: SimulatedPayment): number {
  const last = Math.max(atSeconds, ...reversals.map(({ changedAtSeconds }) => changedAtSeconds));
  return Math.max(nowSeconds(slot), last + slot.traits.clockStepSeconds);
}
