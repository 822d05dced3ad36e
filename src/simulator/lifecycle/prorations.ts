import { periodLine } from "./charge.ts";
import type { ChargeLine } from "./charge-line.ts";
import type { SubscriptionState } from "./subscription.ts";

/** When a change is paid for; `full`: whatever is left of the period. */
export type ChangeBilling =
  | "prorated now"
  | "prorated next period"
  | "full now"
  | "full next period"
  | "never";

/**
 * What a change is charged, or credited, for the rest of the period. Another interval starts a new period.
 */
export function prorations(
  before: SubscriptionState,
  after: SubscriptionState,
  billing: ChangeBilling,
  nowSeconds: number,
): ChargeLine[] {
  if (before.status === "trialing" || billing === "never") return [];
  const isNewPeriod = before.periodEndSeconds !== after.periodEndSeconds;
  const full = periodLine(after);
  if (billing === "full now" || billing === "full next period") return fullLines(before, full);
  const { periodStartSeconds, periodEndSeconds } = before;
  const remainingShare = Math.max(0, periodEndSeconds - nowSeconds) / (periodEndSeconds - periodStartSeconds);
  const ofRest = (line: ChargeLine, sign: 1 | -1): ChargeLine => {
    const net = sign * Math.round((line.subtotal - line.discount) * remainingShare);
    return { ...line, subtotal: net, discount: 0, startSeconds: nowSeconds, isProration: true };
  };
  return [ofRest(periodLine(before), -1), isNewPeriod ? full : ofRest(full, 1)];
}

/** Another price in full; of the same price only the added seats. */
function fullLines({ offer, seats }: SubscriptionState, full: ChargeLine): ChargeLine[] {
  if (offer.priceId !== full.offer.priceId) return [full];
  const added = full.seats - seats;
  if (added <= 0) return [];
  const share = added / full.seats;
  const part = { subtotal: offer.amount * added, discount: Math.round(full.discount * share) };
  return [{ ...full, ...part, seats: added }];
}
