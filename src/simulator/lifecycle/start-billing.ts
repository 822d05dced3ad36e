import { DAY_SECONDS, intervalsAfter } from "./calendar.ts";
import { chargeFor, periodLine } from "./charge.ts";
import type { Charge } from "./charge-line.ts";
import type { Discount } from "./discount.ts";
import type { Offer } from "./offer.ts";
import type { BillingState, SubscriptionState } from "./subscription.ts";

export type Purchase = { offer: Offer; seats: number; trialDays: number; discount?: Discount | null };

/** The initial state of a subscription. */
export function startBilling(
  { offer, seats, trialDays, discount = null }: Purchase,
  nowSeconds: number,
): BillingState {
  const isTrial = trialDays > 0;
  const state: SubscriptionState = {
    offer,
    seats,
    status: isTrial ? "trialing" : "active",
    cancelAtPeriodEnd: false,
    periodStartSeconds: nowSeconds,
    periodEndSeconds: isTrial
      ? nowSeconds + trialDays * DAY_SECONDS
      : intervalsAfter(nowSeconds, 1, offer.interval),
    ...(discount === null ? {} : { discount }),
  };
  return {
    state: isTrial ? { ...state, charge: nothingDue(state) } : state,
    anchorSeconds: nowSeconds,
    periods: 1,
    nextCharge: "succeeds",
    overdue: null,
  };
}

/** A trial's order has an amount of zero. */
function nothingDue(state: SubscriptionState): Charge {
  return chargeFor(null, [{ ...periodLine(state), subtotal: 0, discount: 0 }], 0);
}
