import { type ActiveEvent, isOlder, type Known, shorten } from "./known.ts";
import { targetOf, type User, userOf } from "./link.ts";
import type { PaymentEvent } from "./payment-event.ts";
import type { PlanCatalog } from "./plan.ts";
import type { Slot } from "./slot.ts";
import type { Subscription } from "./subscription.ts";
import type { SubscriptionStatus } from "./subscription-status.ts";

export type Decision =
  | { outcome: "applied"; subscription: Subscription; isNew: boolean }
  | { outcome: "ignored" }
  | { outcome: "failed"; reason: string };

/** What an event makes of what is known. Pure: the caller writes the result. */
export function decide(slot: Slot, event: PaymentEvent, known: Known): Decision {
  if (!isActive(event)) return { outcome: "ignored" };
  const inSlot = known.subscriptions.filter((subscription) => subscription.provider === slot);
  const user = userOf(event, inSlot, known);
  if (user.is === "unresolved") return { outcome: "failed", reason: user.reason };

  const target = targetOf(event, user.is === "present" ? user.id : null, inSlot);
  if (target.is === "ambiguous") return { outcome: "failed", reason: target.reason };
  if (target.is === "none" && user.is === "gone") return { outcome: "ignored" };

  const before = target.is === "found" ? target.subscription : null;
  const plan = planOf(slot, event, before, known.plans);
  if ("reason" in plan) return { outcome: "failed", reason: plan.reason };

  const start = before ?? blank(slot, known.newId(), plan.id);
  const patched = patch(start, event, user, plan);
  return {
    outcome: "applied",
    subscription: { ...patched, ...placeInTime(before, patched, event) },
    isNew: before === null,
  };
}

function isActive(event: PaymentEvent): event is ActiveEvent {
  return event.kind !== "ignored";
}

type Linked = Exclude<User, { is: "unresolved" }>;

type PlanChoice = { id: string; priceId: string | null; seats: number | null };

/** A configured price says it best: metadata keeps the plan of the checkout when a customer changes plans at the provider. */
function planOf(
  slot: Slot,
  event: ActiveEvent,
  before: Subscription | null,
  plans: PlanCatalog,
): PlanChoice | { reason: string } {
  const sold = plans.sold(slot, event.items);
  if (sold) return { id: sold.planId, priceId: sold.priceId, seats: sold.item.seats };

  const first = event.items[0];
  const priceId = first?.priceIds[0] ?? null;
  const seats = first?.seats ?? null;
  if (event.planId !== null && plans.has(event.planId)) return { id: event.planId, priceId, seats };
  // The end of a subscription that we know must not hang on a plan that we do not.
  if (before && event.kind === "customer.subscription.deleted") return { id: before.planId, priceId, seats };
  if (event.planId !== null) return { reason: `plan: there is no plan "${shorten(event.planId)}"` };
  if (before && (priceId === null || before.priceId === null || first?.priceIds.includes(before.priceId))) {
    return { id: before.planId, priceId, seats };
  }
  if (priceId === null) return { reason: "plan: the event names neither a plan nor a price" };
  return { reason: `plan: no plan has the price "${shorten(priceId)}" in ${slot}` };
}

function patch(before: Subscription, event: ActiveEvent, user: Linked, plan: PlanChoice): Subscription {
  return {
    ...before,
    userId: user.is === "present" ? user.id : before.userId,
    providerSubscriptionId: event.providerSubscriptionId ?? before.providerSubscriptionId,
    // Of somebody who is gone no further name is kept.
    customerId: user.is === "present" ? (event.customerId ?? before.customerId) : null,
    priceId: plan.priceId ?? before.priceId,
    planId: plan.id,
    seats: plan.seats ?? before.seats,
    status: statusAfter(before, event),
    currentPeriodEnd: event.currentPeriodEnd ?? before.currentPeriodEnd,
    cancelAtPeriodEnd: event.cancelAtPeriodEnd ?? before.cancelAtPeriodEnd,
  };
}

function statusAfter(before: Subscription, event: ActiveEvent): SubscriptionStatus {
  switch (event.kind) {
    case "checkout.session.completed":
      // A trial bought through a checkout is as active as it gets.
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

/** An older event that changes something is applied all the same, and the subscription marked. */
function placeInTime(before: Subscription | null, after: Subscription, event: ActiveEvent) {
  const late = before !== null && isOlder(event, before) && differs(before, after);
  return {
    outOfOrder: after.outOfOrder || late,
    lastEventAtMicros:
      event.occurredAtMicros === null
        ? after.lastEventAtMicros
        : Math.max(event.occurredAtMicros, after.lastEventAtMicros ?? 0),
  };
}

function differs(before: Subscription, after: Subscription): boolean {
  return (
    before.userId !== after.userId ||
    before.planId !== after.planId ||
    before.seats !== after.seats ||
    before.status !== after.status ||
    before.currentPeriodEnd?.getTime() !== after.currentPeriodEnd?.getTime() ||
    before.cancelAtPeriodEnd !== after.cancelAtPeriodEnd
  );
}

function blank(provider: Slot, id: string, planId: string): Subscription {
  return {
    id,
    userId: null,
    provider,
    providerSubscriptionId: null,
    customerId: null,
    priceId: null,
    planId,
    seats: 1,
    status: "incomplete",
    currentPeriodEnd: null,
    cancelAtPeriodEnd: false,
    outOfOrder: false,
    lastEventAtMicros: null,
    lastNotified: null,
  };
}
