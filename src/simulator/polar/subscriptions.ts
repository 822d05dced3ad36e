import { type Context, Hono } from "hono";
import type { Json } from "../http/json-body.ts";
import { applyCommand, type Command } from "../lifecycle/lifecycle.ts";
import { emitEvents } from "../server/emit-events.ts";
import { eventContextOf } from "../server/event-context.ts";
import { findOffer, findSubscription, nowSeconds, type ProviderSlot } from "../server/provider-slot.ts";
import type { SimulatedSubscription } from "../server/state.ts";
import { externalIdOf } from "./customer.ts";
import { notFound, PolarProblem, readBody, unprocessable } from "./errors.ts";
import { inRequestedOrder, numberedPage } from "./page.ts";

/** https://polar.sh/docs/api-reference/subscriptions */
export function polarSubscriptions(slot: ProviderSlot): Hono {
  const app = new Hono();
  app.get("/subscriptions/", (c) => {
    const query = c.req.query();
    const statuses = c.req.queries("status");
    const listed = slot.state.subscriptions
      .filter(({ ids }) => query.customer_id === undefined || ids.customerId === query.customer_id)
      .filter(({ state }) => query.product_id === undefined || state.offer.priceId === query.product_id)
      .filter(({ state }) => query.active === undefined || isActive(state) === (query.active === "true"))
      .filter(({ state }) => statuses === undefined || statuses.includes(state.status))
      .filter(
        (subscription) =>
          query.external_customer_id === undefined ||
          externalIdOf(slot, subscription) === query.external_customer_id,
      );
    return numberedPage(c, inRequestedOrder(c, listed), (subscription) =>
      subscriptionJson(slot, subscription),
    );
  });
  app.get("/subscriptions/:id", (c) => c.json(subscriptionJson(slot, requireSubscription(slot, c))));
  app.delete("/subscriptions/:id", (c) =>
    c.json(subscriptionJson(slot, apply(slot, requireSubscription(slot, c), { to: "cancel now" }))),
  );
  app.patch("/subscriptions/:id", async (c) => {
    let current = requireSubscription(slot, c);
    for (const command of commandsIn(slot, await readBody(c))) current = apply(slot, current, command);
    return c.json(subscriptionJson(slot, current));
  });
  return app;
}

export function subscriptionJson(slot: ProviderSlot, subscription: SimulatedSubscription): object {
  return slot.renderer.subscription(eventContextOf(slot, subscription));
}

export function isActive({ status }: SimulatedSubscription["state"]): boolean {
  return status !== "canceled";
}

function requireSubscription(slot: ProviderSlot, c: Context): SimulatedSubscription {
  const subscription = findSubscription(slot, c.req.param("id") ?? "");
  if (!subscription) throw notFound();
  return subscription;
}

function commandsIn(slot: ProviderSlot, order: Json): Command[] {
  const commands: Command[] = [];
  if (order.at("revoke").flag()) commands.push({ to: "cancel now" });
  if (order.has("pending_update")) commands.push({ to: "withdraw the scheduled change" });
  const cancels = order.at("cancel_at_period_end").flag();
  if (cancels !== null)
    commands.push(cancels ? { to: "cancel at period end", by: "seller" } : { to: "resume" });
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

function apply(slot: ProviderSlot, before: SimulatedSubscription, command: Command): SimulatedSubscription {
  const isRepeated = command.to === "cancel at period end" && before.state.cancelAtPeriodEnd;
  if (before.state.status === "canceled" || isRepeated) {
    throw new PolarProblem(403, {
      error: "AlreadyCanceledSubscription",
      detail: "This subscription is already canceled or will be at the end of the period.",
    });
  }
  const outcome = applyCommand(before, command, nowSeconds(slot));
  if (typeof outcome === "string") throw unprocessable([], outcome);
  return emitEvents(slot, outcome);
}
