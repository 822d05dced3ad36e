import { DAY_SECONDS, intervalsAfter } from "./calendar.ts";
import { changeItems, type ItemChange } from "./change-items.ts";
import { chargeFor, periodLine } from "./charge.ts";
import type { Charge } from "./charge-line.ts";
import { type Discount, discountAt } from "./discount.ts";
import type { Offer } from "./offer.ts";
import type { BillingState, Dunning, EmittedEvent, SubscriptionState } from "./subscription.ts";
import type { Transition } from "./transition.ts";

export type Command =
  | ({ to: "change items" } & ItemChange)
  | { to: "change at period end"; offer: Offer | null; seats: number | null }
  | { to: "withdraw the scheduled change" }
  | { to: "cancel at period end"; by?: "seller" | "customer" }
  | { to: "cancel now" }
  | { to: "resume" }
  | { to: "pay what is owed" }
  | { to: "fail the next renewal" }
  | { to: "let the next renewal succeed" };

export type Purchase = { offer: Offer; seats: number; trialDays: number; discount?: Discount | null };

/** How long a subscription waits for its first payment, at Stripe, which alone has such ones. */
const FIRST_PAYMENT_SECONDS = 23 * 3_600;

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

/** A request of the customer or the seller. Text: why it is refused. */
export function applyCommand<Subscription extends BillingState>(
  subscription: Subscription,
  command: Command,
  nowSeconds: number,
): Transition<Subscription> | string {
  const { state } = subscription;
  if (state.status === "canceled") return "This subscription has ended.";
  switch (command.to) {
    case "change items":
      return changeItems(subscription, command, nowSeconds);
    case "change at period end": {
      const scheduled = {
        offer: command.offer ?? subscription.scheduled?.offer ?? null,
        seats: command.seats ?? subscription.scheduled?.seats ?? null,
      };
      return { subscription: { ...subscription, scheduled }, events: ["restated"] };
    }
    case "withdraw the scheduled change":
      return { subscription: { ...subscription, scheduled: null }, events: ["restated"] };
    case "cancel at period end":
      if (state.cancelAtPeriodEnd) return { subscription, events: [] };
      return changed(subscription, "cancellation scheduled", {
        ...{ cancelAtPeriodEnd: true, canceledBy: command.by ?? "customer", canceledAtSeconds: nowSeconds },
      });
    case "cancel now":
      return changed({ ...subscription, overdue: null }, "deleted", { status: "canceled" });
    case "resume":
      if (!state.cancelAtPeriodEnd) return "No cancellation is scheduled.";
      return changed(subscription, "cancellation withdrawn", {
        ...{ cancelAtPeriodEnd: false, canceledBy: null, canceledAtSeconds: null },
      });
    case "pay what is owed":
      if (state.status === "incomplete")
        return changed(subscription, "activated", { status: "active" }, "charged");
      if (subscription.overdue === null) return "Nothing is owed.";
      return changed(
        { ...subscription, overdue: null },
        "payment recovered",
        { status: "active" },
        "charged",
      );
    case "fail the next renewal":
      return { subscription: { ...subscription, nextCharge: "fails" }, events: [] };
    case "let the next renewal succeed":
      return { subscription: { ...subscription, nextCharge: "succeeds" }, events: [] };
    default:
      return command satisfies never;
  }
}

/** When the next automatic change is due; `null`: never. */
export function nextDueAt({ state, overdue, anchorSeconds }: BillingState, dunning: Dunning): number | null {
  if (state.status === "canceled") return null;
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

function renew<Subscription extends BillingState>(
  subscription: Subscription,
  nowSeconds: number,
): Transition<Subscription> {
  const { scheduled } = subscription;
  const { state } = subscription;
  const wasTrial = state.status === "trialing";
  const offer = scheduled?.offer ?? state.offer;
  const seats = scheduled?.seats ?? state.seats;
  const anchorSeconds = wasTrial ? state.periodEndSeconds : subscription.anchorSeconds;
  const periods = wasTrial ? 1 : subscription.periods + 1;
  const period = {
    periodStartSeconds: state.periodEndSeconds,
    periodEndSeconds: intervalsAfter(anchorSeconds, periods, offer.interval),
    ...{ offer, seats },
    ...(state.discount ? { discount: discountAt(state.discount, state.periodEndSeconds) } : {}),
  };
  const charge = renewalCharge(subscription, { ...state, ...period });
  const next = {
    ...{ ...subscription, anchorSeconds, periods, scheduled: null },
    ...(charge === null ? {} : { pendingLines: [], credit: charge.creditAfter }),
    state: charge === null && !state.charge ? state : { ...state, charge },
  };
  if (subscription.nextCharge === "fails") {
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

/** The period's price with what is pending, paid from the customer's credit first; `null`: the price alone. */
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

function changed<Subscription extends BillingState>(
  subscription: Subscription,
  event: EmittedEvent,
  change: Partial<SubscriptionState>,
  ...further: readonly EmittedEvent[]
): Transition<Subscription> {
  return {
    subscription: { ...subscription, state: { ...subscription.state, ...change } },
    events: [event, ...further],
  };
}
