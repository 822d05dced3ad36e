import { z } from "zod";
import type { PlanCatalog } from "../../domain/plan.ts";
import { refuse } from "../../domain/refusal.ts";
import { defineOperation } from "../operation.ts";
import { PAGE, pageOf } from "../page.ts";

const PlanView = z
  .object({
    id: z.string(),
    name: z.string(),
    price: z.object({
      amount: z.int().describe("In the currency's smallest unit, per seat and interval."),
      currency: z.string().describe("ISO 4217."),
      interval: z.enum(["month", "year"]),
    }),
    features: z.array(z.string()),
    seats: z.object({ min: z.int(), max: z.int() }),
  })
  .meta({ id: "Plan" });

export const listPlans = defineOperation({
  name: "plans.list",
  summary: "What is for sale",
  access: "anyone",
  limit: "api",
  input: z.strictObject(PAGE),
  reasons: [],
  output: pageOf(PlanView),
  run: async (deps: { plans: PlanCatalog }, _caller, { limit, cursor }) => {
    // There are a few, in the order of their file: a cursor is the id of the plan that the page begins with.
    const { plans } = deps.plans;
    const start = cursor === null ? 0 : plans.findIndex((plan) => plan.id === cursor);
    if (start < 0)
      refuse({
        reason: "invalid_input",
        params: { problem: "malformed", format: "cursor" },
        field: "cursor",
      });
    return {
      items: plans.slice(start, start + limit).map(({ priceIds: _, ...plan }) => plan),
      nextCursor: plans[start + limit]?.id ?? null,
    };
  },
});
