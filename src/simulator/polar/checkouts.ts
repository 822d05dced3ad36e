import { Hono } from "hono";
import { matches } from "../http/matches.ts";
import { chargeTotals } from "../lifecycle/charge.ts";
import { checkoutState } from "../server/checkout-price.ts";
import { expireIfLate, openCheckout } from "../server/open-checkout.ts";
import { checkoutUrl, findCheckout, type ProviderSlot } from "../server/provider-slot.ts";
import type { Checkout } from "../server/state.ts";
import { polarCheckout } from "./checkout.ts";
import { notFound, readBody } from "./errors.ts";
import { orderOf } from "./order.ts";
import { inRequestedOrder, numberedPage } from "./page.ts";

/** https://polar.sh/docs/api-reference/checkouts */
export function polarCheckouts(slot: ProviderSlot): Hono {
  const app = new Hono();
  app.post("/checkouts/", async (c) =>
    c.json(checkoutJson(slot, openCheckout(slot, orderOf(slot, await readBody(c)))), 201),
  );
  app.get("/checkouts/", (c) => {
    const statuses = c.req.queries("status");
    const listed = slot.state.checkouts
      .map((checkout) => expireIfLate(slot, checkout))
      .filter(matches(c, "customer_id", ({ customerId }) => customerId))
      .filter(matches(c, "product_id", ({ offer }) => offer.priceId))
      .filter(matches(c, "external_customer_id", ({ externalId }) => externalId))
      .filter((checkout) => statuses === undefined || statuses.includes(statusOf(checkout)));
    return numberedPage(c, inRequestedOrder(c, listed), (checkout) => checkoutJson(slot, checkout));
  });
  app.get("/checkouts/:id", (c) => {
    const checkout = findCheckout(slot, c.req.param("id"));
    if (!checkout) throw notFound();
    return c.json(checkoutJson(slot, expireIfLate(slot, checkout)));
  });
  return app;
}

function statusOf({ status }: Checkout): "open" | "expired" | "succeeded" {
  return status === "complete" ? "succeeded" : status;
}

function checkoutJson(slot: ProviderSlot, checkout: Checkout): object {
  const { id, offer, seats, data, email, customerId, externalId } = checkout;
  const coupon = slot.state.coupons.find((candidate) => candidate.id === checkout.discount?.id) ?? null;
  return polarCheckout({
    id,
    offer,
    seats,
    email,
    customerId,
    metadata: data,
    trialDays: checkout.trialDays ?? 0,
    successUrl: checkout.successUrl,
    returnUrl: checkout.cancelUrl,
    externalCustomerId: externalId,
    status: statusOf(checkout),
    coupon,
    totals: chargeTotals(checkoutState(checkout)),
    allowDiscountCodes: checkout.allowPromotionCodes ?? true,
    createdAtSeconds: checkout.createdAtSeconds,
    modifiedAtSeconds: checkout.completedAtSeconds,
    expiresAtSeconds: checkout.expiresAtSeconds ?? checkout.createdAtSeconds,
    url: checkoutUrl(slot, checkout),
  });
}
