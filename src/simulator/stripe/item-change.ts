import type { Command } from "../lifecycle/apply-command.ts";
import { seatsWithin } from "../lifecycle/change-items.ts";
import type { Offer } from "../lifecycle/offer.ts";
import type { ChangeBilling } from "../lifecycle/prorations.ts";
import type { SubscriptionState } from "../lifecycle/subscription.ts";
import { findOffer, type ProviderSlot } from "../server/provider-slot.ts";
import { missing } from "./errors.ts";

type RequestedItem = { priceId: string | null; seats: number | null; behavior: string | null };

/**
 * A change of the subscription's item, as requested. https://docs.stripe.com/billing/subscriptions/prorations
 */
export function itemChangeIn(
  slot: ProviderSlot,
  state: SubscriptionState,
  { priceId, seats, behavior }: RequestedItem,
  param = "items[0][price]",
): Extract<Command, { to: "change items" }> {
  const offer = priceId === null ? state.offer : findOffer(slot, priceId);
  if (offer === null) throw missing("price", priceId ?? "", param, 400);
  return {
    to: "change items",
    offer,
    billing: billingOf(state, offer, behavior),
    seats: seats ?? seatsWithin(offer, state.seats),
  };
}

/** A change of the interval begins a new period, which is invoiced at once in any case. */
function billingOf(state: SubscriptionState, offer: Offer, behavior: string | null): ChangeBilling {
  const isNewPeriod = offer.interval !== state.offer.interval;
  switch (behavior) {
    case "always_invoice":
      return "prorated now";
    case "none":
      return isNewPeriod ? "full now" : "never";
    default:
      return isNewPeriod ? "prorated now" : "prorated next period";
  }
}
