import type { EventKind } from "./payment-event.ts";
import type { Subscription } from "./subscription.ts";
import type { SubscriptionEvent } from "./subscription-event.ts";

export type EventOrder = "older" | "same" | "newer";

/**
 * The order of events that the provider's clock cannot tell apart: Stripe's runs in whole seconds, and one checkout
 * sends three events within one.
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
 * Where an event lies, by the provider's clock, against the last event applied to a subscription and against the last
 * comparison with the provider, whose answer already contains whatever happened before it.
 */
export function orderOf({ kind, occurredAtMicros }: Timed, seen: LastSeen): EventOrder {
  if (occurredAtMicros === null) return "newer";
  if (seen.comparedAtMicros !== null && occurredAtMicros < seen.comparedAtMicros) return "older";
  if (seen.lastEventAtMicros === null || occurredAtMicros > seen.lastEventAtMicros) return "newer";
  if (occurredAtMicros < seen.lastEventAtMicros) return "older";
  // Rows of before ranks were stored: their order is not known, so that a difference is worth a look.
  if (seen.lastEventRank === null || EVENT_RANK[kind] === seen.lastEventRank) return "same";
  return EVENT_RANK[kind] < seen.lastEventRank ? "older" : "newer";
}

/** What a subscription keeps of the time of an event that is applied to it. */
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
