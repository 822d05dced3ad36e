import { Hono } from "hono";
import { checkParameters } from "../http/parameters.ts";
import { findOffer, type ProviderSlot } from "../server/provider-slot.ts";
import { polarCheckouts } from "./checkouts.ts";
import { customerSession } from "./customer-session.ts";
import { polarCustomers } from "./customers.ts";
import { polarDiscounts } from "./discounts.ts";
import {
  answerPolarProblem,
  notFound,
  readBody,
  requirePolarKey,
  unknownParameter,
  unsupportedValue,
} from "./errors.ts";
import { polarDeliveries, polarEndpoints } from "./list-deliveries.ts";
import { polarOrders } from "./orders.ts";
import { inRequestedOrder, numberedPage } from "./page.ts";
import { POLAR_PARAMETERS } from "./parameters.ts";
import { polarProduct } from "./product.ts";
import { polarSubscriptions } from "./subscriptions.ts";

/** https://polar.sh/docs/api-reference: the part that a seller of subscriptions needs. */
export function polarApi(slot: ProviderSlot): Hono {
  const app = new Hono();
  app.onError(answerPolarProblem);
  app.use(requirePolarKey(slot.apiKey));
  app.use(
    checkParameters({
      table: POLAR_PARAMETERS,
      body: "json",
      mountedAt: `/${slot.name}`,
      unknownParameter,
      unsupportedValue,
    }),
  );
  app.route("/v1", polarCheckouts(slot));
  app.post("/v1/customer-sessions/", async (c) => c.json(customerSession(slot, await readBody(c)), 201));
  app.route("/v1", polarCustomers(slot));
  app.route("/v1", polarSubscriptions(slot));
  app.route("/v1", polarOrders(slot));
  app.route("/v1", polarDiscounts(slot));
  app.get("/v1/products/", (c) => {
    const ids = c.req.queries("id");
    const listed = slot.offers.filter(({ priceId }) => ids === undefined || ids.includes(priceId));
    const isEmpty = c.req.query("is_archived") === "true" || c.req.query("is_recurring") === "false";
    return numberedPage(c, inRequestedOrder(c, isEmpty ? [] : listed), polarProduct);
  });
  app.get("/v1/products/:id", (c) => {
    const offer = findOffer(slot, c.req.param("id"));
    if (!offer) throw notFound();
    return c.json(polarProduct(offer));
  });
  app.get("/v1/webhooks/endpoints", polarEndpoints(slot));
  app.get("/v1/webhooks/deliveries", polarDeliveries(slot));
  app.all("*", (c) => c.json({ detail: "Not Found" }, 404));
  return app;
}
