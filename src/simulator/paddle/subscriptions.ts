import { type Context, Hono } from "hono";
import type { Json } from "../http/json-body.ts";
import { applyCommand, type Command } from "../lifecycle/lifecycle.ts";
import { proratedAmount } from "../lifecycle/prorated-amount.ts";
import { emitEvents } from "../server/emit-events.ts";
import { eventContextOf } from "../server/event-context.ts";
import { findOffer, findSubscription, nowSeconds, type ProviderSlot } from "../server/provider-slot.ts";
import type { SimulatedSubscription } from "../server/state.ts";
import { body } from "./body.ts";
import { data, invalidField, noEntity, PaddleProblem } from "./errors.ts";
import { cursorPage, isAmong } from "./page.ts";
import { portalLink } from "./portal-session.ts";

export function paddleSubscriptions(slot: ProviderSlot): Hono {
  const app = new Hono();
  app.get("/", (c) => {
    const listed = slot.state.subscriptions
      .filter(({ ids }) => isAmong(c, "customer_id", ids.customerId))
      .filter(({ state }) => isAmong(c, "price_id", state.offer.priceId))
      .filter(({ state }) => isAmong(c, "status", state.status));
    return cursorPage(c, slot, listed, {
      path: "/subscriptions",
      idOf: ({ ids }) => ids.subscriptionId,
      show: (subscription) => subscriptionJson(slot, subscription),
    });
  });
  app.get("/:id", (c) => data(c, subscriptionJson(slot, requireSubscription(slot, c))));
  app.patch("/:id", async (c) => {
    const before = requireSubscription(slot, c);
    const fields = await body(c);
    const item = fields.at("items").at(0);
    const commands: Command[] = [];
    if (fields.has("scheduled_change") && before.state.cancelAtPeriodEnd) commands.push({ to: "resume" });
    const priceId = item.at("price_id").text();
    if (priceId !== null && priceId !== before.state.offer.priceId) {
      const offer = findOffer(slot, priceId);
      if (!offer) throw noEntity(priceId);
      commands.push({ to: "change plan", offer });
    }
    const seats = item.at("quantity").wholeNumber();
    if (seats !== null) commands.push({ to: "change seats", seats });
    const changed = commands.reduce((now, command) => {
      const outcome = applyCommand(now, command, nowSeconds(slot));
      if (typeof outcome === "string") throw invalidField("items", outcome);
      return emitEvents(slot, outcome);
    }, before);
    return data(c, subscriptionJson(slot, withCustomData(slot, changed, fields)));
  });
  app.patch("/:id/preview", async (c) => {
    const before = requireSubscription(slot, c);
    const item = (await body(c)).at("items").at(0);
    const priceId = item.at("price_id").text() ?? before.state.offer.priceId;
    const offer = findOffer(slot, priceId);
    if (!offer) throw noEntity(priceId);
    const amount = proratedAmount(before.state, offer, item.at("quantity").wholeNumber(), nowSeconds(slot));
    return data(c, {
      ...subscriptionJson(slot, before),
      ...{ immediate_transaction: null, next_transaction: null, recurring_transaction_details: null },
      update_summary: {
        credit: { amount: String(Math.max(0, -amount)), currency_code: offer.currency },
        charge: { amount: String(Math.max(0, amount)), currency_code: offer.currency },
        result: {
          action: amount < 0 ? "credit" : "charge",
          amount: String(Math.abs(amount)),
          currency_code: offer.currency,
        },
      },
    });
  });
  app.post("/:id/cancel", async (c) => {
    const before = requireSubscription(slot, c);
    if (before.state.status === "canceled") {
      throw new PaddleProblem(400, "subscription_is_canceled_action_invalid", "Subscription is canceled.");
    }
    const effectiveFrom = (await body(c)).at("effective_from").text();
    const command: Command =
      effectiveFrom === "immediately" ? { to: "cancel now" } : { to: "cancel at period end", by: "seller" };
    const outcome = applyCommand(before, command, nowSeconds(slot));
    if (typeof outcome === "string") throw invalidField("effective_from", outcome);
    return data(c, subscriptionJson(slot, emitEvents(slot, outcome)));
  });
  return app;
}

function withCustomData(
  slot: ProviderSlot,
  subscription: SimulatedSubscription,
  fields: Json,
): SimulatedSubscription {
  if (!fields.has("custom_data")) return subscription;
  const checkout = { ...subscription.checkout, subscriptionData: fields.at("custom_data").entries() };
  return emitEvents(slot, { subscription: { ...subscription, checkout }, events: ["restated"] });
}

function requireSubscription(slot: ProviderSlot, c: Context): SimulatedSubscription {
  const id = c.req.param("id") ?? "";
  const subscription = findSubscription(slot, id);
  if (!subscription) throw noEntity(id);
  return subscription;
}

function subscriptionJson(slot: ProviderSlot, subscription: SimulatedSubscription): object {
  const link = portalLink(slot, subscription.ids.customerId);
  return {
    ...slot.renderer.subscription(eventContextOf(slot, subscription)),
    management_urls: { update_payment_method: link, cancel: link },
  };
}
