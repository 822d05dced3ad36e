import type { PaymentEvent } from "../../domain/events/payment-event.ts";
import type { Charge, Reversal } from "../../domain/payments/payment.ts";
import type { JsonReader } from "../webhook/json-reader.ts";
import { charge, forNoPeriod, paymentEvent, paymentOf, reversal } from "../webhook/payment-report.ts";

/** A transaction that only stores another payment method charges nothing. */
const UNPAID_ORIGIN = "subscription_payment_method_change";

/** Of items that do not recur: https://developer.paddle.com/changelog/2023/subscription-charge-transaction-origin */
const SINGLE_CHARGE_ORIGIN = "subscription_charge";

export function readTransaction(state: "paid" | "failed", event: JsonReader): PaymentEvent {
  const data = event.at("data");
  return paymentEvent(
    {
      occurredAtMicros: event.rfc3339Micros("occurred_at"),
      userId: data.at("custom_data").id("userId"),
      providerSubscriptionId: data.id("subscription_id"),
      customerId: data.id("customer_id"),
    },
    transactionPayment(state, data),
  );
}

export function transactionPayment(state: "paid" | "failed", data: JsonReader) {
  if (data.text("origin") === UNPAID_ORIGIN) return {};
  const totals = data.at("details", "totals");
  return paymentOf(
    charge({
      id: data.id("id"),
      state,
      amount: totals.amount("grand_total") ?? totals.amount("total"),
      currency: totals.currency("currency_code") ?? data.currency("currency_code"),
      refundedAmount: null,
      ...periodOf(data),
      // Paddle makes a link to the invoice when it is asked for one.
      receiptUrl: null,
      occurredAt: null,
    }),
  );
}

function periodOf(data: JsonReader): Pick<Charge, "periodStart" | "periodEnd"> {
  const period = data.at("billing_period");
  const periodStart = period.rfc3339Date("starts_at");
  if (data.text("origin") !== SINGLE_CHARGE_ORIGIN)
    return { periodStart, periodEnd: period.rfc3339Date("ends_at") };
  // The period that it names is the subscription's.
  return forNoPeriod(periodStart ?? data.rfc3339Date("billed_at") ?? data.rfc3339Date("created_at"));
}

/** Which adjustments take money back, and which of them return it to the seller. Credits do neither. */
const ADJUSTMENTS: Record<string, { kind: Reversal["kind"]; sign: 1 | -1 }> = {
  refund: { kind: "refund", sign: 1 },
  chargeback: { kind: "dispute", sign: 1 },
  chargeback_reverse: { kind: "dispute", sign: -1 },
};

/**
 * A chargeback is `reversed` by an adjustment of its own, which takes it back: counted by one alone, it would also take
 * back the next dispute. https://developer.paddle.com/api-reference/adjustments
 */
const IN_EFFECT: Record<Reversal["kind"], ReadonlySet<string>> = {
  refund: new Set(["approved"]),
  dispute: new Set(["approved", "reversed"]),
};

export function readAdjustment(event: JsonReader): PaymentEvent {
  const data = event.at("data");
  const action = data.text("action") ?? "";
  const adjustment = Object.hasOwn(ADJUSTMENTS, action) ? ADJUSTMENTS[action] : undefined;
  const isInEffect = IN_EFFECT[adjustment?.kind ?? "refund"].has(data.text("status") ?? "approved");
  const totals = data.at("totals");
  const amount = isInEffect ? (totals.amount("total") ?? totals.amount("grand_total")) : 0;
  const adjusted =
    adjustment === undefined
      ? null
      : reversal({
          id: data.id("id"),
          of: data.id("transaction_id"),
          kind: adjustment.kind,
          amount: amount && adjustment.sign * amount,
        });
  return paymentEvent(
    {
      occurredAtMicros: event.rfc3339Micros("occurred_at"),
      userId: null,
      providerSubscriptionId: data.id("subscription_id"),
      customerId: data.id("customer_id"),
    },
    paymentOf(null, { reversal: adjusted }),
  );
}
