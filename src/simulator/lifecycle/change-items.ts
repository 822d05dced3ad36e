import { intervalsAfter } from "./calendar.ts";
import { chargeFor, periodLine } from "./charge.ts";
import type { Offer } from "./offer.ts";
import { type ChangeBilling, prorations } from "./prorations.ts";
import type { BillingState, EmittedEvent, SubscriptionState } from "./subscription.ts";
import type { Transition } from "./transition.ts";

export type ItemChange = { offer: Offer; seats: number; billing: ChangeBilling };

/**
 * Another price or number of seats, with what that costs at once or with the next period. Text: why it is
 * refused.
 */
export function changeItems<Subscription extends BillingState>(
  subscription: Subscription,
  change: ItemChange,
  nowSeconds: number,
): Transition<Subscription> | string {
  const before = subscription.state;
  const { offer, seats } = change;
  const isOtherPrice = offer.priceId !== before.offer.priceId;
  if (!isOtherPrice && seats === before.seats) return { subscription, events: [] };
  const { min, max } = offer.seats;
  if (!Number.isInteger(seats) || seats < min || seats > max)
    return `${offer.planName} is sold for ${min} to ${max} seats.`;

  const billing = before.status === "incomplete" ? "never" : change.billing;
  const next = withItems(withInvoice(subscription), change, nowSeconds);
  const lines = prorations(before, next.state, billing, nowSeconds);
  const event: EmittedEvent = isOtherPrice ? "plan changed" : "seats changed";
  if (lines.length === 0) return { subscription: next, events: [event] };
  // While a renewal is unpaid, a change waits for the next one.
  const isNow = billing.endsWith(" now") && subscription.overdue === null;
  if (!isNow) {
    const pendingLines = [...(subscription.pendingLines ?? []), ...lines];
    return { subscription: { ...next, pendingLines }, events: [event] };
  }
  const number = (subscription.changeInvoices ?? 0) + 1;
  const charge = chargeFor(number, lines, subscription.credit ?? 0);
  return {
    subscription: {
      ...next,
      changeInvoices: number,
      credit: charge.creditAfter,
      state: { ...next.state, charge },
    },
    events: [event, "change charged"],
  };
}

/** What is owed has been invoiced, and does not change with the items. */
function withInvoice<Subscription extends BillingState>(subscription: Subscription): Subscription {
  const { state, overdue } = subscription;
  if (overdue === null || state.charge) return subscription;
  return { ...subscription, state: { ...state, charge: chargeFor(null, [periodLine(state)], 0) } };
}

/** Another interval starts a new period, as with every provider; a trial keeps its end. */
function withItems<Subscription extends BillingState>(
  subscription: Subscription,
  { offer, seats }: Pick<ItemChange, "offer" | "seats">,
  nowSeconds: number,
): Subscription {
  const { state } = subscription;
  const isSameRhythm = offer.interval === state.offer.interval || state.status === "trialing";
  if (isSameRhythm) return { ...subscription, state: { ...state, offer, seats } };
  const period: Partial<SubscriptionState> = {
    periodStartSeconds: nowSeconds,
    periodEndSeconds: intervalsAfter(nowSeconds, 1, offer.interval),
  };
  return {
    ...subscription,
    anchorSeconds: nowSeconds,
    periods: 1,
    state: { ...state, offer, seats, ...period },
  };
}

/** Seats of the present subscription, as far as the other plan is sold for them. */
export function seatsWithin({ seats: { min, max } }: Offer, seats: number): number {
  return Math.min(max, Math.max(min, seats));
}
