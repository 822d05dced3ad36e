import { type Context, Hono } from "hono";
import { type Json, readJson } from "../http/json-body.ts";
import { isWebUrl } from "../http/web-url.ts";
import { applyCommand, type Command } from "../lifecycle/lifecycle.ts";
import type { Offer } from "../lifecycle/offer.ts";
import { rfc3339 } from "../rfc3339.ts";
import { emitEvents, eventContextOf } from "../server/emit-events.ts";
import { expireIfLate, openCheckout } from "../server/open-checkout.ts";
import { portalUrl } from "../server/portal-link.ts";
import {
  checkoutUrl,
  findCheckout,
  findCustomer,
  findOffer,
  findSubscription,
  nowSeconds,
  type ProviderSlot,
} from "../server/provider-slot.ts";
import type { Checkout, Customer, SimulatedSubscription } from "../server/state.ts";
import {
  answerLemonSqueezyProblem,
  document,
  LemonSqueezyProblem,
  requireLemonSqueezyKey,
} from "./errors.ts";
import { order } from "./events.ts";

const NOT_FOUND = "The requested resource was not found.";
const STORE_ID = "1";

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
  app.get("/v1/subscription-invoices", (c) => {
    const id = new URL(c.req.url).searchParams.get("filter[subscription_id]") ?? "";
    const paid = findSubscription(slot, id);
    return document(c, { meta: { page: ONE_PAGE }, data: paid ? [invoice(slot, paid)] : [] });
  });
  app.post("/v1/subscription-invoices/:id/refund", (c) => {
    const paid = findSubscription(slot, c.req.param("id"));
    if (!paid) throw new LemonSqueezyProblem(404, NOT_FOUND);
    slot.state.refunds.push(paid.ids.subscriptionId);
    slot.changed();
    return document(c, { data: invoice(slot, paid) });
  });
  app.get("/v1/subscriptions", (c) => {
    const email = new URL(c.req.url).searchParams.get("filter[user_email]");
    const found = slot.state.subscriptions.filter(
      ({ checkout }) => email === null || checkout.email === email,
    );
    const { page, meta } = numberedPage(c, found.toReversed());
    return document(c, { meta: { page: meta }, data: page.map((one) => subscriptionJson(slot, one)) });
  });
  app.get("/v1/orders", (c) => {
    const email = new URL(c.req.url).searchParams.get("filter[user_email]");
    const found = slot.state.subscriptions.filter(
      ({ checkout }) => email === null || checkout.email === email,
    );
    const { page, meta } = numberedPage(c, found.toReversed());
    return document(c, { meta: { page: meta }, data: page.map((one) => orderJson(slot, one)) });
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
  // There is no immediate end: the paid period is used up.
  app.delete("/v1/subscriptions/:id", (c) => {
    const before = requireSubscription(slot, c);
    const hasEnded = before.state.status === "canceled";
    const after = hasEnded ? before : grant(slot, before, { to: "cancel at period end" });
    return document(c, { data: subscriptionJson(slot, after) });
  });
  app.get("/v1/customers/:id", (c) => {
    const known = findCustomer(slot, c.req.param("id"));
    if (!known) throw new LemonSqueezyProblem(404, NOT_FOUND);
    return document(c, { data: customer(slot, known) });
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

const MAX_PAGE_SIZE = 100;
const DEFAULT_PAGE_SIZE = 10;

/** https://docs.lemonsqueezy.com/api/getting-started/requests#pagination */
function numberedPage<Item>(c: Context, items: readonly Item[]) {
  const number = Number(c.req.query("page[number]") ?? 1);
  const perPage = Math.min(MAX_PAGE_SIZE, Number(c.req.query("page[size]") ?? DEFAULT_PAGE_SIZE));
  if (!(number >= 1 && perPage >= 1)) throw new LemonSqueezyProblem(400, "The page is invalid.");
  const from = (number - 1) * perPage;
  const page = items.slice(from, from + perPage);
  const lastPage = Math.max(1, Math.ceil(items.length / perPage));
  const to = from + page.length;
  return { page, meta: { currentPage: number, from: from + 1, lastPage, perPage, to, total: items.length } };
}

async function body(c: Context): Promise<Json> {
  const read = await readJson(c);
  if (read === null) throw new LemonSqueezyProblem(400, "The request body is no JSON.");
  return read;
}

function orderOf(slot: ProviderSlot, order: Json) {
  const data = order.at("data");
  if (data.at("type").text() !== "checkouts") {
    throw new LemonSqueezyProblem(422, "The type field must be checkouts.", "/data/type");
  }
  const relations = data.at("relationships");
  const storeId = idOf(relations.at("store"));
  if (storeId === null) {
    throw new LemonSqueezyProblem(422, "The store field is required.", "/data/relationships/store");
  }
  const variantId = idOf(relations.at("variant"));
  const offer = variantId === null ? null : findOffer(slot, variantId);
  if (storeId !== STORE_ID || !offer) {
    const relation = storeId !== STORE_ID ? "store" : "variant";
    throw new LemonSqueezyProblem(
      404,
      "The related resource does not exist.",
      `/data/relationships/${relation}`,
    );
  }
  const filled = data.at("attributes").at("checkout_data");
  const custom = filled.at("custom").entries();
  const url = data.at("attributes").at("product_options").at("redirect_url").text();
  if (url !== null && !isWebUrl(url)) {
    const pointer = "/data/attributes/product_options/redirect_url";
    throw new LemonSqueezyProblem(422, "The redirect url must be a valid URL.", pointer);
  }
  return {
    offer,
    seats: filled.at("variant_quantities").at(0).at("quantity").wholeNumber() || 1,
    data: custom,
    subscriptionData: custom,
    email: filled.at("email").text(),
    customerId: null,
    externalId: null,
    expiresAtSeconds: expiry(slot, data.at("attributes").at("expires_at")),
    successUrl: url,
    cancelUrl: null,
  };
}

/** The id of a relationship; JSON:API requires strings, but clients also send numbers. */
function idOf(relation: Json): string | null {
  const id = relation.at("data").at("id");
  return id.text() ?? id.wholeNumber()?.toString() ?? null;
}

function checkoutDocument(slot: ProviderSlot, checkout: Checkout): object {
  const { id, offer, seats, email, data, successUrl, createdAtSeconds, expiresAtSeconds } = checkout;
  const createdAt = rfc3339(createdAtSeconds);
  return {
    type: "checkouts",
    id,
    attributes: {
      store_id: Number(STORE_ID),
      variant_id: offer.priceId,
      custom_price: null,
      product_options: { redirect_url: successUrl, enabled_variants: [] },
      checkout_options: { embed: false, media: true, logo: true },
      checkout_data: {
        email: email ?? "",
        name: "",
        custom: data,
        variant_quantities: [{ variant_id: offer.priceId, quantity: seats }],
      },
      preview: false,
      expires_at:
        expiresAtSeconds === null ? null : rfc3339(expiresAtSeconds - (slot.nowMs() - Date.now()) / 1_000),
      created_at: createdAt,
      updated_at: createdAt,
      test_mode: true,
      url: checkoutUrl(slot, checkout),
    },
    links: { self: `${slot.url()}/v1/checkouts/${id}` },
  };
}

function subscriptionJson(slot: ProviderSlot, known: SimulatedSubscription): object {
  return slot.renderer.subscription(eventContextOf(slot, known));
}

function orderJson(slot: ProviderSlot, known: SimulatedSubscription): object {
  return order(eventContextOf(slot, known));
}

function requireSubscription(slot: ProviderSlot, c: Context): SimulatedSubscription {
  const known = findSubscription(slot, c.req.param("id") ?? "");
  if (!known) throw new LemonSqueezyProblem(404, NOT_FOUND);
  return known;
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

function customer(slot: ProviderSlot, { id, email, createdAtSeconds }: Customer): object {
  const createdAt = rfc3339(createdAtSeconds);
  return {
    type: "customers",
    id,
    attributes: {
      ...{ store_id: Number(STORE_ID), name: email, email, status: "subscribed", test_mode: true },
      ...{ city: null, region: null, country: null, total_revenue_currency: 0, mrr: 0 },
      urls: { customer_portal: portalUrl(slot, { customerId: id, returnUrl: null }) },
      ...{ created_at: createdAt, updated_at: createdAt },
    },
  };
}

function store(slot: ProviderSlot): object {
  const createdAt = rfc3339(nowSeconds(slot));
  return {
    type: "stores",
    id: STORE_ID,
    attributes: {
      ...{ name: "Simulated store", slug: "simulated", domain: "simulated.lemonsqueezy.example" },
      ...{ url: slot.url(), country: "DE", currency: slot.offers[0]?.currency ?? "EUR" },
      ...{ created_at: createdAt, updated_at: createdAt },
    },
  };
}

function variant(offer: Offer): object {
  return {
    type: "variants",
    id: offer.priceId,
    attributes: {
      product_id: 20,
      name: `Per seat and ${offer.interval}`,
      slug: offer.planId,
      price: offer.amount,
      is_subscription: true,
      interval: offer.interval,
      interval_count: 1,
      has_free_trial: false,
      status: "published",
      test_mode: true,
    },
  };
}

/** Sellers use the machine's clock, and the provider's may be ahead of it. `null`: never. */
function expiry(slot: ProviderSlot, given: Json): number | null {
  const text = given.text();
  if (text === null) return null;
  const ms = Date.parse(text);
  if (Number.isNaN(ms)) {
    throw new LemonSqueezyProblem(422, "The expires at is not a valid date.", "/data/attributes/expires_at");
  }
  return (ms + slot.nowMs() - Date.now()) / 1_000;
}

function invoice(slot: ProviderSlot, { ids, state }: SimulatedSubscription): object {
  const isRefunded = slot.state.refunds.includes(ids.subscriptionId);
  return {
    type: "subscription-invoices",
    id: ids.subscriptionId,
    attributes: {
      subscription_id: Number(ids.subscriptionId),
      status: isRefunded ? "refunded" : "paid",
      refunded: isRefunded,
      total: state.offer.amount * state.seats,
      currency: state.offer.currency,
    },
  };
}
