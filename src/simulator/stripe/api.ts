import { type Context, Hono } from "hono";
import { type Form, readForm } from "../http/form.ts";
import { applyCommand, type Command } from "../lifecycle/lifecycle.ts";
import { proratedAmount } from "../lifecycle/prorated-amount.ts";
import { emitEvents } from "../server/emit-events.ts";
import { eventContextOf } from "../server/event-context.ts";
import { closeCheckout, expireIfLate, openCheckout } from "../server/open-checkout.ts";
import { createCustomer } from "../server/pay-checkout.ts";
import {
  checkoutUrl,
  findCheckout,
  findCustomer,
  findOffer,
  findSubscription,
  nowSeconds,
  type ProviderSlot,
  subscriptionsOfCustomer,
} from "../server/provider-slot.ts";
import type { Checkout, Customer, SimulatedSubscription } from "../server/state.ts";
import { invalid, missing, rememberAnswers, requireStripeKey, StripeProblem } from "./errors.ts";
import { stripeInvoices } from "./invoices.ts";
import { stripeEvents } from "./list-events.ts";
import { orderOf } from "./order.ts";
import { pageOf } from "./page.ts";
import { portalSession } from "./portal-session.ts";
import { stripePrice } from "./price.ts";
import { stripeSession } from "./session.ts";

/** https://docs.stripe.com/api: the part that a seller of subscriptions needs. */
export function stripeApi(slot: ProviderSlot): Hono {
  const app = new Hono();
  app.onError((error, c) => {
    if (error instanceof StripeProblem) return c.json({ error: error.body }, error.status);
    throw error;
  });
  app.use(requireStripeKey(slot.apiKey), rememberAnswers(slot));
  app.post("/v1/checkout/sessions", async (c) =>
    c.json(sessionOf(slot, openCheckout(slot, orderOf(slot, await readForm(c))))),
  );
  app.get("/v1/checkout/sessions/:id", (c) =>
    c.json(sessionOf(slot, expireIfLate(slot, requireCheckout(slot, c)))),
  );
  app.post("/v1/checkout/sessions/:id/expire", (c) => {
    const checkout = requireCheckout(slot, c);
    if (checkout.status !== "open") {
      throw invalid(
        `Only Checkout Sessions with a status in ["open"] can be expired. This Checkout Session has a status of ${checkout.status}.`,
      );
    }
    return c.json(sessionOf(slot, closeCheckout(slot, checkout)));
  });
  app.post("/v1/billing_portal/sessions", async (c) => c.json(portalSession(slot, await readForm(c))));
  app.get("/v1/subscriptions", (c) => {
    const customer = c.req.query("customer");
    const status = c.req.query("status");
    const subscriptions = customer ? subscriptionsOfCustomer(slot, customer) : slot.state.subscriptions;
    // Ended ones are listed only on request.
    const isAsked = (candidate: string) =>
      status === undefined ? candidate !== "canceled" : status === "all" || status === candidate;
    const listed = subscriptions.filter(({ state }) => isAsked(state.status)).toReversed();
    const idOf = ({ ids }: SimulatedSubscription) => ids.subscriptionId;
    const query = new URL(c.req.url).searchParams;
    const { page, hasMore } = pageOf(listed, { object: "subscription", idOf }, query);
    const isExpanded = query.getAll("expand[0]").includes("data.customer");
    const data = page.map((subscription) => {
      const customer = isExpanded ? findCustomer(slot, subscription.ids.customerId) : undefined;
      const shown = subscriptionJson(slot, subscription);
      return customer ? { ...shown, customer: stripeCustomer(customer) } : shown;
    });
    return c.json({ object: "list", url: "/v1/subscriptions", has_more: hasMore, data });
  });
  app.get("/v1/subscriptions/:id", (c) => c.json(subscriptionJson(slot, requireSubscription(slot, c))));
  app.post("/v1/subscriptions/:id", async (c) => {
    const before = requireSubscription(slot, c);
    if (before.state.status === "canceled") {
      throw invalid("A canceled subscription can only update its cancellation_details and metadata.");
    }
    return c.json(subscriptionJson(slot, commandsIn(slot, await readForm(c)).reduce(grant(slot), before)));
  });
  app.delete("/v1/subscriptions/:id", (c) => {
    const before = requireSubscription(slot, c);
    if (before.state.status === "canceled") throw missing("subscription", c.req.param("id"), "id");
    return c.json(subscriptionJson(slot, grant(slot)(before, { to: "cancel now" })));
  });
  app.post("/v1/invoices/create_preview", async (c) => {
    const form = await readForm(c);
    const id = form.text("subscription") ?? "";
    const before = findSubscription(slot, id) ?? null;
    if (before === null) throw missing("subscription", id, "subscription", 400);
    const priceId = form.text("subscription_details[items][0][price]") ?? before.state.offer.priceId;
    const offer = findOffer(slot, priceId);
    if (!offer) throw missing("price", priceId, "subscription_details[items][0][price]", 400);
    const seats = form.wholeNumber("subscription_details[items][0][quantity]");
    return c.json({
      ...{ object: "invoice", subscription: id, currency: offer.currency.toLowerCase() },
      amount_due: proratedAmount(before.state, offer, seats, nowSeconds(slot)),
    });
  });
  app.route("/v1", stripeInvoices(slot));
  app.get("/v1/prices/:id", (c) => {
    const offer = findOffer(slot, c.req.param("id"));
    if (!offer) throw missing("price", c.req.param("id"), "price");
    return c.json(stripePrice(offer, 1_735_689_600));
  });
  app.post("/v1/customers", async (c) => {
    const form = await readForm(c);
    const email = form.text("email") ?? "";
    return c.json(stripeCustomer(createCustomer(slot, { email, externalId: form.text("metadata[userId]") })));
  });
  app.get("/v1/customers", (c) => {
    const email = c.req.query("email");
    const customers = slot.state.customers.filter(
      (customer) => email === undefined || customer.email === email,
    );
    const query = new URL(c.req.url).searchParams;
    const { page, hasMore } = pageOf(
      customers.toReversed(),
      { object: "customer", idOf: ({ id }) => id },
      query,
    );
    return c.json({
      object: "list",
      url: "/v1/customers",
      has_more: hasMore,
      data: page.map(stripeCustomer),
    });
  });
  app.get("/v1/customers/:id", (c) => {
    const customer = findCustomer(slot, c.req.param("id"));
    if (!customer) throw missing("customer", c.req.param("id"), "id");
    return c.json(stripeCustomer(customer));
  });
  app.route("/v1/events", stripeEvents(slot));
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

function requireCheckout(slot: ProviderSlot, c: Context): Checkout {
  const id = c.req.param("id") ?? "";
  const checkout = findCheckout(slot, id);
  if (!checkout) throw missing("checkout.session", id, "session");
  return checkout;
}

function requireSubscription(slot: ProviderSlot, c: Context): SimulatedSubscription {
  const id = c.req.param("id") ?? "";
  const subscription = findSubscription(slot, id);
  if (!subscription) throw missing("subscription", id, "id");
  return subscription;
}

function sessionOf(slot: ProviderSlot, checkout: Checkout): object {
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
    url: status === "open" ? checkoutUrl(slot, checkout) : null,
  });
}

function stripeCustomer({ id, email, externalId, createdAtSeconds }: Customer): object {
  return {
    ...{ id, object: "customer", created: createdAtSeconds, email, livemode: false },
    metadata: externalId === null ? {} : { userId: externalId },
  };
}

function subscriptionJson(slot: ProviderSlot, subscription: SimulatedSubscription): object {
  return slot.renderer.subscription(eventContextOf(slot, subscription));
}

function commandsIn(slot: ProviderSlot, form: Form): Command[] {
  const commands: Command[] = [];
  const cancels = form.text("cancel_at_period_end");
  if (cancels === "true") commands.push({ to: "cancel at period end" });
  if (cancels === "false") commands.push({ to: "resume" });
  const priceId = form.text("items[0][price]");
  if (priceId) {
    const offer = findOffer(slot, priceId);
    if (!offer) throw missing("price", priceId, "items[0][price]", 400);
    commands.push({ to: "change plan", offer });
  }
  const seats = form.wholeNumber("items[0][quantity]");
  if (seats !== null) commands.push({ to: "change seats", seats });
  return commands;
}

function grant(slot: ProviderSlot) {
  return (before: SimulatedSubscription, command: Command): SimulatedSubscription => {
    if (command.to === "resume" && !before.state.cancelAtPeriodEnd) return before;
    const outcome = applyCommand(before, command, nowSeconds(slot));
    if (typeof outcome === "string") throw invalid(outcome);
    return emitEvents(slot, outcome);
  };
}
