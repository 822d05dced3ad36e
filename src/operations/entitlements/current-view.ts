import { z } from "zod";
import { type Entitlements, entitlementsOf } from "../../domain/entitlements/entitlements.ts";
import type { AccessContext } from "../../domain/entitlements/granted-access.ts";
import { type QuotaUsage, showEntitlements } from "../../domain/entitlements/shown-entitlements.ts";
import { SUBSCRIPTION_STATUSES } from "../../domain/subscriptions/subscription-status.ts";
import type { EntitlementFacts } from "../../store/entitlements/entitlement-facts.ts";
import { FEATURE_VALUE } from "../plans/feature-value-view.ts";

export type EntitlementDeps = AccessContext & {
  findEntitlementFacts(userId: string): Promise<EntitlementFacts>;
};

/** A user's entitlements now, with what has been used of each quota. */
export async function currentEntitlements(
  deps: EntitlementDeps,
  userId: string,
): Promise<Entitlements & { usage: readonly QuotaUsage[] }> {
  const { subscriptions, usage } = await deps.findEntitlementFacts(userId);
  return { ...entitlementsOf(subscriptions, deps, new Date()), usage };
}

const FeatureEntitlement = z
  .object({
    ...FEATURE_VALUE,
    used: z.int().optional().describe("For a quota: how much has been used in the current period."),
    remaining: z.int().optional().describe("For a quota: how much is left in the current period."),
  })
  .meta({ id: "FeatureEntitlement", description: "A feature as a user's subscriptions grant it." });

export const EntitlementsView = z
  .object({
    planId: z
      .string()
      .nullable()
      .describe("The plan; without a subscription that gives access, the free one."),
    status: z
      .enum(SUBSCRIPTION_STATUSES)
      .nullable()
      .describe("The subscription's status; `null`: no subscription."),
    until: z.date().nullable().describe("How long this holds for certain; `null`: no end is known."),
    features: z.record(z.string(), FeatureEntitlement).describe("Every feature of any plan, by its id."),
  })
  .meta({
    id: "Entitlements",
    description: "The features that a user's subscriptions grant together.",
  });

export function entitlementsView(
  current: Awaited<ReturnType<typeof currentEntitlements>>,
): z.input<typeof EntitlementsView> {
  return showEntitlements(current, current.usage);
}
