import type { Subscription } from "./subscription.ts";

/** What events that are stored at once say about a failing renewal: their last state alone does not show it. */
export type FailingRenewal = {
  /** One of them has ended an earlier failure, whose start does not count any more. */
  hasRecovered: boolean;
  /** When the renewal failed, in microseconds since 1970; `null`: not among these events. */
  sinceMicros: number | null;
};

type State = Pick<
  Subscription,
  "status" | "outOfOrder" | "currentPeriodEnd" | "lastEventAtMicros" | "comparedAtMicros"
>;

const HOUR_MICROS = 3_600_000_000;

/** @param known after the events before this one; `undefined`: nothing yet */
export function failingRenewalAfter(
  known: FailingRenewal | undefined,
  before: State | null,
  after: State,
  nowMicros: number,
): FailingRenewal | undefined {
  if (after.status !== "past_due") {
    return before && isFromLateEvent(before, after) ? known : { hasRecovered: true, sinceMicros: null };
  }
  if (before?.status === "past_due" || (known && known.sinceMicros !== null)) return known;
  const isNewest = after.lastEventAtMicros !== before?.lastEventAtMicros;
  const reportedAt = (isNewest ? after.lastEventAtMicros : null) ?? nowMicros;
  return {
    hasRecovered: known?.hasRecovered ?? false,
    sinceMicros: renewalDueAt(before?.currentPeriodEnd ?? null, reportedAt),
  };
}

/**
 * A renewal is due when the period ends, and its failure is reported soon after. Counted from the period's end,
 * quotas do not start over twice. The grace period begins there too, so that only failures reported within an
 * hour count.
 */
function renewalDueAt(periodEnd: Date | null, reportedAtMicros: number): number {
  if (periodEnd === null) return reportedAtMicros;
  const dueAtMicros = periodEnd.getTime() * 1000;
  const isSoonAfter = dueAtMicros <= reportedAtMicros && reportedAtMicros - dueAtMicros <= HOUR_MICROS;
  return isSoonAfter ? dueAtMicros : reportedAtMicros;
}

/** A late event says nothing about the present: a failure that it ends keeps its start until a comparison. */
function isFromLateEvent(before: State, after: State): boolean {
  return (
    after.outOfOrder &&
    after.lastEventAtMicros === before.lastEventAtMicros &&
    after.comparedAtMicros === before.comparedAtMicros
  );
}
