import type { Interval } from "../plans/plan.ts";

/**
 * When a quota starts over: at the end of the billing period; without one, on the first of the next month,
 * UTC. Until a renewal is reported, periods are counted on from the last end that is known.
 */
export function nextReset(periodEnd: Date | null, now: Date, interval: Interval = "month"): Date {
  if (periodEnd === null) return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1));
  if (periodEnd > now) return periodEnd;
  const months =
    (now.getUTCFullYear() - periodEnd.getUTCFullYear()) * 12 + now.getUTCMonth() - periodEnd.getUTCMonth();
  const length = interval === "year" ? 12 : 1;
  const passed = months - (months % length);
  const end = plusMonths(periodEnd, passed);
  return end > now ? end : plusMonths(periodEnd, passed + length);
}

/** On the same day of the month, or its last. */
function plusMonths(date: Date, months: number): Date {
  const moved = new Date(date);
  moved.setUTCMonth(date.getUTCMonth() + months);
  // The 31st of a month without one has become a day of the next month.
  if (moved.getUTCDate() !== date.getUTCDate()) moved.setUTCDate(0);
  return moved;
}
