import { type Decision, decide } from "../domain/events/decide.ts";
import type { DecideContext } from "../domain/events/decide-context.ts";
import type { PaymentEvent } from "../domain/events/payment-event.ts";
import type { Subscription } from "../domain/subscriptions/subscription.ts";

/** What its provider's answer makes of a subscription, by the same rules as an event's. */
export function decideState(
  before: Subscription,
  state: PaymentEvent,
  context: Pick<DecideContext, "plans" | "confirmedEmail">,
): Decision {
  // Without the user: a comparison never reassigns a subscription.
  const event = { ...state, providerSubscriptionId: before.providerSubscriptionId, userId: null };
  return decide(before.provider, event, {
    ...context,
    subscriptions: [before],
    userState: () => "unknown",
    newId: () => before.id,
    nowMicros: Date.now() * 1000,
  });
}
