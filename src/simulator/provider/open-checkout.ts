import { randomBytes, randomUUID } from "node:crypto";
import { polarCheckoutExpiry } from "../formats/polar-checkout.ts";
import { sessionExpiry } from "../formats/stripe-session.ts";
import type { Offer } from "../story.ts";
import { nowSeconds, type Shop } from "./shop.ts";
import type { Checkout } from "./state.ts";

export type CheckoutOrder = Pick<
  Checkout,
  "data" | "subscriptionData" | "email" | "customerId" | "externalId"
> &
  Pick<Checkout, "successUrl" | "cancelUrl"> & { offer: Offer; seats: number };

/** Checkouts beyond these are forgotten, the oldest first. */
const KEPT_CHECKOUTS = 500;

export function openCheckout(shop: Shop, order: CheckoutOrder): Checkout {
  const createdAtSeconds = nowSeconds(shop);
  const checkout: Checkout = {
    ...order,
    id: newId(shop),
    status: "open",
    createdAtSeconds,
    expiresAtSeconds: expiryOf(shop, createdAtSeconds),
    completedAtSeconds: null,
    subscriptionId: null,
  };
  shop.state.checkouts.push(checkout);
  if (shop.state.checkouts.length > KEPT_CHECKOUTS) shop.state.checkouts.shift();
  shop.changed();
  return checkout;
}

/** Whoever is late finds it closed. */
export function expireWhenLate(shop: Shop, checkout: Checkout): Checkout {
  const { expiresAtSeconds } = checkout;
  if (checkout.status !== "open" || expiresAtSeconds === null || nowSeconds(shop) < expiresAtSeconds)
    return checkout;
  return closeCheckout(shop, checkout);
}

export function closeCheckout(shop: Shop, checkout: Checkout): Checkout {
  checkout.status = "expired";
  shop.changed();
  return checkout;
}

function newId({ state: { format } }: Shop): string {
  switch (format) {
    case "stripe":
      return `cs_test_${randomBytes(24).toString("hex")}`;
    case "paddle":
      return `txn_${randomBytes(13).toString("hex")}`;
    case "polar":
    case "lemon-squeezy":
      return randomUUID();
    default:
      return format satisfies never;
  }
}

function expiryOf({ state: { format } }: Shop, createdAtSeconds: number): number | null {
  if (format === "stripe") return sessionExpiry(createdAtSeconds);
  return format === "polar" ? polarCheckoutExpiry(createdAtSeconds) : null;
}
