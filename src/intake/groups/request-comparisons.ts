import type { Intake } from "../intake.ts";
import type { ReadEvent } from "../read-event.ts";
import type { EventDecision } from "./decide-group.ts";

/**
 * Once the events are committed: requests a comparison of subscriptions that an event could not be applied
 * to, of those that a checkout has started without an id or has made active after their end, and of those for which a
 * change has been scheduled or withdrawn at the provider. Flagged ones are found without a request.
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
      if (!("event" in reading)) return null;
      const { kind, isOneTime, concernsScheduledChange } = reading.event;
      const isPurchase = kind === "checkout.session.completed" && isOneTime !== true;
      const { id, providerSubscriptionId } = decision.subscription;
      const isInDoubt = decision.isRevived || (isPurchase && providerSubscriptionId === null);
      return concernsScheduledChange || isInDoubt ? id : null;
    }
    default:
      return decision satisfies never;
  }
}
