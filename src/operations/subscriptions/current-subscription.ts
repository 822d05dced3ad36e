import { z } from "zod";
import type { PlanCatalog } from "../../domain/plans/plan.ts";
import type { Queryable } from "../../store/database.ts";
import { liveSubscriptionOfUser } from "../../store/subscriptions/subscription-list.ts";
import { defineOperation } from "../operation.ts";
import { SubscriptionView } from "./subscription-view.ts";

/**
 * Of several, as of two slots, the one that entitles to most: active before trialing, before those that are
 * owed for.
 */
export const currentSubscription = defineOperation({
  name: "subscriptions.current",
  summary: "Shows the caller's current subscription; null if there is none",
  access: "person",
  permission: "subscriptions:read",
  limit: "api",
  input: z.strictObject({}),
  reasons: [],
  output: SubscriptionView.nullable(),
  run: ({ database, plans }: { database: Queryable; plans: PlanCatalog }, { userId }) =>
    liveSubscriptionOfUser(database, userId, plans),
});
