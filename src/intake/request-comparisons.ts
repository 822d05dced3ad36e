import type { EventDecision } from "./decide-group.ts";
import type { Intake } from "./intake.ts";
import type { ReadEvent } from "./read-event.ts";

/**
 * Once the events are committed: requests a comparison of subscriptions that an event could not be applied
 * to, and of those that a checkout has started without an id. Flagged ones are found without a request.
 */
export function requestComparisons(
  { requestComparison }: Pick<Intake, "requestComparison">,
  events: readonly ReadEvent[],
  decisions: readonly (EventDecision | null)[],
): void {
  if (requestComparison === undefined) return;
  for (const [index, event] of events.entries()) {
    const decision = decisions[index];
    const id = decision ? idInDoubt(event, decision) : null;
    if (id !== null) requestComparison(event.slot, [id]);
  }
}

function idInDoubt({ reading }: ReadEvent, decision: EventDecision): string | null {
  switch (decision.outcome) {
    case "failed":
      return decision.subscriptionId ?? null;
    case "ignored":
    case "recorded":
      return null;
    case "applied": {
      const isPurchase =
        "event" in reading &&
        reading.event.kind === "checkout.session.completed" &&
        reading.event.isOneTime !== true;
      return isPurchase && decision.subscription.providerSubscriptionId === null
        ? decision.subscription.id
        : null;
    }
    default:
      return decision satisfies never;
  }
}
