import { type AccessFacts, accessOf } from "./access.ts";
import type { Feature, FeatureKind } from "./feature.ts";
import type { Plan, PlanCatalog } from "./plan.ts";
import type { SubscriptionStatus } from "./subscription-status.ts";
import { nextReset } from "./usage-period.ts";

/** What a user may do, by all of their subscriptions; without any that gives access, by the free plan. */
export type Entitlements = {
  planId: string | null;
  /** `null`: no subscription. */
  status: SubscriptionStatus | null;
  /** How long this holds for certain; `null`: no end is known. */
  until: Date | null;
  isSubscribed: boolean;
  /** Every feature of any plan. */
  features: ReadonlyMap<string, Entitlement>;
};

type Entitlement = {
  kind: FeatureKind;
  value: boolean | number;
  until: Date | null;
  /** A renewal has failed, and access stays for the days of grace. */
  isGrace: boolean;
  /** When a quota starts over. */
  resetsAt: Date;
};

export type Check = {
  allowed: boolean;
  reason: "plan" | "grace_until" | "not_subscribed" | "quota_exceeded";
  /** Until when an allowed check holds; of an exceeded quota, when it starts over. */
  until: Date | null;
  /** Of a quota, before this amount. */
  remaining?: number;
};

/** Of a subscription: what decides access, and to which plan. */
export type Subscribed = AccessFacts & { planId: string };

/** What has been used of a quota in a period. */
export type QuotaUsage = { feature: string; periodEndMs: number; used: number };

/** As every interface shows them. */
export type ShownEntitlements = Pick<Entitlements, "planId" | "status" | "until"> & {
  features: Record<string, { kind: FeatureKind; value: boolean | number; used?: number; remaining?: number }>;
};

/** @param subscriptions the newest first */
export function entitlementsOf(
  subscriptions: readonly Subscribed[],
  { plans }: Pick<PlanCatalog, "plans">,
  now: Date,
): Entitlements {
  const { granted, ...access } = grantedAccess(subscriptions, plans, now);
  return { ...access, features: featuresOf(granted, plans, now) };
}

/** Whether a user has the same entitlements before and after; the features are made only where the rest is equal. */
export function isSameAccess(
  [before, beforeAt]: readonly [readonly Subscribed[], Date],
  [after, afterAt]: readonly [readonly Subscribed[], Date],
  { plans }: Pick<PlanCatalog, "plans">,
): boolean {
  const old = grantedAccess(before, plans, beforeAt);
  const current = grantedAccess(after, plans, afterAt);
  if (old.planId !== current.planId || old.status !== current.status) return false;
  if (old.until?.getTime() !== current.until?.getTime()) return false;
  const previous = featuresOf(old.granted, plans, beforeAt);
  for (const [id, { kind, value, resetsAt }] of featuresOf(current.granted, plans, afterAt)) {
    const feature = previous.get(id);
    if (feature?.value !== value) return false;
    // What is left of a quota changes with its period.
    if (kind === "quota" && value !== 0 && feature.resetsAt.getTime() !== resetsAt.getTime()) return false;
  }
  return true;
}

type GrantedAccess = Omit<Entitlements, "features"> & { granted: readonly Grant[] };

function grantedAccess(
  subscriptions: readonly Subscribed[],
  plans: readonly Plan[],
  now: Date,
): GrantedAccess {
  const grants = subscriptions.flatMap((subscription) => grantOf(subscription, plans, now));
  const free = plans.find(({ id }) => id === FREE) ?? plans.find(({ price }) => price.amount === 0);
  const best = grants.find(({ isGrace }) => !isGrace) ?? grants[0];
  return {
    planId: best?.planId ?? free?.id ?? null,
    status: best?.status ?? subscriptions[0]?.status ?? null,
    until: best?.until ?? null,
    isSubscribed: grants.length > 0,
    granted: grants.length > 0 ? grants : free ? [freeGrant(free, now)] : [],
  };
}

function featuresOf(
  granted: readonly Grant[],
  plans: readonly Plan[],
  now: Date,
): ReadonlyMap<string, Entitlement> {
  const features = withNoFeature(plans, now);
  for (const grant of granted) {
    for (const { id, kind, value } of grant.features) {
      // Of several subscriptions the most generous value counts.
      if (Number(value) <= Number(features.get(id)?.value)) continue;
      const { until, isGrace, resetsAt } = grant;
      features.set(id, { kind, value, until, isGrace, resetsAt });
    }
  }
  return features;
}

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

/** @param used of the quota in its period @returns `null` for a feature of no plan */
export function checkFeature(
  { features, isSubscribed }: Entitlements,
  feature: string,
  { amount, used }: { amount: number; used: number },
): Check | null {
  const entitlement = features.get(feature);
  if (entitlement === undefined) return null;
  const { kind, value, until, isGrace, resetsAt } = entitlement;
  const reason = isGrace ? "grace_until" : "plan";
  switch (kind) {
    case "flag":
      return value ? { allowed: true, reason, until } : notIncluded(isSubscribed);
    case "limit":
      return amount <= Number(value) ? { allowed: true, reason, until } : notIncluded(isSubscribed);
    case "quota": {
      const quota = Number(value);
      if (quota === 0) return { ...notIncluded(isSubscribed), remaining: 0 };
      const remaining = Math.max(0, quota - used);
      return amount <= remaining
        ? { allowed: true, reason, until, remaining }
        : { allowed: false, reason: "quota_exceeded", until: resetsAt, remaining };
    }
    default:
      return kind satisfies never;
  }
}

const FREE = "free";

function notIncluded(isSubscribed: boolean): Check {
  return { allowed: false, reason: isSubscribed ? "plan" : "not_subscribed", until: null };
}

type Grant = {
  planId: string;
  status: SubscriptionStatus | null;
  features: readonly Feature[];
  until: Date | null;
  isGrace: boolean;
  resetsAt: Date;
};

function grantOf(subscription: Subscribed, plans: readonly Plan[], now: Date): Grant[] {
  const { planId, status, currentPeriodEnd } = subscription;
  const plan = plans.find(({ id }) => id === planId);
  const access = accessOf(subscription, plan ?? null, now);
  if (!access.hasAccess) return [];
  const isGrace = access.reason === "grace";
  const renews = !isGrace && currentPeriodEnd !== null && currentPeriodEnd > now ? currentPeriodEnd : null;
  return [
    {
      ...{ planId, status, features: plan?.features ?? [], isGrace },
      until: access.until ?? renews,
      resetsAt: nextReset(currentPeriodEnd, now),
    },
  ];
}

function freeGrant({ id, features }: Plan, now: Date): Grant {
  return {
    planId: id,
    status: null,
    features,
    until: null,
    isGrace: false,
    resetsAt: nextReset(null, now),
  };
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
