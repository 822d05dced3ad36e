import { graceSeconds } from "../domain/entitlements/access.ts";
import { DEFAULT_ACCESS_RULES, type PlanCatalog } from "../domain/plans/plan.ts";
import type { Queryable } from "../store/database.ts";
import { recordGraceEnds } from "../store/entitlements/grace-ends.ts";

const BATCH = 500;

/** Emits `entitlements.changed` for people whose grace period is over: no other change would report it. */
export async function endGrace(
  { database, plans }: { database: Queryable; plans: Pick<PlanCatalog, "plans"> },
  { now, isStopping }: { now: Date; isStopping: () => boolean },
): Promise<void> {
  const graces = plans.plans.map((plan) => ({ planId: plan.id, graceSeconds: graceSeconds(plan) }));
  const options = { otherwiseSeconds: graceSeconds(DEFAULT_ACCESS_RULES), now, limit: BATCH };
  while (!isStopping()) if ((await recordGraceEnds(database, graces, options)) < BATCH) return;
}
