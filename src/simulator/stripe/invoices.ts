import { type Context, Hono } from "hono";
import { readForm } from "../http/form.ts";
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
import type { SimulatedPayment } from "../server/state.ts";
import { invalid, missing } from "./errors.ts";
import { invoice } from "./invoice.ts";
import { findAwaiting, findOwing, isAwaiting, openInvoice, openInvoiceId } from "./open-invoices.ts";
import { isCreatedWithin, listResponse } from "./page.ts";
import { intentOf, invoicePayment, invoicePaymentId, reversalId, reversalJson } from "./reversals.ts";

/** Invoices, their payments, refunds and disputes. https://docs.stripe.com/api/invoices */
export function stripeInvoices(slot: ProviderSlot): Hono {
  const app = new Hono();
  app.get("/invoices", (c) => {
    const { subscription, customer, status } = c.req.query();
    const paid = paymentsOf(slot, subscription ?? null).map((payment) => ({
      id: payment.id,
      status: hasFailed(payment) ? "open" : "paid",
      atSeconds: payment.atSeconds,
      customerId: () => customerIdOf(slot, payment),
      show: () => invoiceJson(slot, payment),
    }));
    const open = slot.state.subscriptions
      .filter(isAwaiting)
      .filter(({ ids }) => subscription === undefined || ids.subscriptionId === subscription)
      .map((awaiting) => ({
        id: openInvoiceId(awaiting),
        status: "open",
        atSeconds: awaiting.startedAtSeconds,
        customerId: () => awaiting.ids.customerId,
        show: () => openInvoice(slot, awaiting),
      }));
    const listed = [...open.toReversed(), ...paid]
      .filter((listed) => status === undefined || listed.status === status)
      .filter(({ customerId }) => customer === undefined || customerId() === customer)
      .filter(({ atSeconds }) => isCreatedWithin(c, atSeconds));
    return listResponse(c, listed, {
      object: "invoice",
      url: "/v1/invoices",
      idOf: ({ id }) => id,
      show: ({ show }) => show(),
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
    const payment = findPayment(slot, `in_${intent.slice("pi_".length)}`);
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

function customerIdOf(slot: ProviderSlot, { subscriptionId }: SimulatedPayment): string | null {
  return findSubscription(slot, subscriptionId)?.ids.customerId ?? null;
}

function listReversals(c: Context, slot: ProviderSlot, kind: Reversal["kind"]): Response {
  const intent = c.req.query("payment_intent");
  const listed = paymentsOf(slot, null)
    .filter(({ id }) => intent === undefined || intentOf(id) === intent)
    .flatMap((payment) => payment.reversals.toReversed().map((reversal) => ({ payment, reversal })))
    .filter(({ reversal }) => reversal.kind === kind)
    .filter(({ reversal }) => isCreatedWithin(c, reversal.createdAtSeconds));
  return listResponse(c, listed, {
    object: kind,
    url: `/v1/${kind}s`,
    idOf: ({ payment, reversal }) => reversalId(payment.id, reversal),
    show: ({ payment, reversal }) => reversalJson(idsOf(payment), reversal),
  });
}

function paymentJson(payment: SimulatedPayment): object {
  return invoicePayment({ ...idsOf(payment), amount: chargedAmount(payment) });
}

function idsOf({ id, state }: SimulatedPayment): { id: string; currency: string } {
  return { id, currency: state.offer.currency.toLowerCase() };
}
