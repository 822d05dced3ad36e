import { type Context, Hono } from "hono";
import type { Json } from "../http/json-body.ts";
import { matchesAny } from "../http/matches.ts";
import { applyCommand, type Command } from "../lifecycle/apply-command.ts";
import { discountFrom } from "../lifecycle/discount.ts";
import { emitEvents } from "../server/emit-events.ts";
import { eventContextOf } from "../server/event-context.ts";
import { findSubscription, nowSeconds, type ProviderSlot } from "../server/provider-slot.ts";
import { countRedemption } from "../server/redeem.ts";
import type { SimulatedSubscription } from "../server/state.ts";
import { body } from "./body.ts";
import { data, invalidField, noEntity, PaddleProblem } from "./errors.ts";
import { assertUpdatable, requestedChange } from "./item-change.ts";
import { cursorPage } from "./page.ts";
import { portalLink } from "./portal-session.ts";
import { requestedDiscount } from "./requested-discount.ts";
import { updatePreview } from "./update-preview.ts";

export function paddleSubscriptions(slot: ProviderSlot): Hono {
  const app = new Hono();
  app.get("/", (c) => {
    const listed = slot.state.subscriptions
      .filter(matchesAny(c, "customer_id", ({ ids }) => ids.customerId))
      .filter(matchesAny(c, "price_id", ({ state }) => state.offer.priceId))
      .filter(matchesAny(c, "status", ({ state }) => state.status));
    return cursorPage(c, slot, listed, {
      path: "/subscriptions",
      idOf: ({ ids }) => ids.subscriptionId,
      show: (subscription) => subscriptionJson(slot, subscription),
    });
  });
  app.get("/:id", (c) => data(c, subscriptionJson(slot, requireSubscription(slot, c))));
  app.patch("/:id", async (c) => {
    const before = requireSubscription(slot, c);
    assertUpdatable(before);
    const fields = await body(c);
    const resumed =
      fields.has("scheduled_change") && before.state.cancelAtPeriodEnd
        ? apply(slot, before, { to: "resume" })
        : before;
    const items = emitEvents(slot, requestedChange(slot, resumed, fields));
    const changed = withDiscount(slot, items, fields);
    return data(c, subscriptionJson(slot, withCustomData(slot, changed, fields)));
  });
  app.patch("/:id/preview", async (c) => {
    const before = requireSubscription(slot, c);
    assertUpdatable(before);
    const preview = updatePreview(slot, before, requestedChange(slot, before, await body(c)));
    return data(c, { ...subscriptionJson(slot, before), ...preview });
  });
  app.post("/:id/cancel", async (c) => {
    const before = requireSubscription(slot, c);
    if (before.state.status === "canceled") {
      throw new PaddleProblem(400, "subscription_is_canceled_action_invalid", "Subscription is canceled.");
    }
    // https://developer.paddle.com/errors/subscriptions/subscription_locked_pending_changes
    if (before.state.cancelAtPeriodEnd) {
      const detail = "cannot update subscription, pending scheduled changes";
      throw new PaddleProblem(400, "subscription_locked_pending_changes", detail);
    }
    const effectiveFrom = (await body(c)).at("effective_from").text();
    const command: Command =
      effectiveFrom === "immediately" ? { to: "cancel now" } : { to: "cancel at period end", by: "seller" };
    return data(c, subscriptionJson(slot, apply(slot, before, command)));
  });
  return app;
}

function apply(slot: ProviderSlot, before: SimulatedSubscription, command: Command): SimulatedSubscription {
  const outcome = applyCommand(before, command, nowSeconds(slot));
  if (typeof outcome === "string") throw invalidField(command.to, outcome);
  return emitEvents(slot, outcome);
}

/** From the next billing period on; `null` removes it. */
function withDiscount(
  slot: ProviderSlot,
  subscription: SimulatedSubscription,
  fields: Json,
): SimulatedSubscription {
  if (!fields.has("discount")) return subscription;
  const { state } = subscription;
  const id = fields.at("discount").at("id");
  const discount = requestedDiscount(slot, id, "discount.id", state.offer);
  if (discount !== null) countRedemption(slot, discount);
  const starting = discount && discountFrom(discount, null, { startsAtSeconds: state.periodEndSeconds });
  const changed = { ...subscription, state: { ...state, discount: starting } };
  return emitEvents(slot, { subscription: changed, events: ["restated"] });
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
