import { randomUUID } from "node:crypto";
import { type Context, Hono } from "hono";
import { rfc3339 } from "../../formats/clock.ts";
import { polarCheckout } from "../../formats/polar-checkout.ts";
import { polarCustomer } from "../../formats/polar-customer.ts";
import { polarProduct } from "../../formats/polar-product.ts";
import { type Wish, wished } from "../account.ts";
import { expireWhenLate, openCheckout } from "../open-checkout.ts";
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
import { polarDeliveries, polarEndpoints } from "./polar-deliveries.ts";
import {
  answerPolarProblem,
  notFound,
  PolarProblem,
  requirePolarKey,
  unprocessable,
} from "./polar-problem.ts";
import { isWebUrl } from "./web-url.ts";

/** https://polar.sh/docs/api-reference, as much of it as a seller of subscriptions asks for. */
export function polarApi(shop: Shop): Hono {
  const app = new Hono();
  app.onError(answerPolarProblem);
  app.use(requirePolarKey(shop.apiKey));
  app.post("/v1/checkouts/", async (c) =>
    c.json(checkout(shop, openCheckout(shop, orderOf(shop, await body(c)))), 201),
  );
  app.get("/v1/checkouts/:id", (c) => {
    const known = checkoutOf(shop, c.req.param("id"));
    if (!known) throw notFound();
    return c.json(checkout(shop, expireWhenLate(shop, known)));
  });
  app.post("/v1/customer-sessions/", async (c) => c.json(customerSession(shop, await body(c)), 201));
  app.get("/v1/customers/external/:id", (c) =>
    c.json(person(shop.state.customers.find(({ externalId }) => externalId === c.req.param("id")))),
  );
  app.get("/v1/customers/:id", (c) => c.json(person(customerOf(shop, c.req.param("id")))));
  app.get("/v1/subscriptions/", (c) => {
    const customerId = c.req.query("customer_id");
    const accounts = customerId ? accountsOf(shop, customerId) : shop.state.accounts;
    const items = accounts.map((account) => subscription(shop, account));
    return c.json({ items, pagination: { total_count: items.length, max_page: 1 } });
  });
  app.get("/v1/subscriptions/:id", (c) => c.json(subscription(shop, account(shop, c))));
  app.delete("/v1/subscriptions/:id", (c) =>
    c.json(subscription(shop, grant(shop, account(shop, c), { to: "cancel now" }))),
  );
  app.patch("/v1/subscriptions/:id", async (c) => {
    const before = account(shop, c);
    const wishes = wishesIn(shop, await body(c));
    return c.json(
      subscription(
        shop,
        wishes.reduce((now, wish) => grant(shop, now, wish), before),
      ),
    );
  });
  app.get("/v1/products/:id", (c) => {
    const offer = offerOf(shop, c.req.param("id"));
    if (!offer) throw notFound();
    return c.json(polarProduct(offer));
  });
  app.get("/v1/webhooks/endpoints", polarEndpoints(shop));
  app.get("/v1/webhooks/deliveries", polarDeliveries(shop));
  app.all("*", (c) => c.json({ detail: "Not Found" }, 404));
  return app;
}

async function body(c: Context): Promise<Json> {
  const read = await readJson(c);
  if (read === null) throw unprocessable([], "JSON decode error");
  return read;
}

function orderOf(shop: Shop, order: Json) {
  const productId = order.at("products").at(0).text();
  if (productId === null) throw unprocessable(["products"], "Field required");
  const offer = offerOf(shop, productId);
  if (!offer) throw unprocessable(["products", 0], "Product does not exist.");
  const seats = order.at("seats").wholeNumber() ?? offer.seats.min;
  const { min, max } = offer.seats;
  if (!(seats >= min && seats <= max)) {
    throw unprocessable(["seats"], `Seats must be between ${min} and ${max}.`);
  }
  const customerId = order.at("customer_id").text();
  const customer = customerId === null ? null : customerOf(shop, customerId);
  if (customerId !== null && customer === null)
    throw unprocessable(["customer_id"], "Customer does not exist.");
  const metadata = order.at("metadata").entries();
  return {
    offer,
    seats,
    data: metadata,
    subscriptionData: metadata,
    email: order.at("customer_email").text() ?? customer?.email ?? null,
    customerId,
    externalId: order.at("external_customer_id").text() ?? customer?.externalId ?? null,
    successUrl: webUrl(order, "success_url"),
    cancelUrl: webUrl(order, "return_url"),
  };
}

function webUrl(order: Json, name: string): string | null {
  const url = order.at(name).text();
  if (url !== null && !isWebUrl(url)) throw unprocessable([name], "Input should be a valid URL");
  return url;
}

function checkout(shop: Shop, known: Checkout): object {
  const { id, status, offer, seats, data, email, customerId, externalId, subscriptionId } = known;
  return polarCheckout({
    ...{ id, offer, seats, email, customerId, subscriptionId, metadata: data },
    ...{ successUrl: known.successUrl, returnUrl: known.cancelUrl, externalCustomerId: externalId },
    status: status === "complete" ? "succeeded" : status,
    createdAtSeconds: known.createdAtSeconds,
    modifiedAtSeconds: known.completedAtSeconds,
    url: checkoutUrl(shop, known),
  });
}

function customerSession(shop: Shop, order: Json): object {
  const id = order.at("customer_id").text();
  const externalId = order.at("external_customer_id").text();
  const known = shop.state.customers.find(
    (customer) => customer.id === id || (externalId !== null && customer.externalId === externalId),
  );
  if (!known)
    throw unprocessable([id === null ? "external_customer_id" : "customer_id"], "Customer does not exist.");
  const returnUrl = webUrl(order, "return_url");
  const url = portalUrl(shop, { customerId: known.id, returnUrl });
  const now = nowSeconds(shop);
  return {
    id: randomUUID(),
    created_at: rfc3339(now),
    modified_at: null,
    token: `polar_cst_${url.split("/").at(-1)}`,
    expires_at: rfc3339(now + 86_400),
    return_url: returnUrl,
    customer_portal_url: url,
    customer_id: known.id,
    customer: polarCustomer(known),
  };
}

function person(known: Customer | null | undefined): object {
  if (!known) throw notFound();
  return polarCustomer(known);
}

function subscription(shop: Shop, known: Account): object {
  return shop.renderer.subscription(tellingOf(shop, known));
}

function account(shop: Shop, c: Context): Account {
  const known = accountOf(shop, c.req.param("id") ?? "");
  if (!known) throw notFound();
  return known;
}

function wishesIn(shop: Shop, order: Json): Wish[] {
  const wishes: Wish[] = [];
  if (order.at("revoke").flag()) wishes.push({ to: "cancel now" });
  const cancels = order.at("cancel_at_period_end").flag();
  if (cancels !== null) wishes.push({ to: cancels ? "cancel at period end" : "resume" });
  const productId = order.at("product_id").text();
  if (productId !== null) {
    const offer = offerOf(shop, productId);
    if (!offer) throw unprocessable(["product_id"], "Product does not exist.");
    wishes.push({ to: "change plan", offer });
  }
  const seats = order.at("seats").wholeNumber();
  if (seats !== null) wishes.push({ to: "change seats", seats });
  return wishes;
}

function grant(shop: Shop, before: Account, wish: Wish): Account {
  if (before.step.standing.status === "canceled") {
    throw new PolarProblem(403, {
      error: "AlreadyCanceledSubscription",
      detail: "This subscription is already canceled or will be at the end of the period.",
    });
  }
  const outcome = wished(before, wish);
  if (typeof outcome === "string") throw unprocessable([], outcome);
  return tell(shop, outcome);
}
