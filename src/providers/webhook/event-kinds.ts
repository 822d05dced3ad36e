import { UnreadablePayload } from "../../domain/deliveries/payload-problems.ts";
import { EVENT_KINDS, type EventKind, type PaymentEvent } from "../../domain/events/payment-event.ts";

/** A provider's own event names, plus the specification's four, which every provider accepts. */
export function eventKinds(ownNames: Record<string, EventKind>): ReadonlyMap<string, EventKind> {
  return keywordMap<EventKind>({
    ...Object.fromEntries(EVENT_KINDS.map((kind) => [kind, kind])),
    ...ownNames,
  });
}

/** A map, so that names such as `constructor` find nothing. */
export function keywordMap<Meaning>(meanings: Record<string, Meaning>): ReadonlyMap<string, Meaning> {
  return new Map(Object.entries(meanings));
}

/** An event that is unknown, or in which nothing was paid. */
export const IGNORED: PaymentEvent = Object.freeze({
  kind: "ignored",
  occurredAtMicros: null,
  userId: null,
  planId: null,
  providerSubscriptionId: null,
  customerId: null,
  items: [],
  status: null,
  currentPeriodEnd: null,
  cancelAtPeriodEnd: null,
});

/**
 * The same, with the user whom it names: once they have deleted the account, its payload is not kept. One that is
 * not as expected names nobody: it is ignored all the same.
 */
export function ignoredOf(readUserId: () => string | null): PaymentEvent {
  try {
    return { ...IGNORED, userId: readUserId() };
  } catch (error) {
    if (error instanceof UnreadablePayload) return IGNORED;
    throw error;
  }
}

/** Fields that a completed checkout leaves to the subscription's own events. */
export const STATE_UNKNOWN = { status: null, currentPeriodEnd: null, cancelAtPeriodEnd: null } as const;
