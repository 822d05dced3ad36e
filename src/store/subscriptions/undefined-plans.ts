import type { Queryable } from "../database.ts";
import { latestReversal } from "./subscription-access.ts";

export type UndefinedPlan = { planId: string; subscriptions: number };

const SELECT_UNDEFINED_PLANS = {
  name: "undefined_plans",
  text: `
select s.plan_id as "planId", count(*)::int as subscriptions from subscription s
where s.user_id is not null and s.status in ('trialing', 'active', 'past_due', 'paused') and s.plan_id <> all($1)
  and (${latestReversal()}) is null
group by s.plan_id order by s.plan_id`,
};

/**
 * The plans of subscriptions that somebody has or may resume, and whose payment was not taken back, except the defined
 * ones, each with their number. Reads the whole table.
 */
export async function undefinedPlans(
  database: Queryable,
  definedIds: readonly string[],
): Promise<UndefinedPlan[]> {
  return database.run<UndefinedPlan>(SELECT_UNDEFINED_PLANS, [definedIds]);
}
