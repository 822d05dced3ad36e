import { Hono } from "hono";
import { readJson } from "../http/json-body.ts";
import { findPayment, paymentContext, paymentsOf } from "../server/payments.ts";
import type { ProviderSlot } from "../server/provider-slot.ts";
import { refundPayment } from "../server/reverse-payment.ts";
import type { SimulatedPayment } from "../server/state.ts";
import { document, LemonSqueezyProblem } from "./errors.ts";
import { refundedInvoice } from "./invoice.ts";
import { numberedPage } from "./page.ts";

/** https://docs.lemonsqueezy.com/api/subscription-invoices */
export function lemonSqueezyInvoices(slot: ProviderSlot): Hono {
  const app = new Hono();
  const required = (id: string): SimulatedPayment => {
    const payment = findPayment(slot, id);
    if (payment === null) throw new LemonSqueezyProblem(404, "The requested resource was not found.");
    return payment;
  };
  app.get("/", (c) => {
    const subscriptionId = new URL(c.req.url).searchParams.get("filter[subscription_id]");
    const { page, meta } = numberedPage(c, paymentsOf(slot, subscriptionId));
    return document(c, { meta: { page: meta }, data: page.map((payment) => invoiceJson(slot, payment)) });
  });
  app.get("/:id", (c) => document(c, { data: invoiceJson(slot, required(c.req.param("id"))) }));
  app.post("/:id/refund", async (c) => {
    const payment = required(c.req.param("id"));
    const amount = (await readJson(c))?.at("data").at("attributes").at("amount").wholeNumber() ?? null;
    const refund = refundPayment(slot, payment, amount);
    if (typeof refund === "string") throw new LemonSqueezyProblem(422, refund, "/data/attributes/amount");
    return document(c, { data: invoiceJson(slot, payment) });
  });
  return app;
}

function invoiceJson(slot: ProviderSlot, payment: SimulatedPayment): object {
  return refundedInvoice(paymentContext(slot, payment), payment.reversals);
}
