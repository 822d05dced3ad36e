import type { Offer } from "../lifecycle/offer.ts";
import { nowSeconds, type ProviderSlot } from "./provider-slot.ts";
import type { Checkout } from "./state.ts";

export type CheckoutOrder = Pick<
  Checkout,
  | "data"
  | "subscriptionData"
  | "email"
  | "customerId"
  | "externalId"
  | "successUrl"
  | "cancelUrl"
  | "trialDays"
  | "allowPromotionCodes"
  | "discount"
> & {
  offer: Offer;
  seats: number;
  /** Unless the provider's own lifetime applies. */
  expiresAtSeconds?: number | null;
};

/** Older checkouts beyond this number are dropped. */
const MAX_CHECKOUTS = 500;

export function openCheckout(slot: ProviderSlot, order: CheckoutOrder): Checkout {
  const { newCheckoutId, checkoutLifetimeSeconds: lifetime } = slot.traits;
  const createdAtSeconds = nowSeconds(slot);
  const checkout: Checkout = {
    ...order,
    id: newCheckoutId(),
    status: "open",
    createdAtSeconds,
    expiresAtSeconds: order.expiresAtSeconds ?? (lifetime === null ? null : createdAtSeconds + lifetime),
    completedAtSeconds: null,
    subscriptionId: null,
  };
  slot.state.checkouts.push(checkout);
  if (slot.state.checkouts.length > MAX_CHECKOUTS) slot.state.checkouts.shift();
  slot.changed();
  return checkout;
}

export function expireIfLate(slot: ProviderSlot, checkout: Checkout): Checkout {
  const { expiresAtSeconds } = checkout;
  if (checkout.status !== "open" || expiresAtSeconds === null || nowSeconds(slot) < expiresAtSeconds)
    return checkout;
  return closeCheckout(slot, checkout);
}

export function closeCheckout(slot: ProviderSlot, checkout: Checkout): Checkout {
  checkout.status = "expired";
  slot.changed();
  return checkout;
}
