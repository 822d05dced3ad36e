import type { PaymentEvent } from "../domain/events/payment-event.ts";
import type { PlanCatalog } from "../domain/plans/plan.ts";
import { type Changes, changesOf } from "../domain/subscriptions/changes.ts";
import type { Subscription } from "../domain/subscriptions/subscription.ts";
import { decideState } from "./decide-state.ts";

/** A field in which a subscription differs from its provider. `null`: no value. */
export type FieldDrift = { field: string; ours: unknown; theirs: unknown };

/**
 * The fields in which a subscription differs from its provider's response, by the same rules as events; none:
 * it matches. The review flag is no difference: it marks a possible error only.
 */
export function subscriptionDrift(
  ours: Subscription,
  theirs: PaymentEvent,
  plans: PlanCatalog,
): readonly FieldDrift[] {
  // Customer ids are not compared.
  const decision = decideState(ours, theirs, { plans, confirmedEmail: () => null });
  if (decision.outcome !== "applied" || decision.planProblem !== undefined) {
    const price = theirs.items[0]?.priceIds[0] ?? null;
    return [{ field: "planId", ours: ours.planId, theirs: price ?? theirs.planId }];
  }
  const changes: Changes = changesOf(ours, decision.subscription) ?? {};
  return Object.entries(changes)
    .filter(([field]) => field !== "outOfOrder")
    .map(([field, [before, after]]) => ({ field, ours: before, theirs: after }));
}
