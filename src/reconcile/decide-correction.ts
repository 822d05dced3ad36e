import type { Failure } from "../domain/deliveries/failures.ts";
import type { Decision } from "../domain/events/decide.ts";
import type { PaymentEvent } from "../domain/events/payment-event.ts";
import { type SubscriptionChange, subscriptionChange } from "../domain/outbound/subscription-change.ts";
import type { PlanCatalog } from "../domain/plans/plan.ts";
import type { UnclearState } from "../domain/refusals/unclear-state.ts";
import type { Subscription } from "../domain/subscriptions/subscription.ts";
import type { Queryable } from "../store/database.ts";
import { findConfirmedEmails } from "../store/users/user-states.ts";
import { decideState } from "./decide-state.ts";

/** A subscription as its provider has it, and when the provider was asked. */
export type ProviderAnswer = { state: PaymentEvent; askedAtMicros: number };

export type Correction = {
  before: Subscription;
  after: Subscription & { comparedAtMicros: number };
  change: SubscriptionChange;
  /** Why the answer does not settle the subscription's plan; `null`: it does. */
  problem: UnclearState | null;
};

/** What an answer makes of a subscription, by the same rules as an event's. */
export async function decideCorrection(
  database: Queryable,
  { before, plans }: { before: Subscription; plans: PlanCatalog },
  { state, askedAtMicros }: ProviderAnswer,
): Promise<Correction> {
  const confirmed = await findConfirmedEmails(database, before.userId === null ? [] : [before.userId]);
  const decision = decideState(before, state, {
    plans,
    confirmedEmail: (userId) => confirmed.get(userId) ?? null,
  });
  const problem = problemOf(decision);
  const decided = decision.outcome === "applied" ? decision.subscription : before;
  const after = {
    ...decided,
    // A problem with the plan is flagged for the operator.
    outOfOrder: problem !== null,
    // Events from before this request are late from now on.
    comparedAtMicros: laterOf(askedAtMicros, before.comparedAtMicros),
  };
  return { before, after, change: subscriptionChange(before, after), problem };
}

/** Longer than a comparison takes: what is further ahead was stored while a server's clock was. */
const MAX_AHEAD_MICROS = 5 * 60 * 1_000_000;

/** One that asked later may have ended first. */
function laterOf(askedAtMicros: number, comparedAtMicros: number | null): number {
  const isAhead = (comparedAtMicros ?? 0) > askedAtMicros + MAX_AHEAD_MICROS;
  return isAhead ? askedAtMicros : Math.max(askedAtMicros, comparedAtMicros ?? 0);
}

function problemOf(decision: Decision): UnclearState | null {
  switch (decision.outcome) {
    case "applied":
      return decision.planProblem ? unclearPlan(decision.planProblem) : null;
    case "failed":
      return unclearPlan(decision.failure);
    case "ignored":
      return { cause: "no_information" };
    default:
      return decision satisfies never;
  }
}

/** The subscription is known, so only its plan can be unclear. */
function unclearPlan(failure: Failure): UnclearState {
  switch (failure.reason) {
    case "plan_unknown":
      return { cause: "plan_unknown", name: failure.params.planId };
    case "price_unknown":
      return { cause: "price_unknown", name: failure.params.priceId };
    case "plan_not_named":
      return { cause: "no_plan" };
    default:
      return { cause: "no_information" };
  }
}
