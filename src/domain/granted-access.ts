import { type AccessFacts, accessOf } from "./access.ts";
import type { Feature } from "./feature.ts";
import type { Plan } from "./plan.ts";
import type { SubscriptionStatus } from "./subscription-status.ts";
import { nextReset } from "./usage-period.ts";

/** What decides a subscription's access, and to which plan. */
export type PlanAccessFacts = AccessFacts & { planId: string };

/** What a user's subscriptions grant together; without any that gives access, what the free plan grants. */
export type GrantedAccess = {
  planId: string | null;
  /** `null`: no subscription. */
  status: SubscriptionStatus | null;
  /** How long this holds for certain; `null`: no end is known. */
  until: Date | null;
  isSubscribed: boolean;
  grants: readonly Grant[];
};

/** @param subscriptions the newest first */
export function grantedAccess(
  subscriptions: readonly PlanAccessFacts[],
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
    grants: grants.length === 0 && free ? [freeGrant(free, now)] : grants,
  };
}

const FREE = "free";

export type Grant = {
  planId: string;
  status: SubscriptionStatus | null;
  features: readonly Feature[];
  until: Date | null;
  isGrace: boolean;
  resetsAt: Date;
};

function grantOf(subscription: PlanAccessFacts, plans: readonly Plan[], now: Date): Grant[] {
  const { planId, status, currentPeriodEnd, pastDueSince } = subscription;
  const plan = plans.find(({ id }) => id === planId);
  const access = accessOf(subscription, plan ?? null, now);
  if (!access.hasAccess) return [];
  const isGrace = access.reason === "grace";
  const renews = !isGrace && currentPeriodEnd !== null && currentPeriodEnd > now ? currentPeriodEnd : null;
  return [
    {
      ...{ planId, status, features: plan?.features ?? [], isGrace },
      until: access.until ?? renews,
      resetsAt: nextReset(isNextCharge(subscription) ? pastDueSince : currentPeriodEnd, now),
    },
  ];
}

const CHARGE_ATTEMPTS_MS = 15 * 24 * 60 * 60 * 1000;

/**
 * Whether the period's end is only the next attempt to charge, as Lemon Squeezy reports it for two weeks after
 * a failed renewal. With each attempt a quota would start over.
 */
function isNextCharge({ status, pastDueSince, currentPeriodEnd }: AccessFacts): boolean {
  if (status !== "past_due" || pastDueSince === null || currentPeriodEnd === null) return false;
  const afterMs = currentPeriodEnd.getTime() - pastDueSince.getTime();
  return afterMs > 0 && afterMs < CHARGE_ATTEMPTS_MS;
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
