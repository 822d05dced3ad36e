import { type Context, Hono } from "hono";
import type { Json } from "../http/json-body.ts";
import { applyCommand, type Command } from "../lifecycle/apply-command.ts";
import { seatsWithin } from "../lifecycle/change-items.ts";
import type { Offer } from "../lifecycle/offer.ts";
import type { ChangeBilling } from "../lifecycle/prorations.ts";
import type { SubscriptionState } from "../lifecycle/subscription.ts";
import { emitEvents } from "../server/emit-events.ts";
import { eventContextOf, subscriptionJson } from "../server/event-context.ts";
import { findOffer, findSubscription, nowSeconds, type ProviderSlot } from "../server/provider-slot.ts";
import type { SimulatedSubscription } from "../server/state.ts";
import { STORE_ID } from "./documents.ts";
import { document, LemonSqueezyProblem, notFound, readBody } from "./errors.ts";
import { orderIdOf, productIdOf } from "./names.ts";
import { isAllowed, numberedPage } from "./page.ts";
import { itemOf, subscriptionIdOfItem, wordFor } from "./subscription-document.ts";

/** https://docs.lemonsqueezy.com/api/subscriptions and subscription items */
export function lemonSqueezySubscriptions(slot: ProviderSlot): Hono {
  const app = new Hono();
  app.get("/subscriptions", (c) => {
    const listed = slot.state.subscriptions
      .filter(isAllowed(c, "store_id", () => STORE_ID))
      .filter(isAllowed(c, "user_email", ({ checkout }) => checkout.email))
      .filter(isAllowed(c, "order_id", ({ ids }) => orderIdOf(ids)))
      .filter(isAllowed(c, "variant_id", ({ state }) => state.offer.priceId))
      .filter(isAllowed(c, "product_id", ({ state }) => productIdOf(state.offer)))
      .filter(isAllowed(c, "status", ({ state }) => wordFor(state)));
    return numberedPage(c, slot, listed.toReversed(), (subscription) => subscriptionJson(slot, subscription));
  });
  app.get("/subscriptions/:id", (c) =>
    document(c, { data: subscriptionJson(slot, requireSubscription(slot, c)) }),
  );
  app.patch("/subscriptions/:id", async (c) => {
    let current = requireSubscription(slot, c);
    const commands = commandsIn(slot, current, (await readBody(c)).at("data").at("attributes"));
    for (const command of commands) current = apply(slot, current, command);
    return document(c, { data: subscriptionJson(slot, current) });
  });
  // There is no immediate end: the paid period is used up.
  app.delete("/subscriptions/:id", (c) => {
    const before = requireSubscription(slot, c);
    const hasEnded = before.state.status === "canceled";
    const after = hasEnded ? before : apply(slot, before, { to: "cancel at period end", by: "seller" });
    return document(c, { data: subscriptionJson(slot, after) });
  });
  app.get("/subscription-items", (c) => {
    const listed = slot.state.subscriptions.filter(
      isAllowed(c, "subscription_id", ({ ids }) => ids.subscriptionId),
    );
    return numberedPage(c, slot, listed.toReversed(), (subscription) => itemJson(slot, subscription));
  });
  app.get("/subscription-items/:id", (c) => document(c, { data: itemJson(slot, requireItem(slot, c)) }));
  app.patch("/subscription-items/:id", async (c) => {
    const before = requireItem(slot, c);
    const attributes = (await readBody(c)).at("data").at("attributes");
    const seats = attributes.at("quantity").wholeNumber();
    if (seats === null)
      throw new LemonSqueezyProblem(422, "The quantity field is required.", {
        pointer: "/data/attributes/quantity",
      });
    const { offer } = before.state;
    const change = {
      to: "change items",
      offer,
      seats,
      billing: billingOf(before.state, offer, attributes),
    } as const;
    return document(c, { data: itemJson(slot, apply(slot, before, change)) });
  });
  return app;
}

function itemJson(slot: ProviderSlot, subscription: SimulatedSubscription): object {
  const { id, ...attributes } = itemOf(eventContextOf(slot, subscription));
  return {
    type: "subscription-items",
    id: String(id),
    attributes,
    links: { self: `${slot.url()}/v1/subscription-items/${id}` },
  };
}

function requireSubscription(slot: ProviderSlot, c: Context): SimulatedSubscription {
  const subscription = findSubscription(slot, c.req.param("id") ?? "");
  if (!subscription) throw notFound();
  return subscription;
}

function requireItem(slot: ProviderSlot, c: Context): SimulatedSubscription {
  const subscription = findSubscription(slot, subscriptionIdOfItem(c.req.param("id") ?? ""));
  if (!subscription) throw notFound();
  return subscription;
}

function commandsIn(slot: ProviderSlot, { state }: SimulatedSubscription, attributes: Json): Command[] {
  const commands: Command[] = [];
  const cancels = attributes.at("cancelled").flag();
  if (cancels !== null)
    commands.push(cancels ? { to: "cancel at period end", by: "seller" } : { to: "resume" });
  const variant = attributes.at("variant_id");
  const variantId = variant.text() ?? variant.wholeNumber()?.toString() ?? null;
  if (variantId !== null) {
    const offer = findOffer(slot, variantId);
    if (!offer)
      throw new LemonSqueezyProblem(422, "The variant does not exist.", {
        pointer: "/data/attributes/variant_id",
      });
    const seats = seatsWithin(offer, state.seats);
    commands.push({ to: "change items", offer, seats, billing: billingOf(state, offer, attributes) });
  }
  return commands;
}

/**
 * https://docs.lemonsqueezy.com/guides/developer-guide/managing-subscriptions: another interval is charged at
 * once.
 */
function billingOf(state: SubscriptionState, offer: Offer, attributes: Json): ChangeBilling {
  const isNow =
    attributes.at("invoice_immediately").flag() === true || offer.interval !== state.offer.interval;
  if (attributes.at("disable_prorations").flag())
    return offer.interval !== state.offer.interval ? "full now" : "never";
  return isNow ? "prorated now" : "prorated next period";
}

function apply(slot: ProviderSlot, before: SimulatedSubscription, command: Command): SimulatedSubscription {
  const outcome = applyCommand(before, command, nowSeconds(slot));
  if (typeof outcome === "string") throw new LemonSqueezyProblem(422, outcome);
  return emitEvents(slot, outcome);
}
