import { z } from "zod";
import { checkFeature, usedOf } from "../../domain/entitlements.ts";
import { refuse } from "../../domain/refusal.ts";
import { defineOperation } from "../operation.ts";
import { currentEntitlements, type EntitlementDeps } from "./current-view.ts";

const CheckView = z
  .object({
    allowed: z.boolean().describe("Whether the user may use the feature."),
    reason: z
      .enum(["plan", "grace_until", "not_subscribed", "quota_exceeded"])
      .describe(
        "Why: the plan includes it or does not; a renewal has failed and access stays for some days; no subscription gives access; nothing is left of the quota.",
      ),
    until: z
      .date()
      .nullable()
      .describe(
        "Until when an allowed check holds for certain, or when an exceeded quota starts over; `null`: not known.",
      ),
    remaining: z.int().optional().describe("For a quota: how much is left, this amount not yet included."),
  })
  .meta({ id: "EntitlementCheck", description: "Whether a user may use a feature." });

export const checkEntitlement = defineOperation({
  name: "entitlements.check",
  summary: "Answers whether the user may use a feature, why, and until when",
  access: "person",
  permission: "entitlements:read",
  limit: "api",
  input: z.strictObject({
    feature: z.string().min(1).max(50).describe("Its id in `plans.config.ts`."),
    amount: z
      .int()
      .min(1)
      .max(2_147_483_647)
      .default(1)
      .describe("How many, of a limit or a quota. Nothing is used up."),
  }),
  reasons: ["not_found"],
  output: CheckView,
  run: async (deps: EntitlementDeps, { userId }, { feature, amount }) => {
    const current = await currentEntitlements(deps, userId);
    return (
      checkFeature(current, feature, { amount, used: usedOf(current, current.usage, feature) }) ??
      refuse({ reason: "not_found", params: { resource: "feature" } })
    );
  },
});
