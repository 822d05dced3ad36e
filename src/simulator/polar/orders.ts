import { Hono } from "hono";
import { readJson } from "../http/json-body.ts";
import { findPayment, paymentContext, paymentsOf } from "../server/payments.ts";
import { findCustomer, findSubscription, type ProviderSlot } from "../server/provider-slot.ts";
import { refundPayment } from "../server/reverse-payment.ts";
import type { SimulatedPayment } from "../server/state.ts";
import { externalIdOf } from "./customer.ts";
import { notFound, unprocessable } from "./errors.ts";
import { numberedPage } from "./page.ts";
import { disputeJson, refundedOrder, refundJson } from "./reversals.ts";

/** https://polar.sh/docs/api-reference/orders, refunds and disputes */
export function polarOrders(slot: ProviderSlot): Hono {
  const app = new Hono();
  app.get("/orders/", (c) => {
    const since = Date.parse(c.req.query("created_after") ?? "1970-01-01");
    const externalId = c.req.query("external_customer_id");
    const listed = paymentsOf(slot, c.req.query("subscription_id") ?? null)
      .filter(({ atSeconds }) => atSeconds * 1_000 >= since)
      .filter((payment) => externalId === undefined || externalIdOfPayment(slot, payment) === externalId);
    const isNewestFirst = (c.req.query("sorting") ?? "-created_at").startsWith("-");
    const { page, pagination } = numberedPage(c, isNewestFirst ? listed : listed.toReversed());
    return c.json({ items: page.map((payment) => orderJson(slot, payment)), pagination });
  });
  app.get("/orders/:id", (c) => {
    const payment = findPayment(slot, c.req.param("id"));
    if (payment === null) throw notFound();
    return c.json(orderJson(slot, payment));
  });
  app.post("/refunds/", async (c) => {
    const request = await readJson(c);
    const orderId = request?.at("order_id").text() ?? "";
    const payment = findPayment(slot, orderId);
    if (payment === null) throw unprocessable(["order_id"], "Order not found");
    const refund = refundPayment(slot, payment, request?.at("amount").wholeNumber() ?? null);
    if (typeof refund === "string") throw unprocessable(["amount"], refund);
    return c.json(refundJson(payment, refund), 201);
  });
  app.get("/disputes/", (c) => {
    const orderId = c.req.query("order_id");
    const disputes = paymentsOf(slot, null)
      .filter(({ id }) => orderId === undefined || id === orderId)
      .flatMap((payment) => payment.reversals.map((reversal) => ({ payment, reversal })))
      .filter(({ reversal }) => reversal.kind === "dispute")
      .sort((a, b) => b.reversal.createdAtSeconds - a.reversal.createdAtSeconds);
    const { page, pagination } = numberedPage(c, disputes);
    return c.json({
      items: page.map(({ payment, reversal }) => disputeJson(payment, reversal)),
      pagination,
    });
  });
  return app;
}

function externalIdOfPayment(slot: ProviderSlot, { subscriptionId }: SimulatedPayment): string | null {
  const subscription = findSubscription(slot, subscriptionId);
  return subscription && externalIdOf(slot, subscription);
}

function orderJson(slot: ProviderSlot, payment: SimulatedPayment): object {
  const context = paymentContext(slot, payment);
  return {
    ...refundedOrder(context, payment.reversals),
    customer: { email: findCustomer(slot, context.ids.customerId)?.email ?? null },
  };
}
