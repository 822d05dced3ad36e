import { z } from "zod";
import type { PlanCatalog } from "../../domain/plan.ts";
import { defineOperation } from "../operation.ts";

const FeatureView = z
  .object({
    name: z.string(),
    planIds: z.array(z.string()).describe("The plans that have it, in the order of the list of plans."),
  })
  .meta({ id: "Feature" });

export const listFeatures = defineOperation({
  name: "plans.features",
  summary: "Every feature that some plan has, once, with the plans that have it",
  access: "anyone",
  limit: "api",
  input: z.strictObject({}),
  reasons: [],
  output: z.object({ features: z.array(FeatureView) }),
  run: async (deps: { plans: PlanCatalog }) => {
    const { plans } = deps.plans;
    const names = [...new Set(plans.flatMap((plan) => plan.features))];
    return {
      features: names.map((name) => ({
        name,
        planIds: plans.filter((plan) => plan.features.includes(name)).map((plan) => plan.id),
      })),
    };
  },
});
