import { DAY_SECONDS, intervalsAfter } from "./calendar.ts";
import { amountDue, chargeFor, periodLine } from "./charge.ts";
import type { Charge } from "./charge-line.ts";
import { discountAt } from "./discount.ts";
import type { BillingState, Dunning, SubscriptionState } from "./subscription.ts";
import { changed, type Transition } from "./transition.ts";

/** How long a subscription waits for its first payment; only Stripe's do. */
const FIRST_PAYMENT_SECONDS = 23 * 3_600;

/** When the next automatic change is due; `null`: never. */
export function nextDueAt({ state, overdue, anchorSeconds }: BillingState, dunning: Dunning): number | null {
  if (state.status === "canceled" || (state.status === "paused" && !state.cancelAtPeriodEnd)) return null;
  if (state.status === "incomplete") return anchorSeconds + FIRST_PAYMENT_SECONDS;
  if (overdue === null) return state.periodEndSeconds;
  const next =
    dunning.retryAfterDays[overdue.tries] ??
    (dunning.retryAfterDays.at(-1) ?? 0) + (dunning.unpaidForDays ?? 0);
  const retryAt = overdue.sinceSeconds + next * DAY_SECONDS;
  return state.cancelAtPeriodEnd ? Math.min(retryAt, state.periodEndSeconds) : retryAt;
}

/** The automatic change at its due time. */
export function advance<Subscription extends BillingState>(
  subscription: Subscription,
  dunning: Dunning,
  nowSeconds: number,
): Transition<Subscription> {
  const { state } = subscription;
  if (state.status === "incomplete") return changed(subscription, "expired", { status: "canceled" });
  if (state.cancelAtPeriodEnd && nowSeconds >= state.periodEndSeconds) {
    return changed({ ...subscription, overdue: null }, "deleted", { status: "canceled" });
  }
  return subscription.overdue === null
    ? renew(subscription, nowSeconds)
    : chargeAgain(subscription, subscription.overdue, dunning);
}

export function renew<Subscription extends BillingState>(
  subscription: Subscription,
  nowSeconds: number,
): Transition<Subscription> {
  const { scheduled, state } = subscription;
  const wasTrial = state.status === "trialing";
  const offer = scheduled?.offer ?? state.offer;
  const seats = scheduled?.seats ?? state.seats;
  // Periods of another length are counted from their own start.
  const resetsAnchor = wasTrial || offer.interval !== state.offer.interval;
  const anchorSeconds = resetsAnchor ? state.periodEndSeconds : subscription.anchorSeconds;
  const periods = resetsAnchor ? 1 : subscription.periods + 1;
  const period = {
    periodStartSeconds: state.periodEndSeconds,
    periodEndSeconds: intervalsAfter(anchorSeconds, periods, offer.interval),
    offer,
    seats,
    ...(state.discount ? { discount: discountAt(state.discount, state.periodEndSeconds) } : {}),
  };
  const charge = renewalCharge(subscription, { ...state, ...period });
  const next = {
    ...subscription,
    anchorSeconds,
    periods,
    scheduled: null,
    ...(charge === null ? {} : { pendingLines: [], credit: charge.creditAfter }),
    state: charge === null && !state.charge ? state : { ...state, charge },
  };
  // What credit pays in full cannot fail.
  if (subscription.nextCharge === "fails" && amountDue({ ...next.state, ...period }) > 0) {
    const overdue = { sinceSeconds: nowSeconds, tries: 0 };
    return changed(
      { ...next, overdue },
      "payment failed",
      { ...period, status: "past_due" },
      "charge failed",
    );
  }
  return changed(next, wasTrial ? "trial ended" : "renewed", { ...period, status: "active" }, "charged");
}

/**
 * The period's price with what is pending, paid from the customer's credit first; `null`: the price alone.
 */
function renewalCharge(
  { pendingLines = [], credit = 0 }: BillingState,
  renewed: SubscriptionState,
): Charge | null {
  if (pendingLines.length === 0 && credit === 0) return null;
  return chargeFor(null, [periodLine(renewed), ...pendingLines], credit);
}

function chargeAgain<Subscription extends BillingState>(
  subscription: Subscription,
  overdue: NonNullable<BillingState["overdue"]>,
  dunning: Dunning,
): Transition<Subscription> {
  const tries = overdue.tries + 1;
  const isGivenUp = overdue.tries >= dunning.retryAfterDays.length;
  if (!isGivenUp && subscription.nextCharge === "succeeds") {
    const paid = { ...subscription, overdue: null };
    return changed(paid, "payment recovered", { status: "active" }, "charged");
  }
  if (tries < dunning.retryAfterDays.length) {
    return { subscription: { ...subscription, overdue: { ...overdue, tries } }, events: ["charge failed"] };
  }
  if (!isGivenUp && dunning.unpaidForDays !== null) {
    const unpaid = { ...subscription, overdue: { ...overdue, tries } };
    return changed(unpaid, "written off", { status: "unpaid" }, "charge failed");
  }
  const canceled = changed({ ...subscription, overdue: null }, "deleted", { status: "canceled" });
  return isGivenUp ? canceled : { ...canceled, events: ["charge failed", ...canceled.events] };
}
