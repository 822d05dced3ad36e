import type { PaymentEvent } from "../../domain/events/payment-event.ts";
import type { JsonReader } from "../webhook/json-reader.ts";
import { charge, paymentEvent, paymentOf } from "../webhook/payment-report.ts";

/** Orders and invoices of subscriptions are numbered apart. */
export const ORDER_PREFIX = "order_";

/** Every case of `readLemonSqueezyPayment`. */
export const LEMON_SQUEEZY_PAYMENT_TYPES = [
  "subscription_payment_success",
  "subscription_payment_recovered",
  "subscription_payment_refunded",
  "subscription_payment_failed",
  "order_refunded",
] as const;

export function readLemonSqueezyPayment(eventType: string, event: JsonReader): PaymentEvent | null {
  switch (eventType) {
    case "subscription_payment_success":
    case "subscription_payment_recovered":
    case "subscription_payment_refunded":
      return readPayment("paid", event, null);
    case "subscription_payment_failed":
      return readPayment("failed", event, null);
    case "order_refunded":
      return readPayment("paid", event, ORDER_PREFIX);
    default:
      return null;
  }
}

function readPayment(state: "paid" | "failed", event: JsonReader, idPrefix: string | null): PaymentEvent {
  const data = event.at("data");
  const attributes = data.at("attributes");
  const customData = event.at("meta").at("custom_data");
  const id = data.id("id");
  const total = attributes.amount("total");
  const urls = attributes.at("urls");
  const isRefunded = attributes.text("status") === "refunded" || attributes.flag("refunded") === true;
  return paymentEvent(
    {
      occurredAtMicros: attributes.rfc3339Micros("updated_at"),
      userId: customData.id("userId") ?? customData.id("user_id"),
      providerSubscriptionId: attributes.id("subscription_id"),
      customerId: attributes.id("customer_id"),
    },
    paymentOf(
      charge({
        id: id === null ? null : `${idPrefix ?? ""}${id}`,
        state,
        amount: total,
        currency: attributes.currency("currency"),
        refundedAmount: attributes.amount("refunded_amount") ?? (isRefunded ? total : null),
        periodStart: null,
        periodEnd: null,
        isForChange: attributes.text("billing_reason") === "updated",
        receiptUrl: urls.webUrl("invoice_url") ?? urls.webUrl("receipt"),
        occurredAt: attributes.rfc3339Date("created_at"),
      }),
    ),
  );
}
