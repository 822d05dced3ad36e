import { z } from "zod";
import { notFound, refuse } from "../../domain/refusals/refusal.ts";
import { StorableText } from "../../domain/storable-text.ts";
import type { Intake } from "../../intake/intake.ts";
import { dismissReview } from "../../reconcile/dismiss-review.ts";
import { findSubscription } from "../../store/subscriptions/subscription-list.ts";
import { defineOperation } from "../operation.ts";
import { SubscriptionView } from "./subscription-view.ts";

/** For what no comparison can settle: the provider does not know it, or cannot be asked. */
export const dismissSubscription = defineOperation({
  name: "subscriptions.dismiss",
  summary: "Removes a subscription from the review list without changing it, and records the reason",
  access: "admin",
  limit: "admin",
  input: z.strictObject({
    id: SubscriptionView.shape.id,
    reason: StorableText.trim().min(1).max(500).describe("The reason, which is recorded."),
  }),
  reasons: ["not_found", "review_not_needed"],
  output: SubscriptionView,
  run: async (deps: { intake: Intake }, caller, { id, reason }) => {
    const isDismissed = await dismissReview(deps.intake, { id, by: caller, reason });
    const subscription = (await findSubscription(deps.intake.database, id)) ?? notFound("subscription");
    return isDismissed ? subscription : refuse({ reason: "review_not_needed" });
  },
});
