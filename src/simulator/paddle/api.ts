import { type Context, Hono } from "hono";
import { type Json, readJson } from "../http/json-body.ts";
import { applyCommand, type Command } from "../lifecycle/lifecycle.ts";
import { proratedAmount } from "../lifecycle/prorated-amount.ts";
import { rfc3339 } from "../rfc3339.ts";
import { emitEvents, eventContextOf } from "../server/emit-events.ts";
import { closeCheckout, openCheckout } from "../server/open-checkout.ts";
import { createCustomer } from "../server/pay-checkout.ts";
import { portalUrl } from "../server/portal-link.ts";
import {
  checkoutUrl,
  findCheckout,
  findOffer,
  findSubscription,
  nowSeconds,
  type ProviderSlot,
  subscriptionsOfCustomer,
} from "../server/provider-slot.ts";
import type { Checkout, SimulatedSubscription } from "../server/state.ts";
import { customer, requireCustomer } from "./customers.ts";
import {
  answerPaddleProblem,
  data,
  invalidField,
  meta,
  noEntity,
  PaddleProblem,
  paged,
  requirePaddleKey,
} from "./errors.ts";
import { paddleEvents } from "./list-events.ts";
import { orderOf } from "./order.ts";
import { cursorPage } from "./page.ts";
import { paddlePrice } from "./price.ts";
import { paddleTransaction } from "./transaction.ts";

/** https://developer.paddle.com/api-reference: the part that a seller of subscriptions needs. */
export function paddleApi(slot: ProviderSlot): Hono {
  const app = new Hono();
  app.onError(answerPaddleProblem);
  app.use(requirePaddleKey(slot.apiKey));
  app.post("/transactions", async (c) => {
    const checkout = openCheckout(slot, orderOf(slot, await body(c)));
    return data(c, transactionOf(slot, checkout), 201);
  });
  app.get("/transactions/:id", (c) => {
    const checkout = findCheckout(slot, c.req.param("id"));
    if (!checkout) throw noEntity(c.req.param("id"));
    return data(c, transactionOf(slot, checkout));
  });
  app.patch("/transactions/:id", async (c) => {
    const checkout = findCheckout(slot, c.req.param("id"));
    if (!checkout) throw noEntity(c.req.param("id"));
    const sent = await body(c);
    if (checkout.status !== "open") {
      const status = checkout.status === "complete" ? "completed" : "canceled";
      throw new PaddleProblem(400, "transaction_immutable", `cannot update a transaction that is ${status}`);
    }
    if (sent.at("status").text() === "canceled") {
      return data(c, transactionOf(slot, closeCheckout(slot, checkout)));
    }
    const { offer, seats, data: customData } = orderOf(slot, sent);
    Object.assign(checkout, { offer, seats, data: customData, subscriptionData: customData });
    slot.changed();
    return data(c, transactionOf(slot, checkout));
  });
  app.get("/transactions", (c) => {
    const subscriptionId = c.req.query("subscription_id");
    const status = c.req.query("status");
    const found = slot.state.checkouts
      .filter((one) => subscriptionId === undefined || one.subscriptionId === subscriptionId)
      .filter((one) => status !== "completed" || one.status === "complete")
      .map((one) => transactionOf(slot, one));
    return paged(c, found, { per_page: 50, next: c.req.url, has_more: false, estimated_total: found.length });
  });
  app.post("/adjustments", async (c) => {
    const sent = await body(c);
    const id = sent.at("transaction_id").text() ?? "";
    const paid = findCheckout(slot, id);
    if (!paid?.subscriptionId) throw noEntity(id);
    slot.state.refunds.push(paid.subscriptionId);
    slot.changed();
    const { subscriptionId } = paid;
    return data(
      c,
      {
        id: `adj_${id}`,
        action: "refund",
        transaction_id: id,
        subscription_id: subscriptionId,
        status: "approved",
      },
      201,
    );
  });
  app.post("/customers", async (c) => {
    const sent = await body(c);
    const email = sent.at("email").text();
    if (!email?.includes("@")) throw invalidField("email", "must be a valid email address");
    const known = slot.state.customers.find((customer) => customer.email === email);
    if (known) {
      throw new PaddleProblem(
        409,
        "customer_already_exists",
        `customer email conflicts with customer of id ${known.id}`,
      );
    }
    const userId = sent.at("custom_data").at("userId").text();
    return data(c, customer(createCustomer(slot, { email, externalId: userId })), 201);
  });
  app.get("/customers", (c) => {
    const emails = c.req.query("email")?.split(",");
    const ids = c.req.query("id")?.split(",");
    const found = slot.state.customers.filter(
      ({ id, email }) => (emails?.includes(email) ?? true) && (ids?.includes(id) ?? true),
    );
    const pagination = { per_page: 50, next: c.req.url, has_more: false, estimated_total: found.length };
    return paged(c, found.map(customer), pagination);
  });
  app.get("/customers/:id", (c) => data(c, customer(requireCustomer(slot, c.req.param("id")))));
  app.post("/customers/:id/portal-sessions", async (c) => {
    const { id } = requireCustomer(slot, c.req.param("id"));
    const asked = Object.values((await body(c)).at("subscription_ids").entries());
    return data(c, portalSession(slot, id, asked), 201);
  });
  app.get("/subscriptions", (c) => {
    const { state } = slot;
    const customerId = c.req.query("customer_id");
    const subscriptions = customerId ? subscriptionsOfCustomer(slot, customerId) : state.subscriptions;
    return cursorPage(c, subscriptions, {
      path: `${slot.url()}/subscriptions`,
      idOf: ({ ids }) => ids.subscriptionId,
      show: (subscription) => subscriptionJson(slot, subscription),
    });
  });
  app.get("/subscriptions/:id", (c) => data(c, subscriptionJson(slot, requireSubscription(slot, c))));
  app.patch("/subscriptions/:id", async (c) => {
    const before = requireSubscription(slot, c);
    const item = (await body(c)).at("items").at(0);
    const commands: Command[] = [];
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
    return data(c, subscriptionJson(slot, changed));
  });
  app.patch("/subscriptions/:id/preview", async (c) => {
    const before = requireSubscription(slot, c);
    const item = (await body(c)).at("items").at(0);
    const priceId = item.at("price_id").text() ?? before.state.offer.priceId;
    const offer = findOffer(slot, priceId);
    if (!offer) throw noEntity(priceId);
    const amount = proratedAmount(before.state, offer, item.at("quantity").wholeNumber(), nowSeconds(slot));
    return data(c, {
      ...subscriptionJson(slot, before),
      update_summary: {
        result: {
          action: amount < 0 ? "credit" : "charge",
          amount: String(Math.abs(amount)),
          currency_code: offer.currency,
        },
      },
    });
  });
  app.post("/subscriptions/:id/cancel", async (c) => {
    const before = requireSubscription(slot, c);
    if (before.state.status === "canceled") {
      throw new PaddleProblem(400, "subscription_is_canceled_action_invalid", "Subscription is canceled.");
    }
    const effectiveFrom = (await body(c)).at("effective_from").text();
    const command: Command =
      effectiveFrom === "immediately" ? { to: "cancel now" } : { to: "cancel at period end" };
    const outcome = applyCommand(before, command, nowSeconds(slot));
    if (typeof outcome === "string") throw invalidField("effective_from", outcome);
    return data(c, subscriptionJson(slot, emitEvents(slot, outcome)));
  });
  app.get("/prices/:id", (c) => {
    const offer = findOffer(slot, c.req.param("id"));
    if (!offer) throw noEntity(c.req.param("id"));
    return data(c, paddlePrice(offer));
  });
  app.route("/events", paddleEvents(slot));
  app.all("*", (c) => {
    const error = new PaddleProblem(404, "invalid_url", "There's no such path.");
    return c.json({ error: error.body, meta: meta() }, 404);
  });
  return app;
}

async function body(c: Context): Promise<Json> {
  const read = await readJson(c);
  if (read === null) throw new PaddleProblem(400, "bad_request", "Invalid JSON.");
  return read;
}

function transactionOf(slot: ProviderSlot, checkout: Checkout): object {
  const { id, status, offer, seats, customerId, subscriptionId, createdAtSeconds } = checkout;
  return paddleTransaction({
    ...{ id, offer, seats, customerId, subscriptionId, createdAtSeconds },
    status: status === "complete" ? "completed" : status === "open" ? "ready" : "canceled",
    origin: "api",
    customData: checkout.data,
    period: null,
    checkoutUrl: checkoutUrl(slot, checkout),
    updatedAtSeconds: checkout.completedAtSeconds ?? createdAtSeconds,
  });
}

function subscriptionJson(slot: ProviderSlot, subscription: SimulatedSubscription): object {
  const link = portalLink(slot, subscription.ids.customerId);
  return {
    ...slot.renderer.subscription(eventContextOf(slot, subscription)),
    management_urls: { update_payment_method: link, cancel: link },
  };
}

function portalSession(slot: ProviderSlot, customerId: string, subscriptionIds: readonly unknown[]): object {
  const link = portalLink(slot, customerId);
  return {
    id: `cpls_${slot.state.run}${Date.now().toString(36)}`,
    customer_id: customerId,
    urls: {
      general: { overview: link },
      subscriptions: subscriptionIds.map((id) => ({
        id,
        cancel_subscription: link,
        update_subscription_payment_method: link,
      })),
    },
    created_at: rfc3339(nowSeconds(slot)),
  };
}

function portalLink(slot: ProviderSlot, customerId: string): string {
  return portalUrl(slot, { customerId, returnUrl: null });
}

function requireSubscription(slot: ProviderSlot, c: Context): SimulatedSubscription {
  const id = c.req.param("id") ?? "";
  const known = findSubscription(slot, id);
  if (!known) throw noEntity(id);
  return known;
}
