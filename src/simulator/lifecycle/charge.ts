import type { Charge, ChargeLine } from "./charge-line.ts";
import { discountOf } from "./discount.ts";
import type { SubscriptionState } from "./subscription.ts";

export type ChargeTotals = {
  subtotal: number;
  discount: number;
  /** Negative: all of it becomes the customer's credit. */
  total: number;
  /** What the customer's credit pays; negative: what is added to it. */
  credited: number;
  /** What is charged. */
  due: number;
};

/** An invoice of these lines, which the customer's credit pays first. */
export function chargeFor(number: number | null, lines: readonly ChargeLine[], creditBefore: number): Charge {
  const total = totalOf(lines);
  return { number, lines, creditBefore, creditAfter: Math.max(0, creditBefore - total) };
}

/** The lines of the latest invoice. */
export function chargeLines(state: SubscriptionState): readonly ChargeLine[] {
  return state.charge?.lines ?? [periodLine(state)];
}

export function chargeTotals(state: SubscriptionState): ChargeTotals {
  const lines = chargeLines(state);
  const { creditBefore, creditAfter } = state.charge ?? { creditBefore: 0, creditAfter: 0 };
  const discount = lines.reduce((sum, line) => sum + line.discount, 0);
  const total = totalOf(lines);
  const credited = creditBefore - creditAfter;
  return { subtotal: total + discount, discount, total, credited, due: total - credited };
}

/** What the latest invoice charges. */
export function amountDue(state: SubscriptionState): number {
  return chargeTotals(state).due;
}

/** The price of the present period. */
export function periodLine(state: SubscriptionState): ChargeLine {
  const { offer, seats, periodStartSeconds, periodEndSeconds } = state;
  const subtotal = offer.amount * seats;
  const isStarted = (state.discount?.startsAtSeconds ?? 0) < periodEndSeconds;
  return {
    offer,
    seats,
    subtotal,
    discount: discountOf((isStarted && state.discount) || null, subtotal),
    startSeconds: periodStartSeconds,
    endSeconds: periodEndSeconds,
    isProration: false,
  };
}

function totalOf(lines: readonly ChargeLine[]): number {
  return lines.reduce((sum, { subtotal, discount }) => sum + subtotal - discount, 0);
}
