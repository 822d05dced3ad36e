import { Hono } from "hono";
import { checkParameters } from "../http/parameters.ts";
import type { ProviderSlot } from "../server/provider-slot.ts";
import { paddleAdjustments } from "./adjustments.ts";
import { paddleCatalog } from "./catalog.ts";
import { paddleCustomers } from "./customers.ts";
import { paddleDiscounts } from "./discounts.ts";
import {
  answerPaddleProblem,
  meta,
  PaddleProblem,
  requirePaddleKey,
  unknownParameter,
  unsupportedValue,
} from "./errors.ts";
import { paddleEvents } from "./list-events.ts";
import { PADDLE_PARAMETERS } from "./parameters.ts";
import { paddleSubscriptions } from "./subscriptions.ts";
import { paddleTransactions } from "./transactions.ts";

/** https://developer.paddle.com/api-reference: the part that a seller of subscriptions needs. */
export function paddleApi(slot: ProviderSlot): Hono {
  const app = new Hono();
  app.onError(answerPaddleProblem);
  app.use(requirePaddleKey(slot.apiKey));
  app.use(
    checkParameters({
      table: PADDLE_PARAMETERS,
      body: "json",
      splitsValues: true,
      mountedAt: `/${slot.name}`,
      unknownParameter,
      unsupportedValue,
    }),
  );
  app.route("/", paddleCatalog(slot));
  app.route("/adjustments", paddleAdjustments(slot));
  app.route("/transactions", paddleTransactions(slot));
  app.route("/discounts", paddleDiscounts(slot));
  app.route("/customers", paddleCustomers(slot));
  app.route("/subscriptions", paddleSubscriptions(slot));
  app.route("/events", paddleEvents(slot));
  app.all("*", (c) => {
    const error = new PaddleProblem(404, "invalid_url", "There's no such path.");
    return c.json({ error: error.body, meta: meta() }, 404);
  });
  return app;
}
