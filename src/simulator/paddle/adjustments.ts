import { Hono } from "hono";
import type { Json } from "../http/json-body.ts";
import { matchesAny } from "../http/matches.ts";
import { findPayment } from "../server/payments.ts";
import { findSubscription, type ProviderSlot } from "../server/provider-slot.ts";
import { refundPayment } from "../server/reverse-payment.ts";
import type { SimulatedPayment } from "../server/state.ts";
import { adjustment, adjustmentsOf } from "./adjustment.ts";
import { body } from "./body.ts";
import { data, invalidField, noEntity } from "./errors.ts";
import { cursorPage } from "./page.ts";
import { lineItemIdOf } from "./transaction.ts";

/** Refunds, in full or in part. https://developer.paddle.com/api-reference/adjustments */
export function paddleAdjustments(slot: ProviderSlot): Hono {
  const app = new Hono();
  app.get("/", (c) => {
    const listed = slot.state.payments
      .filter(matchesAny(c, "transaction_id", ({ id }) => id))
      .filter(matchesAny(c, "subscription_id", ({ subscriptionId }) => subscriptionId))
      .map((payment) => withCustomer(slot, payment))
      .filter(matchesAny(c, "customer_id", ({ customerId }) => customerId))
      .flatMap((payment) => adjustmentsOf(payment) as { id: string; action: string; status: string }[])
      .filter(matchesAny(c, "action", ({ action }) => action))
      .filter(matchesAny(c, "status", ({ status }) => status));
    return cursorPage(c, slot, listed, {
      path: "/adjustments",
      idOf: ({ id }) => id,
      show: (object) => object,
    });
  });
  app.post("/", async (c) => {
    const request = await body(c);
    const id = request.at("transaction_id").text() ?? "";
    if (request.at("action").text() !== "refund") throw invalidField("action", "must be refund");
    const payment = findPayment(slot, id);
    if (payment === null) throw noEntity(id);
    const refund = refundPayment(slot, payment, amountIn(request, id));
    if (typeof refund === "string") throw invalidField("items", refund);
    return data(c, adjustment(withCustomer(slot, payment), refund, { status: "pending_approval" }), 201);
  });
  return app;
}

function withCustomer(slot: ProviderSlot, payment: SimulatedPayment) {
  const customerId = findSubscription(slot, payment.subscriptionId)?.ids.customerId ?? null;
  return { ...payment, customerId };
}

/** `null`: the whole transaction. */
function amountIn(request: Json, transactionId: string): number | null {
  if (request.at("type").text() !== "partial") return null;
  const itemId = request.at("items").at(0).at("item_id").text() ?? "";
  if (itemId !== lineItemIdOf(transactionId))
    throw invalidField("items.0.item_id", "is not of the transaction");
  const amount = request.at("items").at(0).at("amount").text() ?? "";
  return /^\d{1,12}$/.test(amount) ? Number(amount) : Number.NaN;
}
