import type { PaymentEvent } from "../../domain/events/payment-event.ts";
import type { Reversal } from "../../domain/payments/payment.ts";
import { JsonReader } from "../webhook/json-reader.ts";
import { charge, latestPeriod, paymentEvent, paymentOf, reversal } from "../webhook/payment-report.ts";

/**
 * Events about payments alone. Since 2025-03-31 an invoice names no charge: `invoice_payment.paid` links the
 * two.
 */
export const STRIPE_PAYMENT_TYPES = [
  "invoice.paid",
  "invoice.payment_failed",
  "invoice_payment.paid",
  "refund.created",
  "refund.updated",
  "refund.failed",
  "charge.dispute.created",
  "charge.dispute.updated",
  "charge.dispute.closed",
] as const;

const TYPES: ReadonlySet<string> = new Set(STRIPE_PAYMENT_TYPES);

export function readStripePayment(eventType: string, body: unknown): PaymentEvent | null {
  if (!TYPES.has(eventType)) return null;
  const event = new JsonReader(body);
  const object = event.at("data", "object");
  switch (eventType as (typeof STRIPE_PAYMENT_TYPES)[number]) {
    case "invoice.paid":
      return invoice("paid", event, object);
    case "invoice.payment_failed":
      return invoice("failed", event, object);
    case "invoice_payment.paid": {
      const names = [object.idOrExpanded("invoice"), ...chargeNames(object.at("payment"))];
      return paymentEvent(linksOf(event, object), paymentOf(null, { names }));
    }
    case "refund.created":
    case "refund.updated":
    case "refund.failed":
      return reversalEvent(event, object, "refund", isRefunding(object.text("status")));
    case "charge.dispute.created":
    case "charge.dispute.updated":
    case "charge.dispute.closed":
      return reversalEvent(event, object, "dispute", isDisputed(object.text("status")));
    default:
      return null;
  }
}

function invoice(state: "paid" | "failed", event: JsonReader, object: JsonReader): PaymentEvent {
  const details = object.at("parent", "subscription_details");
  const before2025 = object.at("subscription_details");
  const paidAt = object.at("status_transitions").unixDate("paid_at");
  const id = object.id("id");
  const paid = charge({
    id,
    state,
    amount:
      state === "paid"
        ? (object.amount("amount_paid") ?? object.amount("total"))
        : (object.amount("amount_due") ?? object.amount("total")),
    currency: object.currency("currency"),
    refundedAmount: null,
    ...latestPeriod(object.at("lines").each("data")),
    receiptUrl: object.webUrl("hosted_invoice_url") ?? object.webUrl("invoice_pdf"),
    occurredAt: state === "paid" ? paidAt : null,
  });
  return paymentEvent(
    {
      ...linksOf(event, object),
      userId: details.at("metadata").id("userId") ?? before2025.at("metadata").id("userId"),
      providerSubscriptionId: details.idOrExpanded("subscription") ?? object.idOrExpanded("subscription"),
    },
    paymentOf(paid, { names: [id, ...chargeNames(object)] }),
  );
}

/** Of a checkout of mode `payment`. It has an invoice only where the checkout was told to make one. */
export function readSinglePayment(session: JsonReader) {
  const [intent] = chargeNames(session);
  const id = session.idOrExpanded("invoice") ?? intent ?? null;
  const paid = charge({
    id,
    state: "paid",
    amount: session.amount("amount_total"),
    currency: session.currency("currency"),
    refundedAmount: null,
    periodStart: null,
    periodEnd: null,
    receiptUrl: null,
    occurredAt: null,
  });
  return paymentOf(paid, { names: [id, intent ?? null] });
}

function reversalEvent(
  event: JsonReader,
  object: JsonReader,
  kind: Reversal["kind"],
  isInEffect: boolean,
): PaymentEvent {
  const [of = null] = chargeNames(object).filter((name) => name !== null);
  const amount = isInEffect ? object.amount("amount") : 0;
  return paymentEvent(
    linksOf(event, object),
    paymentOf(null, { reversal: reversal({ id: object.id("id"), of, kind, amount }) }),
  );
}

/** A payment intent has several charges when earlier ones failed: it comes first. */
function chargeNames(object: JsonReader): (string | null)[] {
  return [object.idOrExpanded("payment_intent"), object.idOrExpanded("charge")];
}

function linksOf(event: JsonReader, object: JsonReader) {
  return {
    occurredAtMicros: event.unixMicros("created"),
    userId: null,
    providerSubscriptionId: null,
    customerId: object.idOrExpanded("customer"),
  };
}

// A pending refund can still fail; Stripe sends `refund.updated` when it has succeeded.
function isRefunding(status: string | null): boolean {
  return status === null || status === "succeeded";
}

// An inquiry (`warning_...`) takes no money back.
const SETTLED = new Set(["won", "prevented"]);
function isDisputed(status: string | null): boolean {
  return status === null || !(SETTLED.has(status) || status.startsWith("warning_"));
}
