import type { Subscription } from "./subscription.ts";

/** What events that are stored at once say about a failing renewal: their last state alone does not show it. */
export type FailingRenewal = {
  /** One of them has ended an earlier failure, whose start does not count any more. */
  hasRecovered: boolean;
  /** When it became past due, by the provider's clock; microseconds. `null`: not among these events, or not known. */
  sinceMicros: number | null;
};

type State = Pick<Subscription, "status" | "outOfOrder" | "lastEventAtMicros" | "comparedAtMicros">;

/** @param known after the events before this one; `undefined`: nothing yet */
export function failingRenewalAfter(
  known: FailingRenewal | undefined,
  before: State | null,
  after: State,
): FailingRenewal | undefined {
  if (after.status !== "past_due") {
    return before && isFromLateEvent(before, after) ? known : { hasRecovered: true, sinceMicros: null };
  }
  if (before?.status === "past_due" || (known && known.sinceMicros !== null)) return known;
  const isNewest = after.lastEventAtMicros !== before?.lastEventAtMicros;
  return {
    hasRecovered: known?.hasRecovered ?? false,
    sinceMicros: isNewest ? after.lastEventAtMicros : null,
  };
}

/** A late event says nothing about the present: a failure that it ends keeps its start until a comparison. */
function isFromLateEvent(before: State, after: State): boolean {
  return (
    after.outOfOrder &&
    after.lastEventAtMicros === before.lastEventAtMicros &&
    after.comparedAtMicros === before.comparedAtMicros
  );
}
