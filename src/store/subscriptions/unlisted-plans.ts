import type { Queryable } from "../database.ts";

export type UnlistedPlan = { planId: string; subscriptions: number };

const SELECT_UNLISTED_PLANS = {
  name: "unlisted_plans",
  text: `
select plan_id as "planId", count(*)::int as subscriptions from subscription
where status in ('trialing', 'active', 'past_due') and plan_id <> all($1)
group by plan_id order by plan_id`,
};

/** The plans of subscriptions that run, except the listed ones, each with their number. Reads the whole table. */
export async function unlistedPlans(
  database: Queryable,
  listedIds: readonly string[],
): Promise<UnlistedPlan[]> {
  return database.run<UnlistedPlan>(SELECT_UNLISTED_PLANS, [listedIds]);
}
