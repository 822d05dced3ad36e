import { z } from "zod";
import { ACCESS_REASONS, accessOf } from "../../domain/access.ts";
import type { PlanCatalog } from "../../domain/plan.ts";
import type { Queryable } from "../../store/database.ts";
import { subscriptionAccessOfUser } from "../../store/subscription-access.ts";
import { defineOperation } from "../operation.ts";

const AccessView = z.object({
  subscriptionId: z.uuid(),
  planId: z.string(),
  planName: z.string(),
  hasAccess: z.boolean(),
  until: z.date().nullable().describe("When access ends as things stand."),
  reason: z.enum(ACCESS_REASONS),
});

export const showAccess = defineOperation({
  name: "subscriptions.access",
  summary: "Shows whether each of the caller's running subscriptions gives access, and why",
  access: "person",
  limit: "api",
  input: z.strictObject({}),
  reasons: [],
  output: z.object({ items: z.array(AccessView) }),
  run: async ({ database, plans }: { database: Queryable; plans: PlanCatalog }, { userId }) => {
    const now = new Date();
    const subscriptions = await subscriptionAccessOfUser(database, userId);
    return {
      items: subscriptions.map((subscription) => {
        const plan = plans.plans.find(({ id }) => id === subscription.planId) ?? null;
        return {
          subscriptionId: subscription.id,
          planId: subscription.planId,
          planName: plan?.name ?? subscription.planId,
          ...accessOf(subscription, plan, now),
        };
      }),
    };
  },
});
