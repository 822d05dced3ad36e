import type { Changes } from "./changes.ts";

/**
 * The changes as history shows them. A purchase takes several events, and the first may name neither seats
 * nor period: its one seat is only a default, so the seats that come with the period are the first ones.
 */
export function withPurchasedSeats({ seats, ...changes }: Changes): Changes {
  if (!seats) return changes;
  const { planId, currentPeriodEnd } = changes;
  const isStart = planId?.[0] === null;
  if (isStart && !currentPeriodEnd) return changes;
  return { ...changes, seats: currentPeriodEnd?.[0] === null ? [null, seats[1]] : seats };
}
