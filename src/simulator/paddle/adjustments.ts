import { Hono } from "hono";
import { chargedAmount, findPayment, refundPayment } from "../server/payments.ts";
import type { ProviderSlot } from "../server/provider-slot.ts";
import type { SimulatedPayment } from "../server/state.ts";
import { body } from "./body.ts";
import { data, noEntity } from "./errors.ts";

/** Full refunds. https://developer.paddle.com/api-reference/adjustments */
export function paddleAdjustments(slot: ProviderSlot): Hono {
  const app = new Hono();
  app.post("/", async (c) => {
    const id = (await body(c)).at("transaction_id").text() ?? "";
    const payment = findPayment(slot, id);
    if (payment === null) throw noEntity(id);
    refundPayment(slot, payment);
    return data(c, adjustment(payment), 201);
  });
  return app;
}

export function adjustment(payment: SimulatedPayment): object {
  const { id, subscriptionId, state } = payment;
  return {
    ...{ id: `adj_${id}`, action: "refund", status: "approved" },
    ...{ transaction_id: id, subscription_id: subscriptionId, currency_code: state.offer.currency },
    totals: { total: String(chargedAmount(payment)), currency_code: state.offer.currency },
  };
}
