import type { Failure } from "../deliveries/failures.ts";
import type { PlanCatalog } from "../plans/plan.ts";
import type { Slot } from "../slot.ts";
import type { Subscription } from "../subscriptions/subscription.ts";
import type { SubscriptionStatus } from "../subscriptions/subscription-status.ts";
import { isSameAddress } from "../users/email-address.ts";
import type { DecideContext } from "./decide-context.ts";
import { type EventOrder, lastSeenAfter, orderOf } from "./event-order.ts";
import { targetOf, type UserMatch, userOf } from "./link.ts";
import { pastDueSince } from "./past-due-since.ts";
import { type PaymentEvent, singlePaymentOf } from "./payment-event.ts";
import { type PlanChoice, planOf } from "./plan-of-event.ts";
import { isSubscriptionEvent, type SubscriptionEvent } from "./subscription-event.ts";

export type Decision =
  | Applied
  | { outcome: "ignored" }
  /** `subscriptionId`: the known subscription that the event could not be applied to. */
  | { outcome: "failed"; failure: Failure; subscriptionId?: string };

type Applied = {
  outcome: "applied";
  subscription: Subscription;
  /** Older than an event already applied to the subscription. */
  isLate: boolean;
  /**
   * Why its plan is uncertain: the price has changed to one that no plan has. It keeps its plan, and is
   * flagged.
   */
  planProblem?: Failure;
  /** A completed checkout has made it active although it had ended: the checkout's payment alone may be newer. */
  isRevived?: true;
};

/** What an event does to the subscriptions in its context. Pure: the caller writes the result. */
export function decide(slot: Slot, event: PaymentEvent, context: DecideContext): Decision {
  if (!isSubscriptionEvent(event)) return { outcome: "ignored" };
  if (event.isOneTime && !buysPlan(event, context.plans)) return { outcome: "ignored" };
  const inSlot = context.subscriptions.filter((subscription) => subscription.provider === slot);
  const user = userOf(event, inSlot, context);
  if (user.is === "unresolved") return { outcome: "failed", failure: user.failure };

  const buyer = {
    userId: user.is === "present" ? user.id : null,
    boughtPlanId: event.isOneTime ? planBoughtBy(slot, event, context.plans) : null,
  };
  const target = targetOf(event, buyer, inSlot);
  if (target.is === "ambiguous") return { outcome: "failed", failure: target.failure };
  if (target.is === "none" && user.is === "gone") return { outcome: "ignored" };

  const before = target.is === "found" ? target.subscription : null;
  const order = before === null ? "newer" : orderOf(event, before);
  const plan = planOf(slot, event, before, context.plans);
  if (before !== null && before.status === "canceled" && order !== "newer") {
    const subscription = afterItsEnd(before, event, { user, plan, context });
    return { outcome: "applied", subscription, isLate: true };
  }
  if ("failure" in plan) {
    return {
      outcome: "failed",
      failure: plan.failure,
      ...(before === null ? {} : { subscriptionId: before.id }),
    };
  }

  const start =
    before ?? blank(slot, context.newId(), { planId: plan.id, isOneTime: event.isOneTime ?? false });
  const after = patch(start, event, { user, plan, context });
  const { problem: planProblem } = plan;
  return {
    outcome: "applied",
    subscription: {
      ...after,
      outOfOrder:
        after.outOfOrder ||
        planProblem !== undefined ||
        (before !== null && needsReview(order, before, after)),
      ...lastSeenAfter(event, start),
      pastDueSinceMicros: pastDueSince(start, after.status, {
        order,
        occurredAtMicros: event.occurredAtMicros,
        nowMicros: context.nowMicros,
      }),
    },
    isLate: order === "older",
    ...(planProblem === undefined ? {} : { planProblem }),
    ...(before?.status === "canceled" && event.kind === "checkout.session.completed"
      ? { isRevived: true as const }
      : {}),
  };
}

/** A one-time payment counts only when it buys one of our plans. */
export function buysPlan(event: PaymentEvent, plans: PlanCatalog): boolean {
  return isSubscriptionEvent(event) && event.planId !== null && plans.find(event.planId) !== undefined;
}

/** Of somebody who has bought nothing yet; `null`: its price is not for sale. */
function planBoughtBy(slot: Slot, event: SubscriptionEvent, plans: PlanCatalog): string | null {
  const plan = planOf(slot, event, null, plans);
  return "failure" in plan ? null : plan.id;
}

type LinkedUser = Exclude<UserMatch, { is: "unresolved" }>;

type Resolved<Plan = PlanChoice> = {
  user: LinkedUser;
  plan: Plan;
  context: Pick<DecideContext, "confirmedEmail">;
};

/**
 * After the end only a newer event counts; an older one that differs flags the subscription for comparison.
 * Adapters report every terminal status as `canceled`.
 */
function afterItsEnd(
  before: Subscription,
  event: SubscriptionEvent,
  { user, plan, context }: Resolved<PlanChoice | { failure: Failure }>,
): Subscription {
  const contradicts = "failure" in plan || differs(before, patch(before, event, { user, plan, context }));
  const { kept, added } = customerIds(before, event, user, context);
  return {
    ...before,
    providerSubscriptionId: before.providerSubscriptionId ?? event.providerSubscriptionId,
    customerId: kept ?? added,
    outOfOrder: before.outOfOrder || contradicts,
    ...lastSeenAfter(event, before),
  };
}

function patch(
  before: Subscription,
  event: SubscriptionEvent,
  { user, plan, context }: Resolved,
): Subscription {
  const { kept, added } = customerIds(before, event, user, context);
  return {
    ...before,
    userId: user.is === "present" ? user.id : before.userId,
    providerSubscriptionId: event.providerSubscriptionId ?? before.providerSubscriptionId,
    paymentId: singlePaymentOf(event) ?? before.paymentId,
    // No id of a deleted user is stored again.
    customerId: user.is === "present" ? (added ?? kept) : null,
    priceId: plan.priceId ?? before.priceId,
    planId: plan.id,
    seats: plan.seats ?? before.seats,
    status: statusAfter(before, event),
    currentPeriodEnd: event.currentPeriodEnd ?? before.currentPeriodEnd,
    cancelAtPeriodEnd: event.cancelAtPeriodEnd ?? before.cancelAtPeriodEnd,
    pausesAtPeriodEnd: event.pausesAtPeriodEnd ?? before.pausesAtPeriodEnd,
  };
}

/**
 * The customer id stored so far, and the event's. One that is, or may be, another person's is not stored, and
 * dropped if it was; only a subscription whose own id is still missing keeps it, to find that at the
 * provider.
 */
function customerIds(
  before: Subscription,
  event: SubscriptionEvent,
  user: LinkedUser,
  { confirmedEmail }: Pick<DecideContext, "confirmedEmail">,
): { kept: string | null; added: string | null } {
  if (user.is !== "present") return { kept: before.customerId, added: null };
  const { customerEmail, foreignCustomerId } = event;
  const isProved =
    customerEmail === undefined ||
    isSameAddress(customerEmail, confirmedEmail(user.id)) ||
    (event.providerSubscriptionId ?? before.providerSubscriptionId) === null;
  const foreign = isProved ? foreignCustomerId : event.customerId;
  return {
    kept: before.customerId === foreign ? null : before.customerId,
    added: isProved ? event.customerId : null,
  };
}

function statusAfter(before: Subscription, event: SubscriptionEvent): SubscriptionStatus {
  switch (event.kind) {
    case "checkout.session.completed":
      return before.status === "trialing" ? "trialing" : "active";
    case "customer.subscription.created":
    case "customer.subscription.updated":
      return event.status ?? (before.status === "incomplete" ? "active" : before.status);
    case "customer.subscription.deleted":
      return "canceled";
    default:
      return event.kind satisfies never;
  }
}

/** Events are applied in order of arrival; whether a late one did harm only the provider can tell. */
function needsReview(order: EventOrder, before: Subscription, after: Subscription): boolean {
  return order !== "newer" && differs(before, after);
}

/** Adding a missing id is not a change. */
function differs(before: Subscription, after: Subscription): boolean {
  return (
    (before.userId !== null && before.userId !== after.userId) ||
    before.planId !== after.planId ||
    before.seats !== after.seats ||
    before.status !== after.status ||
    before.currentPeriodEnd?.getTime() !== after.currentPeriodEnd?.getTime() ||
    before.cancelAtPeriodEnd !== after.cancelAtPeriodEnd ||
    before.pausesAtPeriodEnd !== after.pausesAtPeriodEnd
  );
}

function blank(
  provider: Slot,
  id: string,
  { planId, isOneTime }: Pick<Subscription, "planId" | "isOneTime">,
): Subscription {
  return {
    id,
    userId: null,
    provider,
    providerSubscriptionId: null,
    isOneTime,
    paymentId: null,
    customerId: null,
    priceId: null,
    planId,
    seats: 1,
    status: "incomplete",
    currentPeriodEnd: null,
    cancelAtPeriodEnd: false,
    pausesAtPeriodEnd: false,
    outOfOrder: false,
    lastEventAtMicros: null,
    lastEventRank: null,
    comparedAtMicros: null,
    pastDueSinceMicros: null,
    lastNotified: null,
  };
}
