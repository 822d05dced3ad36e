import { randomUUID } from "node:crypto";
import { Hono } from "hono";
import { readJson } from "../http/json-body.ts";
import { chargedAmount, findPayment, paymentContext, paymentsOf, refundPayment } from "../server/payments.ts";
import { findCustomer, findSubscription, type ProviderSlot } from "../server/provider-slot.ts";
import type { SimulatedPayment } from "../server/state.ts";
import { externalIdOf } from "./customer.ts";
import { notFound, unprocessable } from "./errors.ts";
import { order } from "./events.ts";
import { numberedPage } from "./page.ts";

/** https://polar.sh/docs/api-reference/orders and refunds */
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
    const orderId = (await readJson(c))?.at("order_id").text() ?? "";
    const payment = findPayment(slot, orderId);
    if (payment === null) throw unprocessable(["order_id"], "Order not found");
    refundPayment(slot, payment);
    return c.json({ id: randomUUID(), order_id: orderId, status: "succeeded" }, 201);
  });
  return app;
}

function externalIdOfPayment(slot: ProviderSlot, { subscriptionId }: SimulatedPayment): string | null {
  const subscription = findSubscription(slot, subscriptionId);
  return subscription && externalIdOf(slot, subscription);
}

function orderJson(slot: ProviderSlot, payment: SimulatedPayment): object {
  const context = paymentContext(slot, payment);
  const refundable = chargedAmount(payment) - payment.refundedAmount;
  const isRefunded = payment.refundedAmount > 0;
  return {
    ...order(context),
    status: isRefunded ? "refunded" : "paid",
    refunded_amount: payment.refundedAmount,
    refunded_tax_amount: 0,
    refundable_amount: refundable,
    customer: { email: findCustomer(slot, context.ids.customerId)?.email ?? null },
  };
}
