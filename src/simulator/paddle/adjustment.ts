import { amountDue } from "../lifecycle/charge.ts";
import type { Reversal } from "../lifecycle/reversal.ts";
import type { SubscriptionState } from "../lifecycle/subscription.ts";
import type { EventContext, ReversalContext, WireEvent } from "../renderer.ts";
import { rfc3339 } from "../rfc3339.ts";
import { lineItemIdOf } from "./transaction.ts";

/** As a transaction lists them: a dispute that was won has two, which cancel each other out. */
export function adjustmentsOf(payment: PaymentFacts & { reversals: readonly Reversal[] }): object[] {
  return payment.reversals.flatMap((reversal) => {
    const status = reversal.isWon ? "reversed" : "approved";
    const firstAdjustment = adjustment(payment, { ...reversal, isWon: false }, { status });
    return reversal.isWon ? [firstAdjustment, adjustment(payment, reversal)] : [firstAdjustment];
  });
}

/** Refunds wait for Paddle's approval, and are reported twice. A chargeback that is lost stays as it is. */
export function reversalEvents({ paymentId, payment, reversal }: ReversalContext): WireEvent[] {
  if (reversal.isLost) return [];
  const { kind, changedAtSeconds } = reversal;
  const { subscriptionId, customerId } = payment.ids;
  const facts = { id: paymentId, subscriptionId, customerId, state: payment.step.state };
  const created = { eventType: "adjustment.created", atSeconds: changedAtSeconds };
  if (kind === "dispute") return [adjustmentEvent(payment, created, adjustment(facts, reversal), reversal)];
  const pending = adjustment(facts, reversal, { status: "pending_approval" });
  const approved = { eventType: "adjustment.updated", atSeconds: changedAtSeconds + 0.001 };
  return [
    adjustmentEvent(payment, created, pending, reversal),
    adjustmentEvent(payment, approved, adjustment(facts, reversal), reversal),
  ];
}

function adjustmentEvent(
  { ids, at }: EventContext,
  { eventType, atSeconds }: { eventType: string; atSeconds: number },
  object: object,
  { number, isWon }: Reversal,
): WireEvent {
  const suffix = `${eventType.slice("adjustment.".length)}${isWon ? "_reverse" : ""}`;
  const name = `${ids.subscriptionId.slice("sub_".length)}_${at}_${number}_${suffix}`;
  return {
    eventId: `evt_${name}`,
    eventType,
    body: {
      event_id: `evt_${name}`,
      event_type: eventType,
      occurred_at: rfc3339(atSeconds),
      notification_id: `ntf_${name}`,
      data: object,
    },
  };
}

type PaymentFacts = {
  id: string;
  subscriptionId: string;
  customerId?: string | null;
  state: SubscriptionState;
};

export function adjustment(
  { id, subscriptionId, customerId = null, state }: PaymentFacts,
  { number, kind, amount, isWon, createdAtSeconds, changedAtSeconds }: Reversal,
  { status = "approved" }: { status?: "pending_approval" | "approved" | "reversed" } = {},
): object {
  const { currency } = state.offer;
  const total = String(amount);
  const isFull = amount === amountDue(state);
  const suffix = `${number === 1 ? "" : `_${number}`}${isWon ? "_reverse" : ""}`;
  return {
    id: `adj_${id}${suffix}`,
    action: kind === "refund" ? "refund" : isWon ? "chargeback_reverse" : "chargeback",
    type: isFull ? "full" : "partial",
    status,
    transaction_id: id,
    subscription_id: subscriptionId,
    currency_code: currency,
    customer_id: customerId,
    reason: "requested",
    credit_applied_to_balance: false,
    items: [
      {
        id: `adjitm_${id}${suffix}`,
        item_id: lineItemIdOf(id),
        proration: null,
        type: isFull ? "full" : "partial",
        amount: total,
        totals: { subtotal: total, tax: "0", total },
      },
    ],
    totals: {
      subtotal: total,
      tax: "0",
      total,
      fee: "0",
      earnings: "0",
      currency_code: currency,
    },
    payout_totals: null,
    created_at: rfc3339(createdAtSeconds),
    updated_at: rfc3339(changedAtSeconds),
  };
}
