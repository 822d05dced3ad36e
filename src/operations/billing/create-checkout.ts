import { z } from "zod";
import type { PlanCatalog } from "../../domain/plan.ts";
import { refuse } from "../../domain/refusal.ts";
import { SLOTS } from "../../domain/slot.ts";
import { defineOperation } from "../operation.ts";

export const createCheckout = defineOperation({
  name: "billing.createCheckout",
  summary: "Opens a checkout at the payment provider and tells where",
  access: "person",
  limit: "billing",
  input: z.strictObject({
    planId: z.string().min(1).max(50),
    seats: z.int().min(1).optional().describe("The plan's smallest number unless given."),
    provider: z.enum(SLOTS).optional().describe("The operator's choice unless given."),
  }),
  output: z.object({ url: z.url() }),
  run: async (deps: { plans: PlanCatalog }, _caller, { planId, seats }) => {
    const plan =
      deps.plans.plans.find((one) => one.id === planId) ??
      refuse("invalid_input", `planId: there is no plan "${planId}"`);
    if (Object.keys(plan.priceIds).length === 0) refuse("invalid_input", `planId: ${plan.name} is not sold`);
    if (seats !== undefined && (seats < plan.seats.min || seats > plan.seats.max)) {
      refuse("invalid_input", `seats: ${plan.name} has ${plan.seats.min} to ${plan.seats.max}`);
    }
    return refuse("unavailable", "no payment provider is configured");
  },
});
