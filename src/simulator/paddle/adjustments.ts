import { Hono } from "hono";
import type { Json } from "../http/json-body.ts";
import { findPayment } from "../server/payments.ts";
import type { ProviderSlot } from "../server/provider-slot.ts";
import { refundPayment } from "../server/reverse-payment.ts";
import { adjustment } from "./adjustment.ts";
import { body } from "./body.ts";
import { data, invalidField, noEntity } from "./errors.ts";

/** Refunds, in full or in part. https://developer.paddle.com/api-reference/adjustments */
export function paddleAdjustments(slot: ProviderSlot): Hono {
  const app = new Hono();
  app.post("/", async (c) => {
    const request = await body(c);
    const id = request.at("transaction_id").text() ?? "";
    if (request.at("action").text() !== "refund") throw invalidField("action", "must be refund");
    const payment = findPayment(slot, id);
    if (payment === null) throw noEntity(id);
    const refund = refundPayment(slot, payment, amountIn(request));
    if (typeof refund === "string") throw invalidField("items", refund);
    return data(c, adjustment(payment, refund, { status: "pending_approval" }), 201);
  });
  return app;
}

/** `null`: the whole transaction. */
function amountIn(request: Json): number | null {
  if (request.at("type").text() !== "partial") return null;
  const amount = request.at("items").at(0).at("amount").text() ?? "";
  return /^\d{1,12}$/.test(amount) ? Number(amount) : Number.NaN;
}
