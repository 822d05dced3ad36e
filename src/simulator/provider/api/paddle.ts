import { type Context, Hono } from "hono";
import { rfc3339 } from "../../formats/clock.ts";
import { paddlePrice } from "../../formats/paddle-price.ts";
import { paddleTransaction } from "../../formats/paddle-transaction.ts";
import { type Wish, wished } from "../account.ts";
import { openCheckout } from "../open-checkout.ts";
import { newCustomer } from "../pay-checkout.ts";
import { portalUrl } from "../portal-link.ts";
import {
  accountOf,
  accountsOf,
  checkoutOf,
  checkoutUrl,
  customerOf,
  nowSeconds,
  offerOf,
  type Shop,
} from "../shop.ts";
import type { Account, Checkout, Customer } from "../state.ts";
import { tell, tellingOf } from "../tell.ts";
import { type Json, readJson } from "./json-body.ts";
import { paddleEvents } from "./paddle-events.ts";
import {
  answerPaddleProblem,
  data,
  invalidField,
  meta,
  noEntity,
  PaddleProblem,
  paged,
  requirePaddleKey,
} from "./paddle-problem.ts";
import { isWebUrl } from "./web-url.ts";

/** https://developer.paddle.com/api-reference, as much of it as a seller of subscriptions asks for. */
export function paddleApi(shop: Shop): Hono {
  const app = new Hono();
  app.onError(answerPaddleProblem);
  app.use(requirePaddleKey(shop.apiKey));
  app.post("/transactions", async (c) => {
    const checkout = openCheckout(shop, orderOf(shop, await body(c)));
    return data(c, transactionOf(shop, checkout), 201);
  });
  app.get("/transactions/:id", (c) => {
    const checkout = checkoutOf(shop, c.req.param("id"));
    if (!checkout) throw noEntity(c.req.param("id"));
    return data(c, transactionOf(shop, checkout));
  });
  app.post("/customers", async (c) => {
    const sent = await body(c);
    const email = sent.at("email").text();
    if (!email?.includes("@")) throw invalidField("email", "must be a valid email address");
    const known = shop.state.customers.find((customer) => customer.email === email);
    if (known) {
      throw new PaddleProblem(
        409,
        "customer_already_exists",
        `customer email conflicts with customer of id ${known.id}`,
      );
    }
    const userId = sent.at("custom_data").at("userId").text();
    return data(c, customer(addCustomer(shop, email, userId)), 201);
  });
  app.get("/customers", (c) => {
    const emails = c.req.query("email")?.split(",");
    const ids = c.req.query("id")?.split(",");
    const found = shop.state.customers.filter(
      ({ id, email }) => (emails?.includes(email) ?? true) && (ids?.includes(id) ?? true),
    );
    const pagination = { per_page: 50, next: c.req.url, has_more: false, estimated_total: found.length };
    return paged(c, found.map(customer), pagination);
  });
  app.get("/customers/:id", (c) => data(c, customer(buyer(shop, c.req.param("id")))));
  app.post("/customers/:id/portal-sessions", async (c) => {
    const { id } = buyer(shop, c.req.param("id"));
    const asked = Object.values((await body(c)).at("subscription_ids").entries());
    return data(c, portalSession(shop, id, asked), 201);
  });
  app.get("/subscriptions", (c) => {
    const { state } = shop;
    const customerId = c.req.query("customer_id");
    const accounts = customerId ? accountsOf(shop, customerId) : state.accounts;
    const pagination = { per_page: 50, next: c.req.url, has_more: false, estimated_total: accounts.length };
    return paged(
      c,
      accounts.map((account) => subscriptionOf(shop, account)),
      pagination,
    );
  });
  app.get("/subscriptions/:id", (c) => data(c, subscriptionOf(shop, account(shop, c))));
  app.post("/subscriptions/:id/cancel", async (c) => {
    const before = account(shop, c);
    if (before.step.standing.status === "canceled") {
      throw new PaddleProblem(400, "subscription_is_canceled_action_invalid", "Subscription is canceled.");
    }
    const effectiveFrom = (await body(c)).at("effective_from").text();
    const wish: Wish =
      effectiveFrom === "immediately" ? { to: "cancel now" } : { to: "cancel at period end" };
    const outcome = wished(before, wish);
    if (typeof outcome === "string") throw invalidField("effective_from", outcome);
    return data(c, subscriptionOf(shop, tell(shop, outcome)));
  });
  app.get("/prices/:id", (c) => {
    const offer = offerOf(shop, c.req.param("id"));
    if (!offer) throw noEntity(c.req.param("id"));
    return data(c, paddlePrice(offer));
  });
  app.route("/events", paddleEvents(shop));
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

function orderOf(shop: Shop, order: Json) {
  const item = order.at("items").at(0);
  const priceId = item.at("price_id").text();
  if (priceId === null) throw invalidField("items.0.price_id", "is required");
  const offer = offerOf(shop, priceId);
  if (!offer) {
    throw new PaddleProblem(400, "transaction_price_not_found", `price ${priceId} not found`);
  }
  const seats = item.at("quantity").wholeNumber() ?? 1;
  const { min, max } = offer.seats;
  if (!(seats >= min && seats <= max)) {
    throw new PaddleProblem(
      400,
      "transaction_item_quantity_out_of_range",
      `quantity must be between ${min} and ${max}`,
    );
  }
  const customerId = order.at("customer_id").text();
  // Where the seller's own page with the checkout would be: from ours, people go back there.
  const page = order.at("checkout").at("url").text();
  if (page !== null && !isWebUrl(page)) throw invalidField("checkout.url", "must be a valid URL");
  const customData = order.at("custom_data").entries();
  return {
    offer,
    seats,
    data: customData,
    subscriptionData: customData,
    email: customerId === null ? null : buyer(shop, customerId).email,
    customerId,
    externalId: null,
    successUrl: page,
    cancelUrl: page,
  };
}

function transactionOf(shop: Shop, checkout: Checkout): object {
  const { id, status, offer, seats, customerId, subscriptionId, createdAtSeconds } = checkout;
  return paddleTransaction({
    ...{ id, offer, seats, customerId, subscriptionId, createdAtSeconds },
    status: status === "complete" ? "completed" : status === "open" ? "ready" : "canceled",
    origin: "api",
    customData: checkout.data,
    period: null,
    checkoutUrl: checkoutUrl(shop, checkout),
    updatedAtSeconds: checkout.completedAtSeconds ?? createdAtSeconds,
  });
}

function subscriptionOf(shop: Shop, account: Account): object {
  const link = portalLink(shop, account.subject.customerId);
  return {
    ...shop.renderer.subscription(tellingOf(shop, account)),
    management_urls: { update_payment_method: link, cancel: link },
  };
}

function portalSession(shop: Shop, customerId: string, subscriptionIds: readonly unknown[]): object {
  const link = portalLink(shop, customerId);
  return {
    id: `cpls_${shop.state.run}${Date.now().toString(36)}`,
    customer_id: customerId,
    urls: {
      general: { overview: link },
      subscriptions: subscriptionIds.map((id) => ({
        id,
        cancel_subscription: link,
        update_subscription_payment_method: link,
      })),
    },
    created_at: rfc3339(nowSeconds(shop)),
  };
}

function portalLink(shop: Shop, customerId: string): string {
  return portalUrl(shop, { customerId, returnUrl: null });
}

function account(shop: Shop, c: Context): Account {
  const id = c.req.param("id") ?? "";
  const known = accountOf(shop, id);
  if (!known) throw noEntity(id);
  return known;
}

function buyer(shop: Shop, id: string): Customer {
  const known = customerOf(shop, id);
  if (!known) throw noEntity(id);
  return known;
}

function addCustomer(shop: Shop, email: string, externalId: string | null): Customer {
  const { customerId } = shop.renderer.namesOf(`${shop.state.run}c`, shop.state.customers.length);
  return newCustomer(shop, { id: customerId, email, externalId, createdAtSeconds: nowSeconds(shop) });
}

function customer({ id, email, externalId, createdAtSeconds }: Customer): object {
  const createdAt = rfc3339(createdAtSeconds);
  return {
    ...{ id, email, name: null, locale: "en", status: "active", marketing_consent: false },
    ...{
      custom_data: externalId === null ? null : { userId: externalId },
      import_meta: null,
      created_at: createdAt,
      updated_at: createdAt,
    },
  };
}
