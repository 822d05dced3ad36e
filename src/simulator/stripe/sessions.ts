import { type Context, Hono } from "hono";
import { readForm } from "../http/form.ts";
import { matches } from "../http/matches.ts";
import { chargeTotals } from "../lifecycle/charge.ts";
import { checkoutState } from "../server/checkout-price.ts";
import { closeCheckout, expireIfLate, openCheckout } from "../server/open-checkout.ts";
import { checkoutUrl, findCheckout, findSubscription, type ProviderSlot } from "../server/provider-slot.ts";
import type { Checkout } from "../server/state.ts";
import { invalid, missing } from "./errors.ts";
import { invoiceIdOf } from "./invoice-id.ts";
import { orderOf } from "./order.ts";
import { isCreatedWithin, listResponse } from "./page.ts";
import { stripePrice } from "./price.ts";
import { NOTHING, type Session, stripeSession } from "./session.ts";

/** https://docs.stripe.com/api/checkout/sessions */
export function stripeSessions(slot: ProviderSlot): Hono {
  const app = new Hono();
  app.post("/", async (c) => c.json(sessionJson(slot, openCheckout(slot, orderOf(slot, await readForm(c))))));
  app.get("/", (c) => {
    const listed = slot.state.checkouts
      .map((checkout) => expireIfLate(slot, checkout))
      .filter(matches(c, "customer", (checkout) => checkout.customerId))
      .filter(matches(c, "subscription", (checkout) => checkout.subscriptionId))
      .filter(matches(c, "status", (checkout) => checkout.status))
      .filter(matches(c, "customer_details[email]", (checkout) => checkout.email))
      .filter(isCreatedWithin(c, ({ createdAtSeconds }) => createdAtSeconds));
    return listResponse(c, listed.toReversed(), {
      object: "checkout.session",
      url: "/v1/checkout/sessions",
      idOf: ({ id }) => id,
      show: (checkout) => sessionJson(slot, checkout),
    });
  });
  app.get("/:id", (c) => c.json(sessionJson(slot, expireIfLate(slot, requireCheckout(slot, c)))));
  app.get("/:id/line_items", (c) => {
    const checkout = requireCheckout(slot, c);
    return listResponse(c, [checkout], {
      object: "item",
      url: `/v1/checkout/sessions/${checkout.id}/line_items`,
      idOf: lineItemIdOf,
      show: lineItem,
    });
  });
  app.post("/:id/expire", (c) => {
    const checkout = expireIfLate(slot, requireCheckout(slot, c));
    if (checkout.status !== "open") {
      throw invalid(
        `Only Checkout Sessions with a status in ["open"] can be expired. This Checkout Session has a status of ${checkout.status}.`,
      );
    }
    return c.json(sessionJson(slot, closeCheckout(slot, checkout)));
  });
  return app;
}

/** Only shown when expanded. */
export function lineItemsOf(slot: ProviderSlot, sessionId: string): object {
  const checkout = findCheckout(slot, sessionId);
  return {
    object: "list",
    url: `/v1/checkout/sessions/${sessionId}/line_items`,
    has_more: false,
    data: checkout === null ? [] : [lineItem(checkout)],
  };
}

function requireCheckout(slot: ProviderSlot, c: Context): Checkout {
  const id = c.req.param("id") ?? "";
  const checkout = findCheckout(slot, id);
  if (!checkout) throw missing("checkout.session", id, "session");
  return checkout;
}

function sessionJson(slot: ProviderSlot, checkout: Checkout): object {
  const { id, status, offer, customerId, email, externalId, data, subscriptionId } = checkout;
  const isComplete = status === "complete";
  const isTrial = (checkout.trialDays ?? 0) > 0;
  const subscription = subscriptionId === null ? null : findSubscription(slot, subscriptionId);
  return stripeSession({
    id,
    status,
    customerId,
    subscriptionId,
    metadata: data,
    clientReferenceId: externalId,
    successUrl: checkout.successUrl,
    cancelUrl: checkout.cancelUrl,
    createdAtSeconds: checkout.createdAtSeconds,
    expiresAtSeconds: checkout.expiresAtSeconds,
    allowPromotionCodes: checkout.allowPromotionCodes ?? null,
    paymentStatus: !isComplete ? "unpaid" : isTrial ? "no_payment_required" : "paid",
    totals: totalsOf(checkout),
    discount: checkout.discount ?? null,
    currency: offer.currency,
    givenEmail: isComplete || customerId !== null ? null : email,
    paidByEmail: isComplete ? email : null,
    invoiceId:
      subscription === null || isTrial
        ? null
        : invoiceIdOf(subscription.ids.subscriptionId, subscription.startedAtSeconds),
    url: status === "open" ? checkoutUrl(slot, checkout) : null,
  });
}

function totalsOf(checkout: Checkout): Session["totals"] {
  return (checkout.trialDays ?? 0) > 0 ? NOTHING : chargeTotals(checkoutState(checkout));
}

function lineItemIdOf({ id }: Checkout): string {
  return `li_${id.slice(-24)}`;
}

function lineItem(checkout: Checkout): object {
  const { offer, seats } = checkout;
  const { subtotal, discount, due } = totalsOf(checkout);
  return {
    id: lineItemIdOf(checkout),
    object: "item",
    description: offer.planName,
    quantity: seats,
    amount_discount: discount,
    amount_subtotal: subtotal,
    amount_tax: 0,
    amount_total: due,
    currency: offer.currency.toLowerCase(),
    price: stripePrice(offer),
  };
}
