import { discountOf } from "./discount.ts";
import type { Offer } from "./offer.ts";
import type { SubscriptionState } from "./subscription.ts";

/** A part of an invoice. Amounts are in the currency's smallest unit, and a credit is negative. */
export type ChargeLine = {
  offer: Offer;
  seats: number;
  /** Before the discount. */
  subtotal: number;
  discount: number;
  startSeconds: number;
  endSeconds: number;
  /** For the rest of a period in which something changed. */
  isProration: boolean;
};

/** An invoice that is not merely a period's price. */
export type Charge = {
  /** Its number among the subscription's invoices for changes; `null`: a period's invoice. */
  number: number | null;
  lines: readonly ChargeLine[];
  /** The customer's credit from earlier invoices. */
  creditBefore: number;
  creditAfter: number;
};

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
  return {
    ...{ offer, seats, subtotal, discount: discountOf(state.discount ?? null, subtotal) },
    ...{ startSeconds: periodStartSeconds, endSeconds: periodEndSeconds, isProration: false },
  };
}

export function totalOf(lines: readonly ChargeLine[]): number {
  return lines.reduce((sum, { subtotal, discount }) => sum + subtotal - discount, 0);
}
