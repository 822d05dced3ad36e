import type { Subscription } from "../subscriptions/subscription.ts";
import type { SubscriptionStatus } from "../subscriptions/subscription-status.ts";
import type { EventOrder } from "./event-order.ts";

type Report = { order: EventOrder; occurredAtMicros: number | null; nowMicros: number };

const HOUR_MICROS = 3_600_000_000;

/**
 * When the grace period started, once a status has been reported, in microseconds since 1970; `null`: it has not.
 * A late report says nothing about the present: a failure that it ends keeps its start until a comparison, and one
 * that it begins counts from now.
 */
export function pastDueSince(
  { pastDueSinceMicros, currentPeriodEnd }: Subscription,
  status: SubscriptionStatus,
  { order, occurredAtMicros, nowMicros }: Report,
): number | null {
  if (status !== "past_due") return order === "newer" ? null : pastDueSinceMicros;
  const reportedAtMicros = (order === "newer" ? occurredAtMicros : null) ?? nowMicros;
  return pastDueSinceMicros ?? renewalDueAt(currentPeriodEnd, reportedAtMicros);
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
