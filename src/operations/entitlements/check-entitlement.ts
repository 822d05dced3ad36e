import { z } from "zod";
import { CHECK_REASONS, checkFeature } from "../../domain/entitlements/check-feature.ts";
import { usedOf } from "../../domain/entitlements/shown-entitlements.ts";
import { notFound } from "../../domain/refusals/refusal.ts";
import { defineOperation } from "../operation.ts";
import { currentEntitlements, type EntitlementDeps } from "./current-view.ts";

const CheckView = z
  .object({
    allowed: z.boolean().describe("Whether the user may use the feature."),
    reason: z
      .enum(CHECK_REASONS)
      .describe(
        "Why: the plan includes the feature or does not; a renewal has failed and access lasts until the grace period ends; no subscription gives access; the quota is used up.",
      ),
    until: z
      .date()
      .nullable()
      .describe(
        "Until when an allowed check is certain to hold, or when an exceeded quota resets; `null`: unknown.",
      ),
    remaining: z.int().optional().describe("For a quota: how much is left, before this amount."),
  })
  .meta({ id: "EntitlementCheck", description: "Whether a user may use a feature." });

export const checkEntitlement = defineOperation({
  name: "entitlements.check",
  summary: "Checks whether the user may use a feature; returns the reason and until when it holds",
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
      .describe("The amount to check, for a limit or a quota. Checking uses nothing up."),
  }),
  reasons: ["not_found"],
  output: CheckView,
  run: async (deps: EntitlementDeps, { userId }, { feature, amount }) => {
    const current = await currentEntitlements(deps, userId);
    return (
      checkFeature(current, feature, { amount, used: usedOf(current, current.usage, feature) }) ??
      notFound("feature")
    );
  },
});
