import type { Plan } from "../domain/plans/plan.ts";
import { refuse } from "../domain/refusals/refusal.ts";
import type { Queryable } from "../store/database.ts";
import { usedInPeriod } from "../store/entitlements/usage.ts";

type PlanFeatures = Pick<Plan, "features">;

/**
 * Refuses a plan with a smaller quota than the present one, if more has been used in this period than it includes:
 * the rest of the dearer plan's price would be credited, and what was used of it would be free.
 * @param usage.periodEnd when the present quotas start over
 * @throws Refusal `plan_includes_less`
 */
export async function assertQuotas(
  database: Queryable,
  { present, next }: { present: PlanFeatures; next: PlanFeatures },
  { userId, periodEnd }: { userId: string; periodEnd: Date },
): Promise<void> {
  const used = await usedInPeriod(database, userId, periodEnd);
  const exceeded = used.find(({ feature, used }) => {
    const quota = quotaIn(next, feature);
    return used > quota && quota < quotaIn(present, feature);
  });
  if (exceeded !== undefined)
    refuse({ reason: "plan_includes_less", params: { feature: exceeded.feature }, field: "planId" });
}

function quotaIn({ features }: PlanFeatures, id: string): number {
  const feature = features.find((feature) => feature.id === id);
  return feature?.kind === "quota" ? Number(feature.value) : 0;
}
