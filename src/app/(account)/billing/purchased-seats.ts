type Change<Value> = [before: Value | null, after: Value | null];

/**
 * The change of seats to show. A purchase takes several events, and the first may name neither seats nor period: its one
 * seat is only a default, so the seats that come with the period are the first ones.
 */
export function purchasedSeats({
  planId,
  seats,
  currentPeriodEnd,
}: {
  planId?: Change<string> | undefined;
  seats?: Change<number> | undefined;
  currentPeriodEnd?: Change<string> | undefined;
}): Change<number> | undefined {
  if (!seats) return undefined;
  const isStart = planId?.[0] === null;
  if (isStart && !currentPeriodEnd) return undefined;
  return currentPeriodEnd?.[0] === null ? [null, seats[1]] : seats;
}
