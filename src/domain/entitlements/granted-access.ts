import type { Feature } from "../plans/feature.ts";
import { freePlan } from "../plans/free-plan.ts";
import { type Plan, type PlanCatalog, priceWithId } from "../plans/plan.ts";
import type { ProviderTraits } from "../providers/provider-traits.ts";
import type { Slot } from "../slot.ts";
import type { SubscriptionStatus } from "../subscriptions/subscription-status.ts";
import { type AccessFacts, accessOf } from "./access.ts";
import { nextReset } from "./usage-period.ts";

/** What decides a subscription's access, and to which plan. */
export type PlanAccessFacts = AccessFacts & {
  planId: string;
  provider: Slot;
  /** Absent, or `null`: not known. */
  priceId?: string | null;
};

/** What decides access besides the subscriptions themselves. */
export type AccessContext = {
  plans: Pick<PlanCatalog, "plans">;
  /** Of each slot's provider. */
  traits: Readonly<Record<Slot, PeriodTraits>>;
};

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
  context: AccessContext,
  now: Date,
): GrantedAccess {
  // Those that are paid for come first: they outlast the grace period of another.
  const grants = subscriptions
    .flatMap((subscription) => grantOf(subscription, context, now))
    .sort((a, b) => Number(a.isGrace) - Number(b.isGrace));
  const free = freePlan(context.plans.plans);
  const [best] = grants;
  return {
    planId: best?.planId ?? free?.id ?? null,
    status: best?.status ?? subscriptions[0]?.status ?? null,
    until: best?.until ?? null,
    isSubscribed: grants.length > 0,
    grants: grants.length === 0 && free ? [freeGrant(free, now)] : grants,
  };
}

export type Grant = {
  planId: string;
  status: SubscriptionStatus | null;
  features: readonly Feature[];
  until: Date | null;
  isGrace: boolean;
  resetsAt: Date;
};

function grantOf(subscription: PlanAccessFacts, { plans, traits }: AccessContext, now: Date): Grant[] {
  const { planId, status, currentPeriodEnd } = subscription;
  const plan = plans.plans.find(({ id }) => id === planId);
  const access = accessOf(subscription, plan ?? null, now);
  if (!access.hasAccess) return [];
  const isGrace = access.reason === "grace";
  const renews = !isGrace && currentPeriodEnd !== null && currentPeriodEnd > now ? currentPeriodEnd : null;
  return [
    {
      planId,
      status,
      features: plan?.features ?? [],
      isGrace,
      until: access.until ?? renews,
      resetsAt: quotaReset(subscription, { plan, traits: traits[subscription.provider] }, now),
    },
  ];
}

type PeriodTraits = Pick<ProviderTraits, "pastDuePeriodEndsAtNextCharge">;

type PeriodFacts = Pick<
  PlanAccessFacts,
  "provider" | "status" | "priceId" | "pastDueSince" | "currentPeriodEnd"
>;

/** When the quotas that a subscription grants start over. */
export function quotaReset(
  subscription: PeriodFacts,
  { plan, traits }: { plan: Plan | undefined; traits: PeriodTraits },
  now: Date,
): Date {
  const { provider, priceId = null, pastDueSince, currentPeriodEnd } = subscription;
  const periodEnd = isNextCharge(subscription, traits) ? pastDueSince : currentPeriodEnd;
  const price = plan && (priceId === null ? plan.price : priceWithId(plan, provider, priceId));
  return nextReset(periodEnd, now, price?.interval);
}

/** Whether the period's end is the next attempt to charge, with each of which a quota would start over. */
function isNextCharge(
  { status, pastDueSince, currentPeriodEnd }: PeriodFacts,
  traits: PeriodTraits,
): boolean {
  if (status !== "past_due" || pastDueSince === null || currentPeriodEnd === null) return false;
  return traits.pastDuePeriodEndsAtNextCharge && currentPeriodEnd > pastDueSince;
}

/**
 * Leaves out subscriptions that make no difference at any time: a newer one of the same plan is paid for.
 * @param subscriptions the newest first
 * @param mayChange these stay, and do not count as paid for
 */
export function withoutRepeated<Facts extends PlanAccessFacts>(
  subscriptions: readonly Facts[],
  context: AccessContext,
  mayChange: (subscription: Facts) => boolean,
): Facts[] {
  const paidPlans = new Set<string>();
  return subscriptions.filter((subscription) => {
    if (mayChange(subscription)) return true;
    if (paidPlans.has(subscription.planId)) return false;
    // Only the grace period depends on the time.
    const [grant] = grantOf(subscription, context, new Date(0));
    if (grant?.isGrace === false) paidPlans.add(subscription.planId);
    return true;
  });
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
