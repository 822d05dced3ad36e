import { Hono } from "hono";
import { readForm } from "../http/form.ts";
import { chargedAmount, findPayment, paymentContext, paymentsOf, refundPayment } from "../server/payments.ts";
import type { ProviderSlot } from "../server/provider-slot.ts";
import type { SimulatedPayment } from "../server/state.ts";
import { invalid, missing } from "./errors.ts";
import { invoice } from "./events.ts";
import { pageOf } from "./page.ts";

/** Invoices, their payments and refunds; there are no disputes. https://docs.stripe.com/api/invoices */
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
    const data = payment === null ? [] : [invoicePayment(payment)];
    return c.json({ object: "list", url: "/v1/invoice_payments", has_more: false, data });
  });
  app.get("/refunds", (c) => {
    const query = new URL(c.req.url).searchParams;
    const intent = query.get("payment_intent");
    const refunded = paymentsOf(slot, null).filter(
      (payment) => payment.refundedAmount > 0 && (intent === null || intentOf(payment) === intent),
    );
    const { page, hasMore } = pageOf(refunded, { object: "refund", idOf: refundId }, query);
    return c.json({ object: "list", url: "/v1/refunds", has_more: hasMore, data: page.map(refund) });
  });
  app.get("/disputes", (c) => c.json({ object: "list", url: "/v1/disputes", has_more: false, data: [] }));
  app.post("/refunds", async (c) => {
    const intent = (await readForm(c)).text("payment_intent") ?? "";
    const payment = findPayment(slot, `in_${intent.slice("pi_".length)}`);
    if (payment === null) throw missing("payment_intent", intent, "payment_intent", 400);
    if (payment.refundedAmount > 0)
      throw invalid("Charge has already been refunded.", "payment_intent", "charge_already_refunded");
    refundPayment(slot, payment);
    return c.json(refund(payment));
  });
  return app;
}

/** The latest invoice that a subscription names has its id and the number of its last event. */
function paymentOf(slot: ProviderSlot, invoiceId: string): SimulatedPayment | null {
  const subscriptionId = invoiceId.replace(/^in_(.*)_\d+$/, "$1");
  return findPayment(slot, invoiceId) ?? paymentsOf(slot, subscriptionId)[0] ?? null;
}

function invoiceJson(slot: ProviderSlot, payment: SimulatedPayment): object {
  const payments = { object: "list", has_more: false, data: [invoicePayment(payment)] };
  return { ...invoice(paymentContext(slot, payment)), payments };
}

function invoicePayment(payment: SimulatedPayment): object {
  return {
    ...{ id: payment.id.replace(/^in_/, "inpay_"), object: "invoice_payment", invoice: payment.id },
    ...{ status: "paid", is_default: true },
    payment: { type: "payment_intent", payment_intent: intentOf(payment) },
  };
}

function intentOf({ id }: SimulatedPayment): string {
  return id.replace(/^in_/, "pi_");
}

function refundId({ id }: SimulatedPayment): string {
  return id.replace(/^in_/, "re_");
}

function refund(payment: SimulatedPayment): object {
  const { offer } = payment.state;
  return {
    ...{ id: refundId(payment), object: "refund", status: "succeeded" },
    ...{ amount: chargedAmount(payment), currency: offer.currency.toLowerCase() },
    payment_intent: intentOf(payment),
  };
}
