import type { PaymentEvent } from "../../domain/events/payment-event.ts";
import type { Charge } from "../../domain/payments/payment.ts";
import type { JsonReader } from "../webhook/json-reader.ts";
import { charge, forNoPeriod, paymentEvent, paymentOf, reversal } from "../webhook/payment-report.ts";

/** The statuses of an order that was paid. */
export const PAID_ORDER: ReadonlySet<string> = new Set(["paid", "refunded", "partially_refunded"]);

/** The user whom our checkout named, else the one whose id Polar keeps with the customer. */
export function userIdIn(data: JsonReader): string | null {
  return data.at("metadata").id("userId") ?? data.at("customer").id("external_id");
}

export function readOrder(event: JsonReader): PaymentEvent {
  const data = event.at("data");
  return paymentEvent(
    {
      occurredAtMicros: event.rfc3339Micros("timestamp"),
      userId: userIdIn(data),
      providerSubscriptionId: data.id("subscription_id"),
      customerId: data.id("customer_id"),
    },
    orderPayment(data),
  );
}

/** Polar reports no failed payments: an order becomes `paid`, or its subscription past due. */
export function orderPayment(data: JsonReader) {
  const amount = chargedAmount(data);
  const refunded = data.amount("refunded_amount");
  return paymentOf(
    charge({
      id: data.id("id"),
      state: "paid",
      amount,
      currency: data.currency("currency"),
      // Totals of refunds are without tax, which is counted apart.
      refundedAmount:
        data.text("status") === "refunded"
          ? amount
          : refunded === null
            ? null
            : refunded + (data.amount("refunded_tax_amount") ?? 0),
      ...periodOf(data),
      // Invoices are made when asked for, in the portal.
      receiptUrl: data.webUrl("invoice_url"),
      occurredAt: data.rfc3339Date("created_at"),
    }),
  );
}

function periodOf(data: JsonReader): Pick<Charge, "periodStart" | "periodEnd"> {
  const subscription = data.at("subscription");
  const periodStart = subscription.rfc3339Date("current_period_start");
  // What was used beyond the plan, more often than the plan is paid.
  if (data.text("billing_reason") === "subscription_meter_cycle") return forNoPeriod(periodStart);
  // An order contains its subscription as it is now: the refund of an older one does not name the period that was paid.
  const orderedAt = data.rfc3339Date("created_at");
  if (orderedAt !== null && periodStart !== null && orderedAt < periodStart)
    return { periodStart: null, periodEnd: null };
  return { periodStart, periodEnd: subscription.rfc3339Date("current_period_end") };
}

/**
 * Polar sends an order that only credits the customer as paid too: its total is negative, and nothing is due.
 */
function chargedAmount(data: JsonReader): number | null {
  // The customer's balance pays a part, or all, of the total; a debt adds to it.
  const due = data.amount("due_amount");
  if (due !== null) return due;
  const total = data.amount("total_amount") ?? data.amount("net_amount") ?? data.amount("amount");
  return total === null ? null : Math.max(0, total + (data.amount("applied_balance_amount") ?? 0));
}

export function readRefund(event: JsonReader): PaymentEvent {
  const data = event.at("data");
  const refund = reversal({
    id: data.id("id"),
    of: data.id("order_id"),
    kind: "refund",
    amount: refundedAmount(data),
  });
  return paymentEvent(
    {
      occurredAtMicros: event.rfc3339Micros("timestamp"),
      userId: null,
      providerSubscriptionId: data.id("subscription_id"),
      customerId: data.id("customer_id"),
    },
    paymentOf(null, { reversal: refund }),
  );
}

function refundedAmount(data: JsonReader): number | null {
  const status = data.text("status");
  if (status !== null && status !== "succeeded") return 0;
  const amount = data.amount("amount");
  return amount === null ? null : amount + (data.amount("tax_amount") ?? 0);
}
