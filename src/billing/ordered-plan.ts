import type { Plan, PlanCatalog } from "../domain/plans/plan.ts";
import { refuse } from "../domain/refusals/refusal.ts";

/** The plan that an order names. @throws Refusal `plan_unknown` */
export function orderedPlan(plans: PlanCatalog, planId: string): Plan {
  return plans.find(planId) ?? refuse({ reason: "plan_unknown", params: { planId }, field: "planId" });
}

/** @throws Refusal `seats_out_of_range` */
export function assertSeats({ name, seats: { min, max } }: Plan, seats: number): void {
  if (seats < min || seats > max)
    refuse({ reason: "seats_out_of_range", params: { plan: name, min, max }, field: "seats" });
}
