import { startBilling } from "../lifecycle/start-billing.ts";
import type { SubscriptionState } from "../lifecycle/subscription.ts";
import type { Checkout } from "./state.ts";

/** The subscription that a checkout would start, for its amounts. */
export function checkoutState({
  offer,
  seats,
  discount = null,
  createdAtSeconds,
}: Pick<Checkout, "offer" | "seats" | "discount" | "createdAtSeconds">): SubscriptionState {
  return startBilling({ offer, seats, trialDays: 0, discount }, createdAtSeconds).state;
}
