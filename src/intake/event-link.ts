import type { SubscriptionLink } from "../store/subscriptions/subscription-locks.ts";
import type { ReadEvent } from "./read-event.ts";

/** What an event says of the subscription that it concerns; `null`: it concerns none, or does not say which. */
export function linkOf({ slot, reading }: ReadEvent): SubscriptionLink | null {
  if ("failure" in reading || reading.event.kind === "ignored") return null;
  const { kind, providerSubscriptionId, userId, customerId } = reading.event;
  if (kind === "payment" && providerSubscriptionId !== null) {
    // A payment adds no subscription: it needs only its own, to find the user.
    return { provider: slot, providerSubscriptionId, userId: null, customerId: null };
  }
  if (kind === "payment" && userId === null) return null;
  return { provider: slot, providerSubscriptionId, userId, customerId };
}

/**
 * The user whom an event names. Also for a payment whose subscription is not known, and for an event without effects:
 * what concerns a deleted account is recorded without its person.
 */
export function namedUserOf({ reading }: ReadEvent, link: SubscriptionLink | null): string | null {
  return link?.userId ?? ("event" in reading ? reading.event.userId : null);
}
