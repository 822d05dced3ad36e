import type { Failure } from "../deliveries/failures.ts";
import type { Subscription } from "../subscriptions/subscription.ts";
import { type DecideContext, shorten } from "./decide-context.ts";
import { orderOf } from "./event-order.ts";
import { singlePaymentOf } from "./payment-event.ts";
import type { SubscriptionEvent } from "./subscription-event.ts";

export type UserMatch =
  | { is: "present"; id: string }
  /** Deleted the account, or unknown to this subscription: no user to link. */
  | { is: "gone" }
  | { is: "unresolved"; failure: Failure };

/** The user of an event: the one it names, else the one its ids belong to. */
export function userOf(
  event: SubscriptionEvent,
  inSlot: readonly Subscription[],
  context: DecideContext,
): UserMatch {
  if (event.userId !== null) {
    const state = context.userState(event.userId);
    if (state === "present") return { is: "present", id: event.userId };
    if (state === "deleted") return { is: "gone" };
    return {
      is: "unresolved",
      failure: { reason: "user_not_found", params: { userId: shorten(event.userId) } },
    };
  }
  const named = byId(event, inSlot);
  const linked = named ? [named] : inSlot.filter((subscription) => isCustomers(subscription, event));
  const [userId, ...others] = new Set(linked.map((subscription) => subscription.userId));
  // A customer may be several people's.
  if (userId === undefined || others.length > 0)
    return { is: "unresolved", failure: { reason: "user_not_named" } };
  return userId === null ? { is: "gone" } : { is: "present", id: userId };
}

export type SubscriptionMatch =
  | { is: "found"; subscription: Subscription }
  | { is: "none" }
  | { is: "ambiguous"; failure: Failure };

/**
 * The subscription of an event: the one it names, else the user's one in this slot. What was bought with a single
 * payment is a purchase of its own: no event of a subscription is about it.
 * @param boughtPlanId the plan that a single payment has bought
 */
export function targetOf(
  event: SubscriptionEvent,
  { userId, boughtPlanId }: { userId: string | null; boughtPlanId: string | null },
  inSlot: readonly Subscription[],
): SubscriptionMatch {
  const linked = byId(event, inSlot);
  if (linked) return { is: "found", subscription: linked };

  // For a deleted user, only a subscription that the event names by id qualifies.
  if (userId === null && event.userId !== null) return { is: "none" };
  const isOneTime = event.isOneTime ?? false;
  const ofUser = inSlot.filter(
    (subscription) =>
      subscription.isOneTime === isOneTime &&
      (userId !== null ? subscription.userId === userId : isCustomers(subscription, event)),
  );
  if (isOneTime) return purchaseOf(event, boughtPlanId, ofUser);
  const nameless = ofUser.find((subscription) => subscription.providerSubscriptionId === null);
  // A checkout without a subscription id created this row for the first event that has one.
  if (nameless) return { is: "found", subscription: nameless };
  if (event.providerSubscriptionId !== null) return { is: "none" };
  return event.kind === "checkout.session.completed" ? boughtIn(event, ofUser) : onlyOne(ofUser);
}

/**
 * Each single payment has made a purchase of its own; those free of charge are one for each plan. A purchase from before
 * payments were stored with it is found when its event is replayed.
 */
function purchaseOf(
  event: SubscriptionEvent,
  planId: string | null,
  bought: readonly Subscription[],
): SubscriptionMatch {
  const paymentId = singlePaymentOf(event);
  const unpaid = bought.filter((purchase) => purchase.paymentId === null && purchase.planId === planId);
  const purchase =
    paymentId === null
      ? unpaid[0]
      : (bought.find((purchase) => purchase.paymentId === paymentId) ??
        unpaid.find((purchase) => wasMadeBy(event, purchase)));
  return purchase ? { is: "found", subscription: purchase } : { is: "none" };
}

function wasMadeBy(
  { occurredAtMicros }: SubscriptionEvent,
  { lastEventAtMicros }: Pick<Subscription, "lastEventAtMicros">,
): boolean {
  return occurredAtMicros !== null && occurredAtMicros === lastEventAtMicros;
}

/**
 * The subscription that a checkout without a subscription id has become, if its other events arrived first.
 */
function boughtIn(event: SubscriptionEvent, ofUser: readonly Subscription[]): SubscriptionMatch {
  // It may have changed since: another plan, or its end. Of several, the one unchanged for longest: any
  // change flags it for review, while a separate row would never get an id.
  const [since] = ofUser
    .filter((subscription) => orderOf(event, subscription) === "older")
    .sort((a, b) => (a.lastEventAtMicros ?? 0) - (b.lastEventAtMicros ?? 0));
  if (since) return { is: "found", subscription: since };
  const became = ofUser.filter(
    (subscription) =>
      subscription.status !== "canceled" &&
      (event.planId === null || subscription.planId === event.planId) &&
      mayHaveStartedWith(event, subscription),
  );
  // Of several, as after two checkouts that were both paid, the last one changed.
  const [last, next] = became.sort((a, b) => knownAt(b) - knownAt(a));
  const isClear = next === undefined || (last && knownAt(last) > knownAt(next));
  return last && isClear ? { is: "found", subscription: last } : { is: "none" };
}

/** Providers report a subscription within seconds of its checkout. */
const MAX_PURCHASE_MICROS = 10 * 60 * 1_000_000;

/** An imported subscription has had no event. */
function knownAt({ lastEventAtMicros, comparedAtMicros }: Subscription): number {
  return lastEventAtMicros ?? comparedAtMicros ?? Number.NEGATIVE_INFINITY;
}

/** An earlier subscription, which may be unpaid or paused, has last changed before the purchase. */
function mayHaveStartedWith({ occurredAtMicros }: SubscriptionEvent, subscription: Subscription): boolean {
  const knownAtMicros = knownAt(subscription);
  if (occurredAtMicros === null || knownAtMicros === Number.NEGATIVE_INFINITY) return true;
  return occurredAtMicros - knownAtMicros <= MAX_PURCHASE_MICROS;
}

function onlyOne(ofUser: readonly Subscription[]): SubscriptionMatch {
  const running = ofUser.filter((subscription) => subscription.status !== "canceled");
  const candidates = running.length > 0 ? running : ofUser;
  const [only] = candidates;
  if (!only) return { is: "none" };
  if (candidates.length === 1) return { is: "found", subscription: only };
  return {
    is: "ambiguous",
    failure: { reason: "subscription_ambiguous", params: { count: candidates.length } },
  };
}

function byId(event: SubscriptionEvent, inSlot: readonly Subscription[]): Subscription | undefined {
  if (event.providerSubscriptionId === null) return undefined;
  return inSlot.find((subscription) => subscription.providerSubscriptionId === event.providerSubscriptionId);
}

function isCustomers(subscription: Subscription, event: SubscriptionEvent): boolean {
  return event.customerId !== null && subscription.customerId === event.customerId;
}
