import type { PaymentEvent } from "./payment-event.ts";
import type { PlanCatalog } from "./plan.ts";
import type { Slot } from "./slot.ts";
import type { SubscriptionStatus } from "./subscription-status.ts";

export type Subscription = {
  id: string;
  /** `null` once the person has deleted the account. */
  userId: string | null;
  provider: Slot;
  /** `null` until an event names it: some checkouts do not. */
  providerSubscriptionId: string | null;
  customerId: string | null;
  /** The price last seen, so that a change to one that no plan knows is noticed. */
  priceId: string | null;
  planId: string;
  seats: number;
  status: SubscriptionStatus;
  currentPeriodEnd: Date | null;
  cancelAtPeriodEnd: boolean;
  /** An older event was applied after a newer one: to be compared with the provider. */
  outOfOrder: boolean;
  /** The latest time, by the provider's clock, of an event applied to it; microseconds. */
  lastEventAtMicros: number | null;
};

/** What an event is decided against: everything it could concern, read under lock. */
export type Known = {
  /** All subscriptions that share an id, a customer or a user with the event. */
  subscriptions: readonly Subscription[];
  /** The event's user: `unknown` when no such person was ever here. */
  person(userId: string): "present" | "deleted" | "unknown";
  plans: PlanCatalog;
  newId(): string;
};

export type Decision =
  | { outcome: "applied"; subscription: Subscription; isNew: boolean }
  | { outcome: "ignored" }
  | { outcome: "failed"; reason: string };

type ActiveEvent = PaymentEvent & { kind: Exclude<PaymentEvent["kind"], "ignored"> };

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
  const patched = patch(start, event, user.is === "present" ? user.id : null, plan);
  return {
    outcome: "applied",
    subscription: { ...patched, ...placeInTime(before, patched, event) },
    isNew: before === null,
  };
}

function isActive(event: PaymentEvent): event is ActiveEvent {
  return event.kind !== "ignored";
}

type User =
  | { is: "present"; id: string }
  /** Deleted the account, or never known to this subscription: nobody to link. */
  | { is: "gone" }
  | { is: "unresolved"; reason: string };

function userOf(event: ActiveEvent, inSlot: readonly Subscription[], known: Known): User {
  if (event.userId !== null) {
    const person = known.person(event.userId);
    if (person === "present") return { is: "present", id: event.userId };
    if (person === "deleted") return { is: "gone" };
    return { is: "unresolved", reason: `user: there is no user "${shorten(event.userId)}"` };
  }
  const linked = byId(event, inSlot) ?? inSlot.find((one) => isCustomers(one, event));
  if (!linked) {
    return {
      is: "unresolved",
      reason: "user: the event names none, and its subscription and customer are not known",
    };
  }
  return linked.userId === null ? { is: "gone" } : { is: "present", id: linked.userId };
}

type Target =
  | { is: "found"; subscription: Subscription }
  | { is: "none" }
  | { is: "ambiguous"; reason: string };

/** Which subscription an event is about: the one it names, else the user's one of this slot. */
function targetOf(event: ActiveEvent, userId: string | null, inSlot: readonly Subscription[]): Target {
  const named = byId(event, inSlot);
  if (named) return { is: "found", subscription: named };

  const own = inSlot.filter((one) => (userId !== null ? one.userId === userId : isCustomers(one, event)));
  const nameless = own.find((one) => one.providerSubscriptionId === null);
  // A checkout that named no subscription left this row behind for the first event that does.
  if (nameless) return { is: "found", subscription: nameless };
  if (event.providerSubscriptionId !== null) return { is: "none" };
  return event.kind === "checkout.session.completed" ? boughtIn(event, own) : onlyOne(own);
}

/** The subscription that a checkout without a subscription id has already become, if its other events came first. */
function boughtIn(event: ActiveEvent, own: readonly Subscription[]): Target {
  const became = own.filter(
    (one) =>
      (event.planId === null || one.planId === event.planId) &&
      (one.status !== "canceled" || isOlder(event, one)),
  );
  const [only] = became;
  return only && became.length === 1 ? { is: "found", subscription: only } : { is: "none" };
}

function onlyOne(own: readonly Subscription[]): Target {
  const running = own.filter((one) => one.status !== "canceled");
  const candidates = running.length > 0 ? running : own;
  const [only] = candidates;
  if (!only) return { is: "none" };
  if (candidates.length === 1) return { is: "found", subscription: only };
  return {
    is: "ambiguous",
    reason: `subscription: the event names none, and the user has ${candidates.length}`,
  };
}

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

function patch(
  before: Subscription,
  event: ActiveEvent,
  userId: string | null,
  plan: PlanChoice,
): Subscription {
  return {
    ...before,
    userId: userId ?? before.userId,
    providerSubscriptionId: event.providerSubscriptionId ?? before.providerSubscriptionId,
    customerId: event.customerId ?? before.customerId,
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

function isOlder(event: ActiveEvent, than: Subscription): boolean {
  return (
    event.occurredAtMicros !== null &&
    than.lastEventAtMicros !== null &&
    event.occurredAtMicros < than.lastEventAtMicros
  );
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

function byId(event: ActiveEvent, inSlot: readonly Subscription[]): Subscription | undefined {
  if (event.providerSubscriptionId === null) return undefined;
  return inSlot.find((one) => one.providerSubscriptionId === event.providerSubscriptionId);
}

function isCustomers(subscription: Subscription, event: ActiveEvent): boolean {
  return event.customerId !== null && subscription.customerId === event.customerId;
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
  };
}

function shorten(text: string): string {
  return text.length > 60 ? `${text.slice(0, 60)}...` : text;
}
