import { Hono } from "hono";
import { findPayment, paymentContext, paymentsOf } from "../server/payments.ts";
import type { ProviderSlot } from "../server/provider-slot.ts";
import { refundPayment } from "../server/reverse-payment.ts";
import type { SimulatedPayment } from "../server/state.ts";
import { STORE_ID } from "./documents.ts";
import { document, LemonSqueezyProblem, notFound, readBody } from "./errors.ts";
import { refundedInvoice } from "./invoice.ts";
import { isAllowed, numberedPage } from "./page.ts";

/** https://docs.lemonsqueezy.com/api/subscription-invoices */
export function lemonSqueezyInvoices(slot: ProviderSlot): Hono {
  const app = new Hono();
  const required = (id: string): SimulatedPayment => {
    const payment = findPayment(slot, id);
    if (payment === null) throw notFound();
    return payment;
  };
  app.get("/", (c) => {
    const listed = paymentsOf(slot, c.req.query("filter[subscription_id]") ?? null)
      .filter(isAllowed(c, "store_id", () => STORE_ID))
      .filter(isAllowed(c, "status", (payment) => invoiceJson(slot, payment).attributes.status))
      .filter(isAllowed(c, "refunded", (payment) => String(invoiceJson(slot, payment).attributes.refunded)));
    return numberedPage(c, slot, listed, (payment) => invoiceJson(slot, payment));
  });
  app.get("/:id", (c) => document(c, { data: invoiceJson(slot, required(c.req.param("id"))) }));
  app.post("/:id/refund", async (c) => {
    const payment = required(c.req.param("id"));
    const amount = (await readBody(c)).at("data").at("attributes").at("amount").wholeNumber();
    const refund = refundPayment(slot, payment, amount);
    if (typeof refund === "string")
      throw new LemonSqueezyProblem(422, refund, { pointer: "/data/attributes/amount" });
    return document(c, { data: invoiceJson(slot, payment) });
  });
  return app;
}

function invoiceJson(slot: ProviderSlot, payment: SimulatedPayment) {
  return refundedInvoice(paymentContext(slot, payment), payment.reversals);
}
