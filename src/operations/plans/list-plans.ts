import { z } from "zod";
import { type Plan, type PlanCatalog, pricesOf } from "../../domain/plan.ts";
import { refuse } from "../../domain/refusal.ts";
import { defineOperation } from "../operation.ts";
import { PAGE, pageOf } from "../page.ts";

const PriceView = z.object({
  amount: z.int().describe("In the currency's smallest unit, per seat and interval."),
  currency: z.string().describe("ISO 4217."),
  interval: z.enum(["month", "year"]),
});

const PlanView = z
  .object({
    id: z.string(),
    name: z.string(),
    price: PriceView.describe("The price that is bought unless another is chosen."),
    prices: z.array(PriceView).describe("All prices, that one first."),
    trialDays: z.int().describe("Days of a free trial; 0: none."),
    features: z.array(z.string()),
    seats: z.object({ min: z.int(), max: z.int() }),
  })
  .meta({ id: "Plan" });

export const listPlans = defineOperation({
  name: "plans.list",
  summary: "Lists the plans for sale",
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
      items: plans.slice(start, start + limit).map(viewOf),
      nextCursor: plans[start + limit]?.id ?? null,
    };
  },
});

function viewOf(plan: Plan): z.input<typeof PlanView> {
  const { id, name, price, features, seats, trialDays } = plan;
  const prices = pricesOf(plan).map(({ priceIds: _, ...price }) => price);
  return { id, name, price, prices, features, seats, trialDays };
}
