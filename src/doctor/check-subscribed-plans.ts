import { errorText } from "../domain/error-text.ts";
import type { PlanCatalog } from "../domain/plans/plan.ts";
import type { Queryable } from "../store/database.ts";
import { undefinedPlans } from "../store/subscriptions/undefined-plans.ts";
import { broken, type Finding, warning } from "./finding.ts";

const CHECK = "subscribed plans";

/** Whether `plans.config.ts` lacks a plan that somebody has: its features are unknown, and they have none. `null`: no plan is missing. */
export async function checkSubscribedPlans(
  database: Queryable,
  { plans }: Pick<PlanCatalog, "plans">,
): Promise<Finding | null> {
  try {
    const missing = await undefinedPlans(
      database,
      plans.map(({ id }) => id),
    );
    if (missing.length === 0) return null;
    const names = missing.map(({ planId, subscriptions }) => `${planId} (${counted(subscriptions)})`);
    const remedy =
      "Put them back (without price ids if no longer sold): until then their subscribers have no features.";
    return broken(CHECK, `not in plans.config.ts: ${names.join(", ")}`, remedy);
  } catch (error) {
    // A very large table takes longer than the doctor waits.
    const remedy = "Check that every plan that somebody still has is in plans.config.ts.";
    return warning(CHECK, `could not be checked: ${errorText(error)}`, remedy);
  }
}

function counted(subscriptions: number): string {
  return subscriptions === 1 ? "1 subscription" : `${subscriptions} subscriptions`;
}
