import { Hono } from "hono";
import { checkParameters } from "../http/parameters.ts";
import { eventContextOf } from "../server/event-context.ts";
import { expireIfLate, openCheckout } from "../server/open-checkout.ts";
import { findCheckout, type ProviderSlot } from "../server/provider-slot.ts";
import type { SimulatedSubscription } from "../server/state.ts";
import { lemonSqueezyCatalog } from "./catalog.ts";
import { lemonSqueezyCustomers } from "./customers.ts";
import { lemonSqueezyDiscounts } from "./discounts.ts";
import { checkoutDocument, STORE_ID, user } from "./documents.ts";
import {
  answerLemonSqueezyProblem,
  document,
  notFound,
  readBody,
  requireLemonSqueezyKey,
  unknownParameter,
  unsupportedValue,
} from "./errors.ts";
import { lemonSqueezyInvoices } from "./invoices.ts";
import { orderIdOf } from "./names.ts";
import { orderOf } from "./order.ts";
import { order } from "./order-document.ts";
import { isAllowed, numberedPage } from "./page.ts";
import { LEMON_SQUEEZY_PARAMETERS } from "./parameters.ts";
import { lemonSqueezySubscriptions } from "./subscriptions.ts";

/** https://docs.lemonsqueezy.com/api: the part that a seller of subscriptions needs. */
export function lemonSqueezyApi(slot: ProviderSlot): Hono {
  const app = new Hono();
  app.onError(answerLemonSqueezyProblem);
  app.use(requireLemonSqueezyKey(slot.apiKey));
  app.use(
    checkParameters({
      table: LEMON_SQUEEZY_PARAMETERS,
      body: "json",
      mountedAt: `/${slot.name}`,
      unknownParameter,
      unsupportedValue,
    }),
  );
  app.get("/v1/users/me", (c) => document(c, { meta: { test_mode: true }, data: user(slot) }));
  app.post("/v1/checkouts", async (c) => {
    const checkout = openCheckout(slot, orderOf(slot, await readBody(c)));
    return document(c, { data: checkoutDocument(slot, checkout) }, 201);
  });
  app.get("/v1/checkouts", (c) => {
    const listed = slot.state.checkouts
      .filter(isAllowed(c, "store_id", () => STORE_ID))
      .filter(isAllowed(c, "variant_id", ({ offer }) => offer.priceId));
    return numberedPage(c, slot, listed.toReversed(), (checkout) =>
      checkoutDocument(slot, expireIfLate(slot, checkout)),
    );
  });
  app.get("/v1/checkouts/:id", (c) => {
    const checkout = findCheckout(slot, c.req.param("id"));
    if (!checkout) throw notFound();
    return document(c, { data: checkoutDocument(slot, expireIfLate(slot, checkout)) });
  });
  app.route("/v1", lemonSqueezySubscriptions(slot));
  app.route("/v1/subscription-invoices", lemonSqueezyInvoices(slot));
  app.route("/v1/customers", lemonSqueezyCustomers(slot));
  app.route("/v1", lemonSqueezyCatalog(slot));
  app.route("/v1", lemonSqueezyDiscounts(slot));
  app.get("/v1/orders", (c) => {
    const listed = slot.state.subscriptions
      .filter(isAllowed(c, "store_id", () => STORE_ID))
      .filter(isAllowed(c, "order_number", () => "1"))
      .filter(isAllowed(c, "user_email", ({ checkout }) => checkout.email));
    return numberedPage(c, slot, listed.toReversed(), (subscription) => orderJson(slot, subscription));
  });
  app.get("/v1/orders/:id", (c) => {
    const bought = slot.state.subscriptions.find(({ ids }) => orderIdOf(ids) === c.req.param("id"));
    if (!bought) throw notFound();
    return document(c, { data: orderJson(slot, bought) });
  });
  app.all("*", () => {
    throw notFound();
  });
  return app;
}

function orderJson(slot: ProviderSlot, subscription: SimulatedSubscription): object {
  const { subscriptionId } = subscription.ids;
  const redemption = slot.state.redemptions.find((candidate) => candidate.subscriptionId === subscriptionId);
  return order(eventContextOf(slot, subscription), redemption?.amount ?? 0);
}
