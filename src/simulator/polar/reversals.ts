import { amountDue } from "../lifecycle/charge.ts";
import { type Reversal, reversedAmount } from "../lifecycle/reversal.ts";
import type { EventContext, ReversalContext, WireEvent } from "../renderer.ts";
import { rfc3339 } from "../rfc3339.ts";
import { uuid } from "../uuid.ts";
import { order } from "./order-document.ts";
import { customer } from "./subscription-document.ts";

/** Disputes are only listed. */
export function reversalEvents({ paymentId, payment, reversal, reversals }: ReversalContext): WireEvent[] {
  if (reversal.kind === "dispute") return [];
  const { number, changedAtSeconds } = reversal;
  const { subscriptionId } = payment.ids;
  const event = (eventType: string, data: object): WireEvent => ({
    eventId: `msg_${subscriptionId}_${payment.at}_${number}_${eventType}`,
    eventType,
    body: { type: eventType, timestamp: rfc3339(changedAtSeconds), data },
  });
  return [
    event("refund.created", refundJson({ id: paymentId, payment }, reversal)),
    event("order.updated", refundedOrder(payment, reversals)),
    event("order.refunded", refundedOrder(payment, reversals)),
  ];
}

type ReversedPayment = {
  id: string;
  /** What the event that reported the payment was rendered from. */
  payment: EventContext;
};

/** https://polar.sh/docs/api-reference/refunds */
export function refundJson(
  { id, payment: { ids, step } }: ReversedPayment,
  { number, amount, createdAtSeconds }: Reversal,
): object {
  return {
    id: uuid(`refund ${id} ${number}`),
    order_id: id,
    subscription_id: ids.subscriptionId,
    status: "succeeded",
    reason: "customer_request",
    amount,
    tax_amount: 0,
    created_at: rfc3339(createdAtSeconds),
    modified_at: null,
    metadata: {},
    currency: step.state.offer.currency.toLowerCase(),
    organization_id: uuid("organization"),
    customer_id: ids.customerId,
    revoke_benefits: false,
    dispute: null,
  };
}

/** https://polar.sh/docs/api-reference/disputes */
export function disputeJson(
  { id, payment }: ReversedPayment,
  { number, amount, isWon, isLost = false, createdAtSeconds, changedAtSeconds }: Reversal,
): object {
  return {
    id: uuid(`dispute ${id} ${number}`),
    order_id: id,
    amount,
    tax_amount: 0,
    status: isWon ? "won" : isLost ? "lost" : "needs_response",
    resolved: isWon || isLost,
    closed: isWon || isLost,
    created_at: rfc3339(createdAtSeconds),
    modified_at: changedAtSeconds === createdAtSeconds ? null : rfc3339(changedAtSeconds),
    currency: payment.step.state.offer.currency.toLowerCase(),
    reason: "fraudulent",
    evidence_due_by: null,
    past_due: false,
    payment_id: uuid(`payment ${id}`),
    case_id: null,
    customer: customer(payment),
  };
}

export function refundedOrder(payment: EventContext, reversals: readonly Reversal[]): object {
  const due = amountDue(payment.step.state);
  const refunded = reversedAmount(reversals, "refund");
  return {
    ...order(payment),
    status: refunded === 0 ? "paid" : refunded >= due ? "refunded" : "partially_refunded",
    refunded_amount: refunded,
    refunded_tax_amount: 0,
    refundable_amount: due - refunded,
  };
}
