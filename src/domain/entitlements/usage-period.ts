/**
 * When a quota starts over: at the end of the billing period; without one, on the first of the next month,
 * UTC. Until the renewal is reported, each month after the period's end.
 */
export function nextReset(periodEnd: Date | null, now: Date): Date {
  if (periodEnd === null) return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1));
  if (periodEnd > now) return periodEnd;
  const months =
    (now.getUTCFullYear() - periodEnd.getUTCFullYear()) * 12 + now.getUTCMonth() - periodEnd.getUTCMonth();
  const sameMonth = plusMonths(periodEnd, months);
  return sameMonth > now ? sameMonth : plusMonths(periodEnd, months + 1);
}

/** On the same day of the month, or its last. */
function plusMonths(date: Date, months: number): Date {
  const moved = new Date(date);
  moved.setUTCMonth(date.getUTCMonth() + months);
  // The 31st of a month without one has become a day of the next month.
  if (moved.getUTCDate() !== date.getUTCDate()) moved.setUTCDate(0);
  return moved;
}
