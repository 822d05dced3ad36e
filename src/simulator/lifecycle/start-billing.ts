import { DAY_SECONDS, intervalsAfter } from "./calendar.ts";
import type { Discount } from "./discount.ts";
import type { Offer } from "./offer.ts";
import type { BillingState } from "./subscription.ts";

export type Purchase = { offer: Offer; seats: number; trialDays: number; discount?: Discount | null };

/** The initial state of a subscription. */
export function startBilling(
  { offer, seats, trialDays, discount = null }: Purchase,
  nowSeconds: number,
): BillingState {
  const isTrial = trialDays > 0;
  return {
    state: {
      offer,
      seats,
      status: isTrial ? "trialing" : "active",
      cancelAtPeriodEnd: false,
      periodStartSeconds: nowSeconds,
      periodEndSeconds: isTrial
        ? nowSeconds + trialDays * DAY_SECONDS
        : intervalsAfter(nowSeconds, 1, offer.interval),
      ...(discount === null ? {} : { discount }),
    },
    anchorSeconds: nowSeconds,
    periods: 1,
    nextCharge: "succeeds",
    overdue: null,
  };
}
