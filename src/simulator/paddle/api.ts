import { Hono } from "hono";
import { findOffer, type ProviderSlot } from "../server/provider-slot.ts";
import { paddleAdjustments } from "./adjustments.ts";
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
  app.get("/prices/:id", (c) => {
    const offer = findOffer(slot, c.req.param("id"));
    if (!offer) throw noEntity(c.req.param("id"));
    return data(c, paddlePrice(offer));
  });
  app.route("/adjustments", paddleAdjustments(slot));
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
