import { type Context, Hono } from "hono";
import { type Json, readJson } from "../http/json-body.ts";
import { applyCommand, type Command } from "../lifecycle/lifecycle.ts";
import { emitEvents } from "../server/emit-events.ts";
import { eventContextOf } from "../server/event-context.ts";
import { expireIfLate, openCheckout } from "../server/open-checkout.ts";
import {
  checkoutUrl,
  findCheckout,
  findCustomer,
  findOffer,
  findSubscription,
  nowSeconds,
  type ProviderSlot,
  subscriptionsOfCustomer,
} from "../server/provider-slot.ts";
import type { Checkout, Customer, SimulatedSubscription } from "../server/state.ts";
import { polarCheckout } from "./checkout.ts";
import { externalIdOf, polarCustomer } from "./customer.ts";
import { customerSession } from "./customer-session.ts";
import { answerPolarProblem, notFound, PolarProblem, requirePolarKey, unprocessable } from "./errors.ts";
import { polarDeliveries, polarEndpoints } from "./list-deliveries.ts";
import { orderOf } from "./order.ts";
import { polarOrders } from "./orders.ts";
import { numberedPage } from "./page.ts";
import { polarProduct } from "./product.ts";

/** https://polar.sh/docs/api-reference: the part that a seller of subscriptions needs. */
export function polarApi(slot: ProviderSlot): Hono {
  const app = new Hono();
  app.onError(answerPolarProblem);
  app.use(requirePolarKey(slot.apiKey));
  app.post("/v1/checkouts/", async (c) =>
    c.json(checkout(slot, openCheckout(slot, orderOf(slot, await body(c)))), 201),
  );
  app.get("/v1/checkouts/:id", (c) => {
    const record = findCheckout(slot, c.req.param("id"));
    if (!record) throw notFound();
    return c.json(checkout(slot, expireIfLate(slot, record)));
  });
  app.post("/v1/customer-sessions/", async (c) => c.json(customerSession(slot, await body(c)), 201));
  app.get("/v1/customers/external/:id", (c) =>
    c.json(person(slot.state.customers.find(({ externalId }) => externalId === c.req.param("id")))),
  );
  app.get("/v1/customers/:id", (c) => c.json(person(findCustomer(slot, c.req.param("id")))));
  app.get("/v1/subscriptions/", (c) => {
    const customerId = c.req.query("customer_id");
    const subscriptions = customerId ? subscriptionsOfCustomer(slot, customerId) : slot.state.subscriptions;
    const externalId = c.req.query("external_customer_id");
    const matching = subscriptions
      .filter((subscription) => externalId === undefined || externalIdOf(slot, subscription) === externalId)
      .filter(({ state }) => c.req.query("active") !== "true" || state.status !== "canceled");
    const { page, pagination } = numberedPage(c, matching);
    return c.json({ items: page.map((subscription) => subscriptionJson(slot, subscription)), pagination });
  });
  app.get("/v1/subscriptions/:id", (c) => c.json(subscriptionJson(slot, requireSubscription(slot, c))));
  app.delete("/v1/subscriptions/:id", (c) =>
    c.json(subscriptionJson(slot, grant(slot, requireSubscription(slot, c), { to: "cancel now" }))),
  );
  app.patch("/v1/subscriptions/:id", async (c) => {
    const before = requireSubscription(slot, c);
    const commands = commandsIn(slot, await body(c));
    return c.json(
      subscriptionJson(
        slot,
        commands.reduce((now, command) => grant(slot, now, command), before),
      ),
    );
  });
  app.route("/v1", polarOrders(slot));
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

async function body(c: Context): Promise<Json> {
  const json = await readJson(c);
  if (json === null) throw unprocessable([], "JSON decode error");
  return json;
}

function checkout(slot: ProviderSlot, record: Checkout): object {
  const { id, status, offer, seats, data, email, customerId, externalId } = record;
  return polarCheckout({
    ...{ id, offer, seats, email, customerId, metadata: data, trialDays: record.trialDays ?? 0 },
    ...{ successUrl: record.successUrl, returnUrl: record.cancelUrl, externalCustomerId: externalId },
    status: status === "complete" ? "succeeded" : status,
    createdAtSeconds: record.createdAtSeconds,
    modifiedAtSeconds: record.completedAtSeconds,
    expiresAtSeconds: record.expiresAtSeconds ?? record.createdAtSeconds,
    url: checkoutUrl(slot, record),
  });
}

function person(record: Customer | null | undefined): object {
  if (!record) throw notFound();
  return polarCustomer(record);
}

function subscriptionJson(slot: ProviderSlot, subscription: SimulatedSubscription): object {
  return slot.renderer.subscription(eventContextOf(slot, subscription));
}

function requireSubscription(slot: ProviderSlot, c: Context): SimulatedSubscription {
  const subscription = findSubscription(slot, c.req.param("id") ?? "");
  if (!subscription) throw notFound();
  return subscription;
}

function commandsIn(slot: ProviderSlot, order: Json): Command[] {
  const commands: Command[] = [];
  if (order.at("revoke").flag()) commands.push({ to: "cancel now" });
  const cancels = order.at("cancel_at_period_end").flag();
  if (cancels !== null) commands.push({ to: cancels ? "cancel at period end" : "resume" });
  const waits = order.at("proration_behavior").text() === "next_period";
  const productId = order.at("product_id").text();
  if (productId !== null) {
    const offer = findOffer(slot, productId);
    if (!offer) throw unprocessable(["product_id"], "Product does not exist.");
    commands.push(waits ? { to: "change at period end", offer, seats: null } : { to: "change plan", offer });
  }
  const seats = order.at("seats").wholeNumber();
  if (seats !== null)
    commands.push(waits ? { to: "change at period end", offer: null, seats } : { to: "change seats", seats });
  return commands;
}

function grant(slot: ProviderSlot, before: SimulatedSubscription, command: Command): SimulatedSubscription {
  if (before.state.status === "canceled") {
    throw new PolarProblem(403, {
      error: "AlreadyCanceledSubscription",
      detail: "This subscription is already canceled or will be at the end of the period.",
    });
  }
  const outcome = applyCommand(before, command, nowSeconds(slot));
  if (typeof outcome === "string") throw unprocessable([], outcome);
  return emitEvents(slot, outcome);
}
