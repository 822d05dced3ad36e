import { DEFAULT_ACCESS_RULES, type PlanCatalog } from "../domain/plans/plan.ts";
import type { Queryable } from "../store/database.ts";
import { recordGraceEnds } from "../store/entitlements/grace-ends.ts";

const DAY_SECONDS = 24 * 60 * 60;
const BATCH = 500;

/** Emits `entitlements.changed` for people whose grace period is over: no other change would report it. */
export async function endGrace(
  { database, plans }: { database: Queryable; plans: Pick<PlanCatalog, "plans"> },
  { now, isStopping }: { now: Date; isStopping: () => boolean },
): Promise<void> {
  const graces = plans.plans.map(({ id, graceDays }) => ({
    planId: id,
    graceSeconds: graceDays * DAY_SECONDS,
  }));
  const otherwiseSeconds = DEFAULT_ACCESS_RULES.graceDays * DAY_SECONDS;
  const options = { otherwiseSeconds, now, limit: BATCH };
  while (!isStopping()) if ((await recordGraceEnds(database, graces, options)) < BATCH) return;
}
