import type { Subscription } from "../subscriptions/subscription.ts";
import type { EventKind } from "./payment-event.ts";
import type { SubscriptionEvent } from "./subscription-event.ts";

export type EventOrder = "older" | "same" | "newer";

/**
 * Orders events with the same provider timestamp: Stripe's clock has whole seconds, and one checkout sends
 * three events within one.
 */
const EVENT_RANK = {
  "customer.subscription.created": 1,
  "checkout.session.completed": 2,
  "customer.subscription.updated": 3,
  "customer.subscription.deleted": 4,
} as const satisfies Record<EventKind, number>;

type Timed = Pick<SubscriptionEvent, "kind" | "occurredAtMicros">;
type LastSeen = Pick<Subscription, "lastEventAtMicros" | "lastEventRank" | "comparedAtMicros">;

/**
 * Compares an event's time with the last event applied to a subscription and with the last comparison with
 * the provider, whose response includes everything before it.
 */
export function orderOf({ kind, occurredAtMicros }: Timed, lastSeen: LastSeen): EventOrder {
  if (occurredAtMicros === null) return "newer";
  if (lastSeen.comparedAtMicros !== null && occurredAtMicros < lastSeen.comparedAtMicros) return "older";
  if (lastSeen.lastEventAtMicros === null || occurredAtMicros > lastSeen.lastEventAtMicros) return "newer";
  if (occurredAtMicros < lastSeen.lastEventAtMicros) return "older";
  // Rows stored before ranks existed have an unknown order: a difference is flagged for comparison.
  if (lastSeen.lastEventRank === null || EVENT_RANK[kind] === lastSeen.lastEventRank) return "same";
  return EVENT_RANK[kind] < lastSeen.lastEventRank ? "older" : "newer";
}

/** The time and rank to store when an event is applied. */
export function lastSeenAfter(
  { kind, occurredAtMicros }: Timed,
  { lastEventAtMicros, lastEventRank }: LastSeen,
): Pick<Subscription, "lastEventAtMicros" | "lastEventRank"> {
  if (occurredAtMicros === null || occurredAtMicros < (lastEventAtMicros ?? Number.NEGATIVE_INFINITY)) {
    return { lastEventAtMicros, lastEventRank };
  }
  const rank = EVENT_RANK[kind];
  const isTie = occurredAtMicros === lastEventAtMicros;
  return {
    lastEventAtMicros: occurredAtMicros,
    lastEventRank: isTie ? Math.max(rank, lastEventRank ?? 0) : rank,
  };
}
