import { Hono } from "hono";
import { findCheckout, findOffer, type ProviderSlot } from "../server/provider-slot.ts";
import { body } from "./body.ts";
import { paddleCustomers } from "./customers.ts";
import { answerPaddleProblem, data, meta, noEntity, PaddleProblem, requirePaddleKey } from "./errors.ts";
import { paddleEvents } from "./list-events.ts";
import { paddlePrice } from "./price.ts";
import { paddleSubscriptions } from "./subscriptions.ts";
import { paddleTransactions } from "./transactions.ts";

/** https://developer.paddle.com/api-reference: the part that a seller of subscriptions needs. */
export function paddleApi(slot: ProviderSlot): Hono {
  const app = new Hono();
  app.onError(answerPaddleProblem);
  app.use(requirePaddleKey(slot.apiKey));
  app.post("/adjustments", async (c) => {
    const adjustment = await body(c);
    const id = adjustment.at("transaction_id").text() ?? "";
    const checkout = findCheckout(slot, id);
    if (!checkout?.subscriptionId) throw noEntity(id);
    slot.state.refunds.push(checkout.subscriptionId);
    slot.changed();
    const { subscriptionId } = checkout;
    return data(
      c,
      {
        id: `adj_${id}`,
        action: "refund",
        transaction_id: id,
        subscription_id: subscriptionId,
        status: "approved",
      },
      201,
    );
  });
  app.get("/prices/:id", (c) => {
    const offer = findOffer(slot, c.req.param("id"));
    if (!offer) throw noEntity(c.req.param("id"));
    return data(c, paddlePrice(offer));
  });
  app.route("/transactions", paddleTransactions(slot));
  app.route("/customers", paddleCustomers(slot));
  app.route("/subscriptions", paddleSubscriptions(slot));
  app.route("/events", paddleEvents(slot));
  app.all("*", (c) => {
    const error = new PaddleProblem(404, "invalid_url", "There's no such path.");
    return c.json({ error: error.body, meta: meta() }, 404);
  });
  return app;
}
