import { Hono } from "hono";
import { chargedAmount, findPayment, paymentContext, paymentsOf, refundPayment } from "../server/payments.ts";
import type { ProviderSlot } from "../server/provider-slot.ts";
import type { SimulatedPayment } from "../server/state.ts";
import { document, LemonSqueezyProblem } from "./errors.ts";
import { invoice } from "./events.ts";
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
  app.post("/:id/refund", (c) => {
    const payment = required(c.req.param("id"));
    refundPayment(slot, payment);
    return document(c, { data: invoiceJson(slot, payment) });
  });
  return app;
}

function invoiceJson(slot: ProviderSlot, payment: SimulatedPayment): object {
  const paid = invoice(paymentContext(slot, payment));
  if (payment.refundedAmount === 0) return paid;
  const status = payment.refundedAmount >= chargedAmount(payment) ? "refunded" : "partial_refund";
  return {
    ...paid,
    attributes: {
      ...paid.attributes,
      ...{ status, refunded: status === "refunded", refunded_amount: payment.refundedAmount },
    },
  };
}
