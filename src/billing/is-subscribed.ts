import { accessOf } from "../domain/entitlements/access.ts";
import type { PlanCatalog } from "../domain/plans/plan.ts";
import { isRunning } from "../domain/subscriptions/subscription-status.ts";
import type { Queryable } from "../store/database.ts";
import {
  type SubscriptionAccess,
  subscriptionAccessOfUser,
} from "../store/subscriptions/subscription-access.ts";

type Deps = { database: Queryable; plans: PlanCatalog };
type UserAndPlan = { userId: string; planId: string };

/** Whether the user has a running subscription, in any slot, or owns this plan. */
export async function isSubscribed(deps: Deps, { userId, planId }: UserAndPlan): Promise<boolean> {
  const all = await subscriptionAccessOfUser(deps.database, userId);
  return all.some((each) => (each.isOneTime ? isOwned(deps, each, planId) : isRunning(each.status)));
}

/** Whether single payments bought the user this plan: nobody pays again and again for what is theirs. */
export async function ownsPlan(deps: Deps, { userId, planId }: UserAndPlan): Promise<boolean> {
  const all = await subscriptionAccessOfUser(deps.database, userId);
  return all.some((each) => isOwned(deps, each, planId));
}

function isOwned({ plans }: Deps, bought: SubscriptionAccess, planId: string): boolean {
  if (!bought.isOneTime || bought.planId !== planId) return false;
  return accessOf(bought, plans.find(planId) ?? null, new Date()).hasAccess;
}
