import type { PlanCatalog } from "../domain/plans/plan.ts";
import type { CheckoutOrder } from "../domain/providers/payment-api.ts";
import type { Queryable } from "../store/database.ts";
import { hadSubscription } from "../store/subscriptions/customers.ts";

/** The trial of an order: the plan's for a person's first subscription, none for a later one. */
export async function trialDaysOf(
  { database, plans }: { database: Queryable; plans: PlanCatalog },
  { userId, planId }: Pick<CheckoutOrder, "userId" | "planId">,
): Promise<number | null> {
  const trialDays = plans.find(planId)?.trialDays ?? 0;
  if (trialDays === 0) return null;
  return (await hadSubscription(database, userId)) ? 0 : trialDays;
}
