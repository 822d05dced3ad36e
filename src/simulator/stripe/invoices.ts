import { type Context, Hono } from "hono";
import { readForm } from "../http/form.ts";
import { matches } from "../http/matches.ts";
import { applyCommand } from "../lifecycle/apply-command.ts";
import type { Reversal } from "../lifecycle/reversal.ts";
import { emitEvents } from "../server/emit-events.ts";
import {
  chargedAmount,
  findPayment,
  hasFailed,
  paymentContext,
  paymentsOf,
  refundedAmount,
} from "../server/payments.ts";
import { findSubscription, nowSeconds, type ProviderSlot } from "../server/provider-slot.ts";
import { refundPayment } from "../server/reverse-payment.ts";
import type { SimulatedPayment, SimulatedSubscription } from "../server/state.ts";
import { invalid, missing } from "./errors.ts";
import { invoice } from "./invoice.ts";
import { findAwaiting, findOwing, isAwaiting, openInvoice, openInvoiceId } from "./open-invoices.ts";
import { isCreatedWithin, listResponse } from "./page.ts";
import { invoicePayment, invoicePaymentId, reversalId, reversalJson } from "./reversals.ts";

/** Invoices, their payments, refunds and disputes. https://docs.stripe.com/api/invoices */
export function stripeInvoices(slot: ProviderSlot): Hono {
  const app = new Hono();
  app.get("/invoices", (c) => {
    const { subscription } = c.req.query();
    const open = slot.state.subscriptions
      .filter(isAwaiting)
      .filter(matches(c, "subscription", ({ ids }) => ids.subscriptionId));
    const listed = [...open.toReversed(), ...paymentsOf(slot, subscription ?? null)]
      .filter(matches(c, "status", statusOf))
      .filter(matches(c, "customer", (listed) => customerIdOf(slot, listed)))
      .filter(
        isCreatedWithin(c, (listed) => (isCharge(listed) ? listed.atSeconds : listed.startedAtSeconds)),
      );
    return listResponse(c, listed, {
      object: "invoice",
      url: "/v1/invoices",
      idOf: (listed) => (isCharge(listed) ? listed.id : openInvoiceId(listed)),
      show: (listed) => (isCharge(listed) ? invoiceJson(slot, listed) : openInvoice(slot, listed)),
    });
  });
  app.get("/invoices/:id", (c) => {
    const invoice = invoiceOf(slot, c.req.param("id"));
    if (invoice === null) throw missing("invoice", c.req.param("id"), "id");
    return c.json(invoice);
  });
  app.post("/invoices/:id/pay", (c) => {
    const id = c.req.param("id");
    const owing = findOwing(slot, id);
    if (owing === null)
      throw invoiceOf(slot, id) === null
        ? missing("invoice", id, "invoice")
        : invalid("Invoice is already paid");
    const paid = applyCommand(owing, { to: "pay what is owed" }, nowSeconds(slot));
    if (typeof paid === "string") throw invalid(paid);
    emitEvents(slot, paid);
    return c.json(invoiceOf(slot, id) as object);
  });
  app.get("/invoice_payments", (c) => {
    const { invoice: invoiceId, status } = c.req.query();
    const payments = invoiceId === undefined ? paymentsOf(slot, null) : [paymentOf(slot, invoiceId)];
    const listed = payments
      .filter((payment) => payment !== null)
      .filter(isCharged)
      .filter(() => status === undefined || status === "paid");
    return listResponse(c, listed, {
      object: "invoice_payment",
      url: "/v1/invoice_payments",
      idOf: ({ id }) => invoicePaymentId(id),
      show: paymentJson,
    });
  });
  app.get("/refunds", (c) => listReversals(c, slot, "refund"));
  app.get("/disputes", (c) => listReversals(c, slot, "dispute"));
  app.post("/refunds", async (c) => {
    const form = await readForm(c);
    const intent = form.text("payment_intent") ?? "";
    const payment = paymentOfIntent(slot, intent);
    if (payment === null || hasFailed(payment))
      throw missing("payment_intent", intent, "payment_intent", 400);
    if (refundedAmount(payment) >= chargedAmount(payment))
      throw invalid("Charge has already been refunded.", "payment_intent", "charge_already_refunded");
    const refund = refundPayment(slot, payment, form.wholeNumber("amount"));
    if (typeof refund === "string") throw invalid(refund, "amount", "charge_invalid_parameter");
    return c.json(reversalJson(idsOf(payment), refund));
  });
  return app;
}

/**
 * A subscription whose plan was changed to another interval in the portal names an invoice that was never
 * charged.
 */
function paymentOf(slot: ProviderSlot, invoiceId: string): SimulatedPayment | null {
  const subscriptionId = invoiceId.replace(/^in_(.*)_\d+$/, "$1");
  return findPayment(slot, invoiceId) ?? paymentsOf(slot, subscriptionId)[0] ?? null;
}

/** An invoice was charged, or waits for its first payment. */
type Invoiced = SimulatedPayment | SimulatedSubscription;

function isCharge(invoiced: Invoiced): invoiced is SimulatedPayment {
  return "reversals" in invoiced;
}

function statusOf(invoiced: Invoiced): "open" | "paid" {
  return isCharge(invoiced) && !hasFailed(invoiced) ? "paid" : "open";
}

function invoiceJson(slot: ProviderSlot, payment: SimulatedPayment): object {
  return { ...invoice(paymentContext(slot, payment)), id: payment.id };
}

export function invoiceOf(slot: ProviderSlot, id: string): object | null {
  const payment = findPayment(slot, id);
  if (payment !== null) return invoiceJson(slot, payment);
  const awaiting = findAwaiting(slot, id);
  return awaiting && openInvoice(slot, awaiting);
}

/** An invoice that credit pays has no payment. */
function isCharged(payment: SimulatedPayment): boolean {
  return !hasFailed(payment) && chargedAmount(payment) > 0;
}

/** Only shown when expanded. */
export function paymentsOfInvoice(slot: ProviderSlot, invoiceId: string): object {
  const payment = findPayment(slot, invoiceId);
  const data = payment === null || !isCharged(payment) ? [] : [paymentJson(payment)];
  return { object: "list", has_more: false, data, url: `/v1/invoice_payments?invoice=${invoiceId}` };
}

function customerIdOf(slot: ProviderSlot, invoiced: Invoiced): string | null {
  const subscription = isCharge(invoiced) ? findSubscription(slot, invoiced.subscriptionId) : invoiced;
  return subscription?.ids.customerId ?? null;
}

function listReversals(c: Context, slot: ProviderSlot, kind: Reversal["kind"]): Response {
  const intent = c.req.query("payment_intent");
  const payments = intent === undefined ? paymentsOf(slot, null) : [paymentOfIntent(slot, intent)];
  const listed = payments
    .filter((payment) => payment !== null)
    .flatMap((payment) => payment.reversals.toReversed().map((reversal) => ({ payment, reversal })))
    .filter(({ reversal }) => reversal.kind === kind)
    .filter(isCreatedWithin(c, ({ reversal }) => reversal.createdAtSeconds));
  return listResponse(c, listed, {
    object: kind,
    url: `/v1/${kind}s`,
    idOf: ({ payment, reversal }) => reversalId(payment.id, reversal),
    show: ({ payment, reversal }) => reversalJson(idsOf(payment), reversal),
  });
}

function paymentOfIntent(slot: ProviderSlot, intent: string): SimulatedPayment | null {
  return intent.startsWith("pi_") ? findPayment(slot, `in_${intent.slice("pi_".length)}`) : null;
}

function paymentJson(payment: SimulatedPayment): object {
  return invoicePayment({ ...idsOf(payment), amount: chargedAmount(payment) });
}

function idsOf({ id, state }: SimulatedPayment): { id: string; currency: string } {
  return { id, currency: state.offer.currency.toLowerCase() };
}
