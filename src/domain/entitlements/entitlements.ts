import type { FeatureKind } from "../plans/feature.ts";
import type { Plan } from "../plans/plan.ts";
import {
  type AccessContext,
  type Grant,
  type GrantedAccess,
  grantedAccess,
  type PlanAccessFacts,
} from "./granted-access.ts";
import { nextReset } from "./usage-period.ts";

/** What a user may do, by all of their subscriptions; without any that gives access, by the free plan. */
export type Entitlements = Omit<GrantedAccess, "grants"> & {
  /** Every feature of any plan. */
  features: ReadonlyMap<string, Entitlement>;
};

type Entitlement = {
  kind: FeatureKind;
  value: boolean | number;
  until: Date | null;
  /** A renewal has failed, and access lasts for the grace period. */
  isGrace: boolean;
  /** When a quota starts over. */
  resetsAt: Date;
};

/** @param subscriptions the newest first */
export function entitlementsOf(
  subscriptions: readonly PlanAccessFacts[],
  context: AccessContext,
  now: Date,
): Entitlements {
  const { grants, ...access } = grantedAccess(subscriptions, context, now);
  return { ...access, features: featuresOf(grants, context.plans.plans, now) };
}

/**
 * The entitlements after a change; `null`: they are those before it. Compares the features, which cost most,
 * last.
 */
export function entitlementsIfChanged(
  [before, beforeAt]: readonly [readonly PlanAccessFacts[], Date],
  [after, afterAt]: readonly [readonly PlanAccessFacts[], Date],
  context: AccessContext,
): Entitlements | null {
  const { plans } = context.plans;
  const old = grantedAccess(before, context, beforeAt);
  const { grants, ...access } = grantedAccess(after, context, afterAt);
  const features = featuresOf(grants, plans, afterAt);
  const isUnchanged =
    old.planId === access.planId &&
    old.status === access.status &&
    old.until?.getTime() === access.until?.getTime() &&
    isSameFeatures(featuresOf(old.grants, plans, beforeAt), features);
  return isUnchanged ? null : { ...access, features };
}

function isSameFeatures(before: Entitlements["features"], after: Entitlements["features"]): boolean {
  for (const [id, { kind, value, resetsAt }] of after) {
    const feature = before.get(id);
    if (feature?.value !== value) return false;
    // What is left of a quota changes with its period.
    if (kind === "quota" && value !== 0 && feature.resetsAt.getTime() !== resetsAt.getTime()) return false;
  }
  return true;
}

function featuresOf(
  grants: readonly Grant[],
  plans: readonly Plan[],
  now: Date,
): ReadonlyMap<string, Entitlement> {
  const features = withNoFeature(plans, now);
  for (const grant of grants) {
    for (const { id, kind, value } of grant.features) {
      // Of several subscriptions the most generous value counts, of equal ones the first.
      if (Number(value) <= Number(features.get(id)?.value)) continue;
      const { until, isGrace, resetsAt } = grant;
      features.set(id, { kind, value, until, isGrace, resetsAt });
    }
  }
  return features;
}

/** Every feature of any plan, as somebody without a plan has them. */
function withNoFeature(plans: readonly Plan[], now: Date): Map<string, Entitlement> {
  const resetsAt = nextReset(null, now);
  const features = new Map<string, Entitlement>();
  for (const plan of plans) {
    for (const { id, kind } of plan.features) {
      if (features.has(id)) continue;
      features.set(id, { kind, value: kind === "flag" ? false : 0, until: null, isGrace: false, resetsAt });
    }
  }
  return features;
}
