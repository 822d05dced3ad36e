import { DEFAULT_ACCESS_RULES, type Plan } from "../plans/plan.ts";
import type { Subscription } from "../subscriptions/subscription.ts";

/** What of a subscription decides access. */
export type AccessFacts = Pick<Subscription, "status" | "currentPeriodEnd" | "cancelAtPeriodEnd"> & {
  /** Since when a renewal has been failing; `null`: not past due, or not known. */
  pastDueSince: Date | null;
  /** How the latest payment was taken back in full; `null`: it was not. */
  paymentReversal: PaymentReversal | null;
};

const PAYMENT_REVERSALS = ["refunded", "disputed", "refunded_and_disputed"] as const;

export type PaymentReversal = (typeof PAYMENT_REVERSALS)[number];

export type Access = {
  hasAccess: boolean;
  /** When access ends as things stand; `null`: no end is known, or there is no access. */
  until: Date | null;
  reason: AccessReason;
};

/**
 * `grace`: a renewal failed, and access stays until the end of the grace period. `incomplete`: the first
 * payment is still due. `unpaid`: the provider has given up on a renewal. The plan decides whether those two
 * and `paused` give access.
 */
export const ACCESS_REASONS = [
  "paid",
  "trial",
  "grace",
  "grace_over",
  "refunded",
  "disputed",
  "incomplete",
  "unpaid",
  "paused",
  "ended",
] as const;

type AccessReason = (typeof ACCESS_REASONS)[number];

type AccessRules = Pick<Plan, "accessStatuses" | "graceDays" | "afterRefund" | "afterDispute">;

type ReversalRules = Pick<AccessRules, "afterRefund" | "afterDispute">;

const DAY_SECONDS = 24 * 60 * 60;

/**
 * Whether a subscription gives access to what its plan contains. Never derived from the period's end while a
 * payment is due: some providers advance it before they charge.
 * @param plan `null`: it is no longer in `plans.config.ts`
 */
export function accessOf(subscription: AccessFacts, plan: AccessRules | null, now: Date): Access {
  const rules = plan ?? DEFAULT_ACCESS_RULES;
  const { status, paymentReversal } = subscription;
  const endedBy = paymentReversal === null ? null : reversalEndingAccess(paymentReversal, rules);
  if (endedBy !== null && status !== "canceled") return denied(endedBy);
  const accessIn = (status: Plan["accessStatuses"][number], reason: AccessReason): Access =>
    rules.accessStatuses.includes(status)
      ? { hasAccess: true, until: scheduledEnd(subscription), reason }
      : denied(reason);
  switch (status) {
    case "active":
      return accessIn(status, "paid");
    case "trialing":
      return accessIn(status, "trial");
    case "past_due": {
      const graceOver = graceEnd(subscription, rules);
      return graceOver !== null && graceOver <= now
        ? denied("grace_over")
        : { hasAccess: true, until: earlier(graceOver, scheduledEnd(subscription)), reason: "grace" };
    }
    case "incomplete":
    case "unpaid":
    case "paused":
      return accessIn(status, status);
    case "canceled":
      return denied("ended");
    default:
      return status satisfies never;
  }
}

/** When a past due subscription loses access; `null`: not known. */
function graceEnd({ pastDueSince }: AccessFacts, rules: AccessRules): Date | null {
  return pastDueSince === null ? null : new Date(pastDueSince.getTime() + graceSeconds(rules) * 1000);
}

/** For how long access stays after a renewal has failed: whole days of 24 hours. */
export function graceSeconds({ graceDays }: Pick<AccessRules, "graceDays">): number {
  return graceDays * DAY_SECONDS;
}

/** What ends access once it has become of the latest payment. */
export function reversalsEndingAccess(rules: ReversalRules): PaymentReversal[] {
  return PAYMENT_REVERSALS.filter((reversal) => reversalEndingAccess(reversal, rules) !== null);
}

/** Which of them ends access; `null`: the plan keeps it. */
function reversalEndingAccess(
  reversal: PaymentReversal,
  { afterRefund, afterDispute }: ReversalRules,
): "refunded" | "disputed" | null {
  if (reversal !== "refunded" && afterDispute === "end_access") return "disputed";
  return reversal !== "disputed" && afterRefund === "end_access" ? "refunded" : null;
}

function scheduledEnd({ cancelAtPeriodEnd, currentPeriodEnd }: AccessFacts): Date | null {
  return cancelAtPeriodEnd ? currentPeriodEnd : null;
}

function earlier(a: Date | null, b: Date | null): Date | null {
  if (a === null || b === null) return a ?? b;
  return a < b ? a : b;
}

function denied(reason: AccessReason): Access {
  return { hasAccess: false, until: null, reason };
}
