import type { Entitlements } from "./entitlements.ts";

export const CHECK_REASONS = ["plan", "grace_until", "not_subscribed", "quota_exceeded"] as const;

export type Check = {
  allowed: boolean;
  reason: (typeof CHECK_REASONS)[number];
  /** Until when an allowed check holds; of an exceeded quota, when it starts over. */
  until: Date | null;
  /** Of a quota, before this amount. */
  remaining?: number;
};

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

function notIncluded(isSubscribed: boolean): Check {
  return { allowed: false, reason: isSubscribed ? "plan" : "not_subscribed", until: null };
}
