import { type Context, Hono } from "hono";
import { type Json, readJson } from "../http/json-body.ts";
import { applyCommand, type Command } from "../lifecycle/lifecycle.ts";
import { emitEvents } from "../server/emit-events.ts";
import { eventContextOf } from "../server/event-context.ts";
import { expireIfLate, openCheckout } from "../server/open-checkout.ts";
import {
  findCheckout,
  findCustomer,
  findOffer,
  findSubscription,
  nowSeconds,
  type ProviderSlot,
} from "../server/provider-slot.ts";
import type { SimulatedSubscription } from "../server/state.ts";
import { checkoutDocument, customer, store, variant } from "./documents.ts";
import {
  answerLemonSqueezyProblem,
  document,
  LemonSqueezyProblem,
  requireLemonSqueezyKey,
} from "./errors.ts";
import { order } from "./events.ts";
import { lemonSqueezyInvoices } from "./invoices.ts";
import { orderOf } from "./order.ts";
import { numberedPage } from "./page.ts";

const NOT_FOUND = "The requested resource was not found.";

/** https://docs.lemonsqueezy.com/api: the part that a seller of subscriptions needs. */
export function lemonSqueezyApi(slot: ProviderSlot): Hono {
  const app = new Hono();
  app.onError(answerLemonSqueezyProblem);
  app.use(requireLemonSqueezyKey(slot.apiKey));
  app.get("/v1/stores", (c) => document(c, { meta: { page: ONE_PAGE }, data: [store(slot)] }));
  app.post("/v1/checkouts", async (c) => {
    const checkout = openCheckout(slot, orderOf(slot, await body(c)));
    return document(c, { data: checkoutDocument(slot, checkout) }, 201);
  });
  app.get("/v1/checkouts/:id", (c) => {
    const checkout = findCheckout(slot, c.req.param("id"));
    if (!checkout) throw new LemonSqueezyProblem(404, NOT_FOUND);
    return document(c, { data: checkoutDocument(slot, expireIfLate(slot, checkout)) });
  });
  app.route("/v1/subscription-invoices", lemonSqueezyInvoices(slot));
  app.get("/v1/subscriptions", (c) => {
    const email = new URL(c.req.url).searchParams.get("filter[user_email]");
    const subscriptions = slot.state.subscriptions.filter(
      ({ checkout }) => email === null || checkout.email === email,
    );
    const { page, meta } = numberedPage(c, subscriptions.toReversed());
    return document(c, {
      meta: { page: meta },
      data: page.map((subscription) => subscriptionJson(slot, subscription)),
    });
  });
  app.get("/v1/orders", (c) => {
    const email = new URL(c.req.url).searchParams.get("filter[user_email]");
    const subscriptions = slot.state.subscriptions.filter(
      ({ checkout }) => email === null || checkout.email === email,
    );
    const { page, meta } = numberedPage(c, subscriptions.toReversed());
    return document(c, {
      meta: { page: meta },
      data: page.map((subscription) => orderJson(slot, subscription)),
    });
  });
  app.get("/v1/subscriptions/:id", (c) =>
    document(c, { data: subscriptionJson(slot, requireSubscription(slot, c)) }),
  );
  app.patch("/v1/subscriptions/:id", async (c) => {
    const attributes = (await body(c)).at("data").at("attributes");
    const commands = commandsIn(slot, attributes);
    const changed = commands.reduce(
      (now, command) => grant(slot, now, command),
      requireSubscription(slot, c),
    );
    return document(c, { data: subscriptionJson(slot, changed) });
  });
  app.patch("/v1/subscription-items/:id", async (c) => {
    const id = String(Number(c.req.param("id")) - 1);
    const before = findSubscription(slot, id);
    if (!before) throw new LemonSqueezyProblem(404, NOT_FOUND);
    const seats = (await body(c)).at("data").at("attributes").at("quantity").wholeNumber();
    if (seats === null)
      throw new LemonSqueezyProblem(422, "The quantity is required.", "/data/attributes/quantity");
    grant(slot, before, { to: "change seats", seats });
    return document(c, {
      data: { type: "subscription-items", id: c.req.param("id"), attributes: { quantity: seats } },
    });
  });
  // There is no immediate end: the paid period is used up.
  app.delete("/v1/subscriptions/:id", (c) => {
    const before = requireSubscription(slot, c);
    const hasEnded = before.state.status === "canceled";
    const after = hasEnded ? before : grant(slot, before, { to: "cancel at period end" });
    return document(c, { data: subscriptionJson(slot, after) });
  });
  app.get("/v1/customers/:id", (c) => {
    const customerRecord = findCustomer(slot, c.req.param("id"));
    if (!customerRecord) throw new LemonSqueezyProblem(404, NOT_FOUND);
    return document(c, { data: customer(slot, customerRecord) });
  });
  app.get("/v1/variants/:id", (c) => {
    const offer = findOffer(slot, c.req.param("id"));
    if (!offer) throw new LemonSqueezyProblem(404, NOT_FOUND);
    return document(c, { data: variant(offer) });
  });
  app.all("*", () => {
    throw new LemonSqueezyProblem(404, NOT_FOUND);
  });
  return app;
}

const ONE_PAGE = { currentPage: 1, from: 1, lastPage: 1, perPage: 10, to: 1, total: 1 };

async function body(c: Context): Promise<Json> {
  const json = await readJson(c);
  if (json === null) throw new LemonSqueezyProblem(400, "The request body is no JSON.");
  return json;
}

function subscriptionJson(slot: ProviderSlot, subscription: SimulatedSubscription): object {
  return slot.renderer.subscription(eventContextOf(slot, subscription));
}

function orderJson(slot: ProviderSlot, subscription: SimulatedSubscription): object {
  return order(eventContextOf(slot, subscription));
}

function requireSubscription(slot: ProviderSlot, c: Context): SimulatedSubscription {
  const subscription = findSubscription(slot, c.req.param("id") ?? "");
  if (!subscription) throw new LemonSqueezyProblem(404, NOT_FOUND);
  return subscription;
}

function commandsIn(slot: ProviderSlot, attributes: Json): Command[] {
  const commands: Command[] = [];
  const cancels = attributes.at("cancelled").flag();
  if (cancels !== null) commands.push({ to: cancels ? "cancel at period end" : "resume" });
  const variant = attributes.at("variant_id");
  const variantId = variant.text() ?? variant.wholeNumber()?.toString() ?? null;
  if (variantId !== null) {
    const offer = findOffer(slot, variantId);
    if (!offer)
      throw new LemonSqueezyProblem(422, "The variant does not exist.", "/data/attributes/variant_id");
    commands.push({ to: "change plan", offer });
  }
  return commands;
}

function grant(slot: ProviderSlot, before: SimulatedSubscription, command: Command): SimulatedSubscription {
  const outcome = applyCommand(before, command, nowSeconds(slot));
  if (typeof outcome === "string") throw new LemonSqueezyProblem(422, outcome);
  return emitEvents(slot, outcome);
}
