import { z } from "zod";
import { refuse } from "../../domain/refusal.ts";
import type { Queryable } from "../../store/database.ts";
import { findSubscription } from "../../store/subscription-list.ts";
import { defineOperation } from "../operation.ts";
import { SubscriptionView } from "./subscription-view.ts";

export const reconcileSubscription = defineOperation({
  name: "subscriptions.reconcile",
  summary: "Compares a subscription with its provider and corrects it",
  access: "admin",
  limit: "admin",
  input: z.strictObject({ id: z.uuid("expected a subscription's id") }),
  output: SubscriptionView,
  run: async (deps: { database: Queryable }, _caller, { id }) => {
    const found = await findSubscription(deps.database, id);
    if (!found) refuse("not_found", "there is no such subscription");
    return refuse("unavailable", `no payment provider is configured for ${found.provider}`);
  },
});
