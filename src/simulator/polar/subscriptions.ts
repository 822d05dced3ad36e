import { type Context, Hono } from "hono";
import type { Json } from "../http/json-body.ts";
import { matches } from "../http/matches.ts";
import { applyCommand, type Command } from "../lifecycle/apply-command.ts";
import { DAY_SECONDS } from "../lifecycle/calendar.ts";
import { seatsWithin } from "../lifecycle/change-items.ts";
import type { Offer } from "../lifecycle/offer.ts";
import type { SubscriptionState } from "../lifecycle/subscription.ts";
import { emitEvents } from "../server/emit-events.ts";
import { subscriptionJson } from "../server/event-context.ts";
import { findOffer, findSubscription, nowSeconds, type ProviderSlot } from "../server/provider-slot.ts";
import { countRedemption } from "../server/redeem.ts";
import type { SimulatedSubscription } from "../server/state.ts";
import { externalIdOf } from "./customer.ts";
import { notFound, PolarProblem, readBody, unprocessable } from "./errors.ts";
import { inRequestedOrder, numberedPage } from "./page.ts";
import { requestedDiscount } from "./requested-discount.ts";

/** https://polar.sh/docs/api-reference/subscriptions */
export function polarSubscriptions(slot: ProviderSlot): Hono {
  const app = new Hono();
  app.get("/subscriptions/", (c) => {
    const statuses = c.req.queries("status");
    const listed = slot.state.subscriptions
      .filter(matches(c, "customer_id", ({ ids }) => ids.customerId))
      .filter(matches(c, "product_id", ({ state }) => state.offer.priceId))
      .filter(matches(c, "active", ({ state }) => String(isActive(state))))
      .filter(({ state }) => statuses === undefined || statuses.includes(state.status))
      .filter(matches(c, "external_customer_id", (subscription) => externalIdOf(slot, subscription)));
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
    const order = await readBody(c);
    for (const command of commandsIn(slot, current, order)) current = apply(slot, current, command);
    return c.json(subscriptionJson(slot, withRequestedDiscount(slot, current, order)));
  });
  return app;
}

export function isActive({ status }: SimulatedSubscription["state"]): boolean {
  return status !== "canceled";
}

function requireSubscription(slot: ProviderSlot, c: Context): SimulatedSubscription {
  const subscription = findSubscription(slot, c.req.param("id") ?? "");
  if (!subscription) throw notFound();
  return subscription;
}

function commandsIn(slot: ProviderSlot, { state }: SimulatedSubscription, order: Json): Command[] {
  const commands: Command[] = [];
  if (order.at("revoke").flag()) commands.push({ to: "cancel now" });
  if (order.has("pending_update")) commands.push({ to: "withdraw the scheduled change" });
  const cancels = order.at("cancel_at_period_end").flag();
  if (cancels !== null)
    commands.push(cancels ? { to: "cancel at period end", by: "seller" } : { to: "resume" });
  const behavior = order.at("proration_behavior").text();
  const productId = order.at("product_id").text();
  const seats = order.at("seats").wholeNumber();
  if (productId === null && seats === null) return commands;
  const offer = productId === null ? null : findOffer(slot, productId);
  if (productId !== null && offer === null) throw unprocessable(["product_id"], "Product does not exist.");
  if (seats !== null) assertAllowed(seats, state.offer);
  if (offer !== null) assertCovered(state.seats, offer);
  commands.push(
    behavior === "next_period"
      ? { to: "change at period end", offer, seats }
      : itemChange(state, { offer: offer ?? state.offer, seats, behavior }),
  );
  return commands;
}

/** Of the product that is paid now, also for the next period. */
function assertAllowed(seats: number, { seats: { min, max } }: Offer): void {
  if (seats < min)
    throw new PolarProblem(400, { error: "BelowMinimumSeats", detail: `Minimum ${min} seats required.` });
  if (seats > max)
    throw new PolarProblem(400, { error: "AboveMaximumSeats", detail: `Maximum ${max} seats allowed.` });
}

/** Of another product, also for the next period: its price is computed for the seats that there are. */
function assertCovered(seats: number, { seats: { max } }: Offer): void {
  if (seats > max)
    throw new PolarProblem(400, {
      error: "InvalidQuantityError",
      detail: `No tier covers quantity ${seats}`,
    });
}

/** It applies from the next period on; `null` removes it. */
function withRequestedDiscount(
  slot: ProviderSlot,
  subscription: SimulatedSubscription,
  order: Json,
): SimulatedSubscription {
  if (!order.has("discount_id")) return subscription;
  const { state } = subscription;
  const trialDays = (state.periodEndSeconds - nowSeconds(slot)) / DAY_SECONDS;
  const discount = requestedDiscount(slot, order, { offer: state.offer, trialDays });
  if (discount !== null) countRedemption(slot, discount);
  const changed = { ...subscription, state: { ...state, discount } };
  return emitEvents(slot, { subscription: changed, events: ["restated"] });
}

/** https://polar.sh/docs/guides/proration-for-subscription-changes: another interval is invoiced at once. */
function itemChange(
  state: SubscriptionState,
  { offer, seats, behavior }: { offer: Offer; seats: number | null; behavior: string | null },
): Command {
  const isNow = behavior === "invoice" || offer.interval !== state.offer.interval;
  return {
    to: "change items",
    offer,
    seats: seats ?? seatsWithin(offer, state.seats),
    billing: isNow ? "prorated now" : "prorated next period",
  };
}

const REFUSED_WHILE_ENDING: ReadonlySet<Command["to"]> = new Set([
  "cancel at period end",
  "change items",
  "change at period end",
]);

function apply(slot: ProviderSlot, before: SimulatedSubscription, command: Command): SimulatedSubscription {
  if (
    before.state.status === "canceled" ||
    (before.state.cancelAtPeriodEnd && REFUSED_WHILE_ENDING.has(command.to))
  ) {
    throw new PolarProblem(403, {
      error: "AlreadyCanceledSubscription",
      detail: "This subscription is already canceled or will be at the end of the period.",
    });
  }
  const outcome = applyCommand(before, command, nowSeconds(slot));
  if (typeof outcome === "string") throw unprocessable([], outcome);
  return emitEvents(slot, outcome);
}
