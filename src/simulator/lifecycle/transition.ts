import type { BillingState, EmittedEvent, SubscriptionState } from "./subscription.ts";

/** A change of a subscription with the events that report it, in order. */
export type Transition<Subscription> = { subscription: Subscription; events: readonly EmittedEvent[] };

/** Changes the state, and reports it by this event and those that follow it. */
export function changed<Subscription extends BillingState>(
  subscription: Subscription,
  event: EmittedEvent,
  change: Partial<SubscriptionState>,
  ...further: readonly EmittedEvent[]
): Transition<Subscription> {
  return {
    subscription: { ...subscription, state: { ...subscription.state, ...change } },
    events: [event, ...further],
  };
}
