import { buysPlan } from "../../domain/events/decide.ts";
import { singlePaymentOf } from "../../domain/events/payment-event.ts";
import { isOfAnotherProduct } from "../../domain/events/plan-of-event.ts";
import { isSubscriptionEvent, reportsEnd } from "../../domain/events/subscription-event.ts";
import type { PlanCatalog } from "../../domain/plans/plan.ts";
import { renewsWithoutUser, type Subscription } from "../../domain/subscriptions/subscription.ts";
import type { UnwantedSubscription } from "../../store/subscriptions/unwanted-subscriptions.ts";
import type { UserState } from "../../store/users/user-states.ts";
import type { Intake } from "../intake.ts";
import type { ReadEvent } from "../read-event.ts";
import type { EventDecision } from "./decide-group.ts";

/** Whether an event is about a user who has deleted the account: then its payload is not kept. */
export function isOfDeletedUser(
  { reading }: ReadEvent,
  decision: EventDecision | null,
  users: ReadonlyMap<string, UserState>,
): boolean {
  if (decision === null || decision.outcome === "failed" || "failure" in reading) return false;
  if (decision.outcome === "recorded") return decision.isPersonGone;
  if (decision.outcome === "applied") return decision.subscription.userId === null;
  return reading.event.userId !== null && users.get(reading.event.userId) === "deleted";
}

/**
 * A checkout can be paid after its account was deleted, when nobody is left to cancel. What else the person buys from
 * the provider's account is theirs: Polar gives a customer the id of our user, whatever the customer buys.
 */
export function unwantedOf(
  group: readonly ReadEvent[],
  decisions: readonly (EventDecision | null)[],
  { users, plans }: { users: ReadonlyMap<string, UserState>; plans: PlanCatalog },
): UnwantedSubscription[] {
  return group.flatMap(({ slot, reading }, index) => {
    if (decisions[index]?.outcome !== "ignored" || "failure" in reading) return [];
    // One without effects, such as another payment method, pays for nothing.
    if (!isSubscriptionEvent(reading.event)) return [];
    const { userId, providerSubscriptionId } = reading.event;
    if (userId === null || providerSubscriptionId === null || users.get(userId) !== "deleted") return [];
    if (reportsEnd(reading.event)) return [];
    if (isOfAnotherProduct(slot, reading.event, plans)) return [];
    return [{ provider: slot, providerSubscriptionId }];
  });
}

/** `isFirstPayment`: it was not paid for when the account was deleted, and was not canceled with it. */
type Renewing = UnwantedSubscription & { isFirstPayment: boolean };

/**
 * Subscriptions of deleted accounts that are going to renew: resumed at the provider since, or paid for only now.
 * @param known as they were before these events
 */
export function renewingOf(
  group: readonly ReadEvent[],
  decisions: readonly (EventDecision | null)[],
  known: readonly Subscription[],
): Renewing[] {
  const unpaid = new Set(known.flatMap(({ id, status }) => (status === "incomplete" ? id : [])));
  return group.flatMap(({ slot }, index) => {
    const decision = decisions[index];
    if (decision?.outcome !== "applied" || decision.isLate || !renewsWithoutUser(decision.subscription))
      return [];
    const { id, providerSubscriptionId } = decision.subscription;
    if (providerSubscriptionId === null) return [];
    return [{ provider: slot, providerSubscriptionId, isFirstPayment: unpaid.has(id) }];
  });
}

export function logUnwanted({ log }: Pick<Intake, "log">, unwanted: readonly UnwantedSubscription[]): void {
  for (const { provider: slot, providerSubscriptionId } of unwanted) {
    const message = "a deleted account has paid: its subscription is canceled and refunded";
    log.error({ slot, providerSubscriptionId }, message);
  }
}

/** No program can undo one: an operator has to. */
export function logSinglePayments(
  { log, plans }: Pick<Intake, "log" | "plans">,
  group: readonly ReadEvent[],
  decisions: readonly (EventDecision | null)[],
): void {
  for (const [index, { slot, reading }] of group.entries()) {
    if (decisions[index]?.outcome !== "ignored" || "failure" in reading) continue;
    const { event } = reading;
    if (!event.isOneTime || !buysPlan(event, plans)) continue;
    const providerPaymentId = singlePaymentOf(event);
    if (providerPaymentId === null) continue;
    const message =
      "a single payment for a plan names a deleted account: if paid since, refund it at the provider";
    log.error({ slot, providerPaymentId }, message);
  }
}
