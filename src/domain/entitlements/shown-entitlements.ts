import type { FeatureKind } from "../plans/feature.ts";
import type { Entitlements } from "./entitlements.ts";

/** What has been used of a quota in a period. */
export type QuotaUsage = { feature: string; periodEndMs: number; used: number };

/** As every interface shows them. */
export type ShownEntitlements = Pick<Entitlements, "planId" | "status" | "until"> & {
  features: Record<string, { kind: FeatureKind; value: boolean | number; used?: number; remaining?: number }>;
};

/** What has been used of a quota in its current period. */
export function usedOf(
  { features }: Pick<Entitlements, "features">,
  usage: readonly QuotaUsage[],
  feature: string,
): number {
  const period = features.get(feature)?.resetsAt.getTime();
  return usage.find((entry) => entry.feature === feature && entry.periodEndMs === period)?.used ?? 0;
}

export function showEntitlements(
  entitlements: Entitlements,
  usage: readonly QuotaUsage[],
): ShownEntitlements {
  const { planId, status, until, features } = entitlements;
  const entries: ShownEntitlements["features"] = {};
  for (const [id, { kind, value }] of features) {
    const used = kind === "quota" ? usedOf(entitlements, usage, id) : 0;
    entries[id] =
      kind === "quota"
        ? { kind, value, used, remaining: Math.max(0, Number(value) - used) }
        : { kind, value };
  }
  return { planId, status, until, features: entries };
}
