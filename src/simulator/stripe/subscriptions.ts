import { type Context, Hono } from "hono";
import { type Form, readForm } from "../http/form.ts";
import { matches } from "../http/matches.ts";
import { applyCommand, type Command } from "../lifecycle/apply-command.ts";
import type { Discount } from "../lifecycle/discount.ts";
import { emitEvents } from "../server/emit-events.ts";
import { subscriptionJson } from "../server/event-context.ts";
import { findSubscription, nowSeconds, type ProviderSlot } from "../server/provider-slot.ts";
import { countRedemption } from "../server/redeem.ts";
import type { SimulatedSubscription } from "../server/state.ts";
import { createSubscription } from "./create-subscription.ts";
import { mergedMetadata } from "./customers.ts";
import { discountId, discountJson } from "./discount.ts";
import { invalid, missing } from "./errors.ts";
import { itemChangeIn } from "./item-change.ts";
import { itemIdOf } from "./item-id.ts";
import { isCreatedWithin, listResponse } from "./page.ts";
import { requestedDiscount } from "./requested-discount.ts";

/** https://docs.stripe.com/api/subscriptions */
export function stripeSubscriptions(slot: ProviderSlot): Hono {
  const app = new Hono();
  app.get("/", (c) => {
    const { status } = c.req.query();
    const listed = slot.state.subscriptions
      .filter(matches(c, "customer", ({ ids }) => ids.customerId))
      .filter(matches(c, "price", ({ state }) => state.offer.priceId))
      .filter(({ state }) => isListed(state.status, status))
      .filter(isCreatedWithin(c, ({ startedAtSeconds }) => startedAtSeconds));
    return listResponse(c, listed.toReversed(), {
      object: "subscription",
      url: "/v1/subscriptions",
      idOf: ({ ids }) => ids.subscriptionId,
      show: (subscription) => subscriptionJson(slot, subscription),
    });
  });
  app.post("/", async (c) => c.json(subscriptionJson(slot, createSubscription(slot, await readForm(c)))));
  app.get("/:id", (c) => c.json(subscriptionJson(slot, requireSubscription(slot, c))));
  app.post("/:id", async (c) => {
    const before = requireSubscription(slot, c);
    if (before.state.status === "canceled") {
      throw invalid("A canceled subscription can only update its cancellation_details and metadata.");
    }
    const form = await readForm(c);
    // Prorations are computed with the discount there was.
    const items = applyAll(slot, before, commandsIn(slot, before, form));
    const changed = withRequestedDiscount(slot, items, form);
    return c.json(subscriptionJson(slot, withMetadata(slot, changed, form)));
  });
  app.delete("/:id/discount", (c) => {
    const before = requireSubscription(slot, c);
    const { discount = null } = before.state;
    if (discount === null) throw missing("discount", c.req.param("id"), "id");
    withDiscount(slot, before, null);
    return c.json({ ...discountJson(before.ids, discount), deleted: true });
  });
  app.delete("/:id", (c) => {
    const before = requireSubscription(slot, c);
    if (before.state.status === "canceled") throw missing("subscription", c.req.param("id"), "id");
    return c.json(subscriptionJson(slot, applyAll(slot, before, [{ to: "cancel now" }])));
  });
  return app;
}

/** Ended ones are listed only on request. */
function isListed(status: string, requested: string | undefined): boolean {
  if (requested === undefined) return status !== "canceled";
  return requested === "all" || (requested === "ended" ? "canceled" : requested) === status;
}

function requireSubscription(slot: ProviderSlot, c: Context): SimulatedSubscription {
  const id = c.req.param("id") ?? "";
  const subscription = findSubscription(slot, id);
  if (!subscription) throw missing("subscription", id, "id");
  return subscription;
}

function commandsIn(slot: ProviderSlot, { ids, state }: SimulatedSubscription, form: Form): Command[] {
  const commands: Command[] = [];
  const cancels = form.text("cancel_at_period_end");
  if (cancels === "true") commands.push({ to: "cancel at period end", by: "seller" });
  // The portal schedules a cancellation by its time, which is withdrawn by an empty one.
  if (cancels === "false" || form.has("cancel_at")) commands.push({ to: "resume" });
  const itemId = form.text("items[0][id]");
  const priceId = form.text("items[0][price]");
  const seats = form.wholeNumber("items[0][quantity]");
  // Stripe adds a second item when none is named; there is only one here.
  if (itemId === null && (priceId !== null || seats !== null))
    throw invalid("Missing required param: items[0][id].", "items[0][id]", "parameter_missing");
  if (itemId !== null && itemId !== itemIdOf(ids))
    throw missing("subscription_item", itemId, "items[0][id]", 400);
  if (priceId !== null || seats !== null)
    commands.push(itemChangeIn(slot, state, { priceId, seats, behavior: form.text("proration_behavior") }));
  return commands;
}

function applyAll(
  slot: ProviderSlot,
  subscription: SimulatedSubscription,
  commands: readonly Command[],
): SimulatedSubscription {
  let current = subscription;
  for (const command of commands) {
    // Withdrawing a cancellation that is not scheduled changes nothing.
    if (command.to === "resume" && !current.state.cancelAtPeriodEnd) continue;
    const outcome = applyCommand(current, command, nowSeconds(slot));
    if (typeof outcome === "string") throw invalid(outcome);
    current = emitEvents(slot, outcome);
  }
  return current;
}

/** Its discount replaces the former one; an empty list removes it. */
function withRequestedDiscount(
  slot: ProviderSlot,
  subscription: SimulatedSubscription,
  form: Form,
): SimulatedSubscription {
  const { ids, state } = subscription;
  // The present one, named to keep it.
  if (state.discount && form.text("discounts[0][discount]") === discountId(ids, state.discount))
    return subscription;
  const order = { offer: state.offer, customerId: ids.customerId, trialDays: 0 };
  const discount = requestedDiscount(slot, form, order);
  if (discount === null && !form.has("discounts")) return subscription;
  if (discount === null && !state.discount) return subscription;
  if (discount !== null) countRedemption(slot, discount);
  return withDiscount(slot, subscription, discount);
}

function withDiscount(
  slot: ProviderSlot,
  subscription: SimulatedSubscription,
  discount: Discount | null,
): SimulatedSubscription {
  const state = { ...subscription.state, discount };
  return emitEvents(slot, { subscription: { ...subscription, state }, events: ["restated"] });
}

function withMetadata(
  slot: ProviderSlot,
  subscription: SimulatedSubscription,
  form: Form,
): SimulatedSubscription {
  const before = subscription.checkout.subscriptionData;
  const subscriptionData = mergedMetadata(before, form);
  if (JSON.stringify(subscriptionData) === JSON.stringify(before)) return subscription;
  const checkout = { ...subscription.checkout, subscriptionData };
  return emitEvents(slot, { subscription: { ...subscription, checkout }, events: ["restated"] });
}
