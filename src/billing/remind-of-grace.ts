import { graceSeconds, reversalsEndingAccess } from "../domain/entitlements/access.ts";
import { graceReminders } from "../domain/notifications/grace-reminders.ts";
import type { PlanCatalog } from "../domain/plans/plan.ts";
import type { Queryable } from "../store/database.ts";
import { sendGraceReminders } from "../store/entitlements/grace-reminders.ts";

const BATCH = 500;

/** Reminds users of failed renewals during the grace period: in its middle, and a day before it ends. */
export async function remindOfGrace(
  { database, plans }: { database: Queryable; plans: Pick<PlanCatalog, "plans"> },
  { now, isStopping }: { now: Date; isStopping: () => boolean },
): Promise<void> {
  const reminders = plans.plans.flatMap((plan) =>
    graceReminders(plan.graceDays).map((reminder) => ({
      ...reminder,
      planId: plan.id,
      graceSeconds: graceSeconds(plan),
      endedBy: reversalsEndingAccess(plan),
    })),
  );
  while (!isStopping())
    if ((await sendGraceReminders(database, reminders, { now, limit: BATCH })) < BATCH) return;
}
