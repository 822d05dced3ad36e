import type { Offer } from "./offer.ts";
import type { SubscriptionState } from "./subscription.ts";

/** What a change costs for the rest of the period; negative: a credit. Another interval begins a new period. */
export function proratedAmount(
  state: SubscriptionState,
  offer: Offer,
  seats: number | null,
  nowSeconds: number,
): number {
  if (state.status === "trialing") return 0;
  const { periodStartSeconds, periodEndSeconds } = state;
  const rest = Math.max(0, periodEndSeconds - nowSeconds) / (periodEndSeconds - periodStartSeconds);
  const before = state.offer.amount * state.seats * rest;
  const after = offer.amount * (seats ?? state.seats);
  return Math.round(offer.interval === state.offer.interval ? after * rest - before : after - before);
}
