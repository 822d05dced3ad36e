import { Hono } from "hono";
import { matches } from "../http/matches.ts";
import type { Reversal } from "../lifecycle/reversal.ts";
import { findPayment, paymentContext, paymentsOf } from "../server/payments.ts";
import { findCustomer, findSubscription, type ProviderSlot } from "../server/provider-slot.ts";
import { refundPayment } from "../server/reverse-payment.ts";
import type { SimulatedPayment } from "../server/state.ts";
import { externalIdOf, polarCustomer } from "./customer.ts";
import { notFound, readBody, unprocessable } from "./errors.ts";
import { inRequestedOrder, numberedPage } from "./page.ts";
import { disputeJson, refundedOrder, refundJson } from "./reversals.ts";

/** https://polar.sh/docs/api-reference/orders, refunds and disputes */
export function polarOrders(slot: ProviderSlot): Hono {
  const app = new Hono();
  app.get("/orders/", (c) => {
    const query = c.req.query();
    const since = Date.parse(query.created_after ?? "1970-01-01");
    const listed = paymentsOf(slot, query.subscription_id ?? null)
      .filter(({ atSeconds }) => atSeconds * 1_000 >= since)
      .filter(matches(c, "product_id", ({ state }) => state.offer.priceId))
      .filter((payment) => isBoughtBy(slot, payment, query));
    return numberedPage(c, inRequestedOrder(c, listed.toReversed()), (payment) => orderJson(slot, payment));
  });
  app.get("/orders/:id", (c) => {
    const payment = findPayment(slot, c.req.param("id"));
    if (payment === null) throw notFound();
    return c.json(orderJson(slot, payment));
  });
  app.get("/refunds/", (c) => {
    const listed = reversalsOf(slot, "refund", c.req.query("order_id")).filter(
      matches(c, "subscription_id", ({ payment }) => payment.subscriptionId),
    );
    return numberedPage(c, inRequestedOrder(c, listed), ({ payment, reversal }) =>
      refundJson(paymentIds(slot, payment), reversal),
    );
  });
  app.post("/refunds/", async (c) => {
    const request = await readBody(c);
    const payment = findPayment(slot, request.at("order_id").text() ?? "");
    if (payment === null) throw unprocessable(["order_id"], "Order not found");
    const refund = refundPayment(slot, payment, request.at("amount").wholeNumber());
    if (typeof refund === "string") throw unprocessable(["amount"], refund);
    return c.json(refundJson(paymentIds(slot, payment), refund), 201);
  });
  app.get("/disputes/", (c) =>
    numberedPage(
      c,
      inRequestedOrder(c, reversalsOf(slot, "dispute", c.req.query("order_id"))),
      ({ payment, reversal }) => disputeJson(paymentIds(slot, payment), reversal),
    ),
  );
  return app;
}

/** Oldest first. */
function reversalsOf(slot: ProviderSlot, kind: Reversal["kind"], orderId: string | undefined) {
  return paymentsOf(slot, null)
    .filter(({ id }) => orderId === undefined || id === orderId)
    .flatMap((payment) => payment.reversals.map((reversal) => ({ payment, reversal })))
    .filter(({ reversal }) => reversal.kind === kind)
    .sort((a, b) => a.reversal.createdAtSeconds - b.reversal.createdAtSeconds);
}

function isBoughtBy(
  slot: ProviderSlot,
  { subscriptionId }: SimulatedPayment,
  query: Readonly<Record<string, string>>,
): boolean {
  const subscription = findSubscription(slot, subscriptionId);
  if (subscription === null) return false;
  const { customer_id: customerId, external_customer_id: externalId, checkout_id: checkoutId } = query;
  return (
    (customerId === undefined || subscription.ids.customerId === customerId) &&
    (externalId === undefined || externalIdOf(slot, subscription) === externalId) &&
    (checkoutId === undefined || subscription.checkout.id === checkoutId)
  );
}

function paymentIds(slot: ProviderSlot, payment: SimulatedPayment) {
  return { id: payment.id, payment: paymentContext(slot, payment) };
}

function orderJson(slot: ProviderSlot, payment: SimulatedPayment): object {
  const context = paymentContext(slot, payment);
  const order = refundedOrder(context, payment.reversals);
  const customer = findCustomer(slot, context.ids.customerId);
  return customer === null ? order : { ...order, customer: polarCustomer(customer) };
}
