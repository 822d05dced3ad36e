import { type Context, Hono } from "hono";
import { readForm } from "../http/form.ts";
import type { Reversal } from "../lifecycle/reversal.ts";
import {
  chargedAmount,
  findPayment,
  paymentContext,
  paymentsOf,
  refundedAmount,
} from "../server/payments.ts";
import type { ProviderSlot } from "../server/provider-slot.ts";
import { refundPayment } from "../server/reverse-payment.ts";
import type { SimulatedPayment } from "../server/state.ts";
import { invalid, missing } from "./errors.ts";
import { invoice } from "./events.ts";
import { pageOf } from "./page.ts";
import { intentOf, invoicePayment, reversalId, reversalJson } from "./reversals.ts";

/** Invoices, their payments, refunds and disputes. https://docs.stripe.com/api/invoices */
export function stripeInvoices(slot: ProviderSlot): Hono {
  const app = new Hono();
  app.get("/invoices", (c) => {
    const query = new URL(c.req.url).searchParams;
    const since = Number(query.get("created[gte]") ?? 0);
    const listed = paymentsOf(slot, query.get("subscription")).filter(({ atSeconds }) => atSeconds >= since);
    const { page, hasMore } = pageOf(listed, { object: "invoice", idOf: ({ id }) => id }, query);
    const data = page.map((payment) => invoiceJson(slot, payment));
    return c.json({ object: "list", url: "/v1/invoices", has_more: hasMore, data });
  });
  app.get("/invoices/:id", (c) => {
    const payment = findPayment(slot, c.req.param("id"));
    if (payment === null) throw missing("invoice", c.req.param("id"), "id");
    return c.json(invoiceJson(slot, payment));
  });
  app.get("/invoice_payments", (c) => {
    const payment = paymentOf(slot, c.req.query("invoice") ?? "");
    const data = payment === null ? [] : [paymentJson(payment)];
    return c.json({ object: "list", url: "/v1/invoice_payments", has_more: false, data });
  });
  app.get("/refunds", (c) => listReversals(c, slot, "refund"));
  app.get("/disputes", (c) => listReversals(c, slot, "dispute"));
  app.post("/refunds", async (c) => {
    const form = await readForm(c);
    const intent = form.text("payment_intent") ?? "";
    const payment = findPayment(slot, `in_${intent.slice("pi_".length)}`);
    if (payment === null) throw missing("payment_intent", intent, "payment_intent", 400);
    if (refundedAmount(payment) >= chargedAmount(payment))
      throw invalid("Charge has already been refunded.", "payment_intent", "charge_already_refunded");
    const refund = refundPayment(slot, payment, form.wholeNumber("amount"));
    if (typeof refund === "string") throw invalid(refund, "amount", "charge_invalid_parameter");
    return c.json(reversalJson(idsOf(payment), refund));
  });
  return app;
}

/** The latest invoice that a subscription names has its id and the number of its last event. */
function paymentOf(slot: ProviderSlot, invoiceId: string): SimulatedPayment | null {
  const subscriptionId = invoiceId.replace(/^in_(.*)_\d+$/, "$1");
  return findPayment(slot, invoiceId) ?? paymentsOf(slot, subscriptionId)[0] ?? null;
}

function invoiceJson(slot: ProviderSlot, payment: SimulatedPayment): object {
  const payments = { object: "list", has_more: false, data: [paymentJson(payment)] };
  return { ...invoice(paymentContext(slot, payment)), payments };
}

function listReversals(c: Context, slot: ProviderSlot, kind: Reversal["kind"]): Response {
  const query = new URL(c.req.url).searchParams;
  const intent = query.get("payment_intent");
  const listed = paymentsOf(slot, null)
    .filter(({ id }) => intent === null || intentOf(id) === intent)
    .flatMap((payment) => payment.reversals.toReversed().map((reversal) => ({ payment, reversal })))
    .filter(({ reversal }) => reversal.kind === kind);
  const idOf = ({ payment, reversal }: (typeof listed)[number]) => reversalId(payment.id, reversal);
  const { page, hasMore } = pageOf(listed, { object: kind, idOf }, query);
  const data = page.map(({ payment, reversal }) => reversalJson(idsOf(payment), reversal));
  return c.json({ object: "list", url: `/v1/${kind}s`, has_more: hasMore, data });
}

function paymentJson(payment: SimulatedPayment): object {
  return invoicePayment({ ...idsOf(payment), amount: chargedAmount(payment) });
}

function idsOf({ id, state }: SimulatedPayment): { id: string; currency: string } {
  return { id, currency: state.offer.currency.toLowerCase() };
}
