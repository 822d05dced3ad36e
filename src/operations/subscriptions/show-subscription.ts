import { z } from "zod";
import { notFound } from "../../domain/refusals/refusal.ts";
import type { Queryable } from "../../store/database.ts";
import { findSubscription } from "../../store/subscriptions/subscription-list.ts";
import { defineOperation } from "../operation.ts";
import { SubscriptionView } from "./subscription-view.ts";

export const showSubscription = defineOperation({
  name: "subscriptions.show",
  summary: "Shows one of the caller's subscriptions",
  access: "person",
  permission: "subscriptions:read",
  limit: "api",
  input: z.strictObject({ id: SubscriptionView.shape.id }),
  reasons: ["not_found"],
  output: SubscriptionView,
  run: async (deps: { database: Queryable }, caller, { id }) => {
    const subscription = await findSubscription(deps.database, id);
    // Somebody else's is answered like one that does not exist: ids must not tell what there is.
    if (subscription?.userId !== caller.userId) notFound("subscription");
    return subscription;
  },
});
