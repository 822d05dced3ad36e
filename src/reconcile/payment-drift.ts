import { type PaymentState, paymentStatusOf, refundedAmountOf } from "../domain/payments/payment-state.ts";
import type { VerifiablePayment } from "../store/payments/verify-payments.ts";
import type { FieldDrift } from "./subscription-drift.ts";

/** The fields in which a payment differs from its provider's answer; none: it matches. */
export function paymentDrift(ours: VerifiablePayment, theirs: PaymentState): readonly FieldDrift[] {
  const status = paymentStatusOf(theirs);
  if (theirs.isUndecided)
    return ours.status === "failed" ? [] : [{ field: "status", ours: ours.status, theirs: status }];
  const { charge } = theirs;
  const mayBeDisputed = theirs.hasUnknownDisputes && ours.status === "disputed";
  const fields: FieldDrift[] = [
    { field: "amount", ours: ours.amount, theirs: charge.amount },
    { field: "currency", ours: ours.currency, theirs: charge.currency },
    ...(mayBeDisputed ? [] : [{ field: "status", ours: ours.status, theirs: status }]),
    { field: "refundedAmount", ours: ours.refundedAmount, theirs: refundedAmountOf(theirs) },
    ...period("periodStart", ours.periodStart, charge.periodStart),
    ...period("periodEnd", ours.periodEnd, charge.periodEnd),
  ];
  return fields.filter(({ ours, theirs }) => ours !== theirs);
}

/** Nothing where the provider's answer has no period. */
function period(field: string, ours: Date | null, theirs: Date | null): FieldDrift[] {
  if (theirs === null) return [];
  return [{ field, ours: ours?.toISOString() ?? null, theirs: theirs.toISOString() }];
}
