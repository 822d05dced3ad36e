import { type Context, Hono } from "hono";
import { stripePrice } from "../../formats/stripe-price.ts";
import { stripeSession } from "../../formats/stripe-session.ts";
import { type Wish, wished } from "../account.ts";
import { closeCheckout, expireWhenLate, openCheckout } from "../open-checkout.ts";
import { portalUrl } from "../portal-link.ts";
import { accountOf, accountsOf, checkoutOf, checkoutUrl, customerOf, offerOf, type Shop } from "../shop.ts";
import type { Account, Checkout } from "../state.ts";
import { tell, tellingOf } from "../tell.ts";
import { type Form, readForm } from "./form.ts";
import { stripeEvents } from "./stripe-events.ts";
import { invalid, missing, rememberAnswers, requireStripeKey, StripeProblem } from "./stripe-problem.ts";
import { isWebUrl } from "./web-url.ts";

/** https://docs.stripe.com/api, as much of it as a seller of subscriptions asks for. */
export function stripeApi(shop: Shop): Hono {
  const app = new Hono();
  app.onError((error, c) => {
    if (error instanceof StripeProblem) return c.json({ error: error.body }, error.status);
    throw error;
  });
  app.use(requireStripeKey(shop.apiKey), rememberAnswers(shop));
  app.post("/v1/checkout/sessions", async (c) =>
    c.json(sessionOf(shop, openCheckout(shop, orderOf(shop, await readForm(c))))),
  );
  app.get("/v1/checkout/sessions/:id", (c) => c.json(sessionOf(shop, expireWhenLate(shop, found(shop, c)))));
  app.post("/v1/checkout/sessions/:id/expire", (c) => {
    const checkout = found(shop, c);
    if (checkout.status !== "open") {
      throw invalid(
        `Only Checkout Sessions with a status in ["open"] can be expired. This Checkout Session has a status of ${checkout.status}.`,
      );
    }
    return c.json(sessionOf(shop, closeCheckout(shop, checkout)));
  });
  app.post("/v1/billing_portal/sessions", async (c) => c.json(portalSession(shop, await readForm(c))));
  app.get("/v1/subscriptions", (c) => {
    const customer = c.req.query("customer");
    const status = c.req.query("status");
    const accounts = customer ? accountsOf(shop, customer) : shop.state.accounts;
    // Unless they are asked for, those that have ended are left out.
    const isAsked = (is: string) =>
      status === undefined ? is !== "canceled" : status === "all" || status === is;
    const data = accounts
      .filter(({ step }) => isAsked(step.standing.status))
      .map((account) => subscriptionOf(shop, account));
    return c.json({ object: "list", url: "/v1/subscriptions", has_more: false, data: data.reverse() });
  });
  app.get("/v1/subscriptions/:id", (c) => c.json(subscriptionOf(shop, account(shop, c))));
  app.post("/v1/subscriptions/:id", async (c) => {
    const before = account(shop, c);
    if (before.step.standing.status === "canceled") {
      throw invalid("A canceled subscription can only update its cancellation_details and metadata.");
    }
    return c.json(subscriptionOf(shop, wishesIn(shop, await readForm(c)).reduce(grant(shop), before)));
  });
  app.delete("/v1/subscriptions/:id", (c) => {
    const before = account(shop, c);
    if (before.step.standing.status === "canceled") throw missing("subscription", c.req.param("id"), "id");
    return c.json(subscriptionOf(shop, grant(shop)(before, { to: "cancel now" })));
  });
  app.get("/v1/prices/:id", (c) => {
    const offer = offerOf(shop, c.req.param("id"));
    if (!offer) throw missing("price", c.req.param("id"), "price");
    return c.json(stripePrice(offer, 1_735_689_600));
  });
  app.get("/v1/customers/:id", (c) => {
    const customer = customerOf(shop, c.req.param("id"));
    if (!customer) throw missing("customer", c.req.param("id"), "id");
    const { id, email, createdAtSeconds } = customer;
    return c.json({
      id,
      object: "customer",
      created: createdAtSeconds,
      email,
      livemode: false,
      metadata: {},
    });
  });
  app.route("/v1/events", stripeEvents(shop));
  app.all("*", (c) =>
    c.json(
      {
        error: {
          type: "invalid_request_error",
          message: `Unrecognized request URL (${c.req.method}: ${c.req.path}).`,
        },
      },
      404,
    ),
  );
  return app;
}

function orderOf(shop: Shop, form: Form) {
  const priceId = form.text("line_items[0][price]");
  if (form.text("mode") !== "subscription") throw invalid("You must provide mode=subscription here.", "mode");
  if (!priceId) throw invalid("Missing required param: line_items[0][price].", "line_items[0][price]");
  const offer = offerOf(shop, priceId);
  if (!offer) throw missing("price", priceId, "line_items[0][price]", 400);
  const seats = form.wholeNumber("line_items[0][quantity]") ?? 1;
  if (!(seats >= 1))
    throw invalid("Invalid integer: quantity must be at least 1.", "line_items[0][quantity]");
  const customerId = form.text("customer");
  if (customerId && !customerOf(shop, customerId)) throw missing("customer", customerId, "customer", 400);
  const email = form.text("customer_email");
  if (customerId && email)
    throw invalid("You may only specify one of these parameters: customer, customer_email.");
  const successUrl = webUrl(form, "success_url");
  if (!successUrl) throw invalid("You must provide a success_url.", "success_url");
  return {
    offer,
    seats,
    // A session's metadata stays its own: what the subscription is to have is said apart.
    data: form.entries("metadata"),
    subscriptionData: form.entries("subscription_data[metadata]"),
    email: email ?? (customerId ? (customerOf(shop, customerId)?.email ?? null) : null),
    customerId,
    externalId: form.text("client_reference_id"),
    successUrl,
    cancelUrl: webUrl(form, "cancel_url"),
  };
}

function webUrl(form: Form, name: string): string | null {
  const url = form.text(name);
  // The session's id takes the place of the braces, which no URL has.
  if (url !== null && !isWebUrl(url)) throw invalid("Not a valid URL", name, "url_invalid");
  return url;
}

function found(shop: Shop, c: Context): Checkout {
  const id = c.req.param("id") ?? "";
  const checkout = checkoutOf(shop, id);
  if (!checkout) throw missing("checkout.session", id, "session");
  return checkout;
}

function account(shop: Shop, c: Context): Account {
  const id = c.req.param("id") ?? "";
  const known = accountOf(shop, id);
  if (!known) throw missing("subscription", id, "id");
  return known;
}

function sessionOf(shop: Shop, checkout: Checkout): object {
  const { id, status, offer, seats, customerId, email, externalId, data, subscriptionId } = checkout;
  const isComplete = status === "complete";
  return stripeSession({
    ...{ id, status, customerId, subscriptionId, metadata: data, clientReferenceId: externalId },
    ...{ successUrl: checkout.successUrl, cancelUrl: checkout.cancelUrl },
    createdAtSeconds: checkout.createdAtSeconds,
    paymentStatus: isComplete ? "paid" : "unpaid",
    total: offer.amount * seats,
    currency: offer.currency,
    givenEmail: isComplete ? null : email,
    paidByEmail: isComplete ? email : null,
    url: status === "open" ? checkoutUrl(shop, checkout) : null,
  });
}

function portalSession(shop: Shop, form: Form): object {
  const customerId = form.text("customer");
  if (!customerId) throw invalid("Missing required param: customer.", "customer");
  if (!customerOf(shop, customerId)) throw missing("customer", customerId, "customer", 400);
  const returnUrl = webUrl(form, "return_url");
  return {
    id: `bps_${shop.state.run}${Date.now().toString(36)}`,
    object: "billing_portal.session",
    configuration: `bpc_${shop.state.run}`,
    created: Math.floor(shop.nowMs() / 1_000),
    customer: customerId,
    customer_account: null,
    flow: null,
    livemode: false,
    locale: null,
    on_behalf_of: null,
    return_url: returnUrl,
    url: portalUrl(shop, { customerId, returnUrl }),
  };
}

function subscriptionOf(shop: Shop, account: Account): object {
  return shop.renderer.subscription(tellingOf(shop, account));
}

function wishesIn(shop: Shop, form: Form): Wish[] {
  const wishes: Wish[] = [];
  const cancels = form.text("cancel_at_period_end");
  if (cancels === "true") wishes.push({ to: "cancel at period end" });
  if (cancels === "false") wishes.push({ to: "resume" });
  const priceId = form.text("items[0][price]");
  if (priceId) {
    const offer = offerOf(shop, priceId);
    if (!offer) throw missing("price", priceId, "items[0][price]", 400);
    wishes.push({ to: "change plan", offer });
  }
  const seats = form.wholeNumber("items[0][quantity]");
  if (seats !== null) wishes.push({ to: "change seats", seats });
  return wishes;
}

function grant(shop: Shop) {
  return (before: Account, wish: Wish): Account => {
    if (wish.to === "resume" && !before.step.standing.cancelAtPeriodEnd) return before;
    const outcome = wished(before, wish);
    if (typeof outcome === "string") throw invalid(outcome);
    return tell(shop, outcome);
  };
}
