import { randomUUID } from "node:crypto";
import { buysPlan, type Decision, decide } from "../../domain/events/decide.ts";
import type { DecideContext } from "../../domain/events/decide-context.ts";
import { type PaymentEvent, singlePaymentOf } from "../../domain/events/payment-event.ts";
import type { PlanCatalog } from "../../domain/plans/plan.ts";
import type { Slot } from "../../domain/slot.ts";
import type { Attempt } from "../../store/deliveries/attempts.ts";
import type { Claim } from "../../store/deliveries/claims.ts";
import type { NewDelivery } from "../../store/deliveries/deliveries.ts";
import type { ReportedPayment } from "../../store/payments/reported-payment.ts";
import type { Intake } from "../intake.ts";
import type { ReadEvent } from "../read-event.ts";
import type { LockedGroup } from "./lock-group.ts";
import { type SubscriptionChanges, trackSubscriptions } from "./subscription-changes.ts";

export type EventDecision =
  | Decision
  /** It concerned a payment alone. */
  | { outcome: "recorded"; isPersonGone: boolean };

/** Before or after its claim. */
type DecidableEvent = ReadEvent &
  ({ claim: Pick<Claim, "eventId"> } | { delivery: Pick<NewDelivery, "eventId"> });

export type GroupDecision = {
  /** One per event; `null` for skipped ones. */
  decisions: (EventDecision | null)[];
  /** The changes of each event, relative to the one before it. */
  changed: Attempt["changed"][];
  changes: SubscriptionChanges;
  payments: ReportedPayment[];
};

/**
 * Decides the events of a group one after another, each based on the result of the one before. A defect fails
 * only its own event.
 */
export function decideGroup(
  intake: Pick<Intake, "plans" | "log">,
  events: readonly (DecidableEvent | null)[],
  { subscriptions: locked, users, confirmedEmails, isPaymentOfDeleted }: Omit<LockedGroup, "isContended">,
): GroupDecision {
  const changes = trackSubscriptions(locked);
  const context: Omit<DecideContext, "subscriptions"> = {
    userState: (id) => users.get(id) ?? "unknown",
    confirmedEmail: (id) => confirmedEmails.get(id) ?? null,
    plans: intake.plans,
    newId: randomUUID,
    nowMicros: Date.now() * 1000,
  };
  const changed: Attempt["changed"][] = events.map(() => null);
  const payments: ReportedPayment[] = [];
  const decisions = events.map((event, index): EventDecision | null => {
    if (event === null) return null;
    if ("failure" in event.reading) return { outcome: "failed", failure: event.reading.failure };
    try {
      const subscriptions = changes.linkedTo(event.slot, event.reading.event);
      const decision: EventDecision = isPaymentOfDeleted(event)
        ? { outcome: "recorded", isPersonGone: true }
        : decideEvent(event.slot, event.reading.event, { ...context, subscriptions });
      if (decision.outcome === "applied") {
        changed[index] = changes.record(decision);
      }
      const payment = reportedPayment(event, event.reading.event, decision, intake.plans);
      if (payment !== null) payments.push(payment);
      return decision;
    } catch (error) {
      intake.log.error({ err: error, slot: event.slot }, "deciding an event failed");
      return { outcome: "failed", failure: { reason: "defect" } };
    }
  });
  return { decisions, changed, changes, payments };
}

function decideEvent(slot: Slot, event: PaymentEvent, context: DecideContext): EventDecision {
  if (event.kind !== "payment") return decide(slot, event, context);
  return { outcome: "recorded", isPersonGone: isPersonGone(slot, event, context) };
}

function isPersonGone(slot: Slot, event: PaymentEvent, context: DecideContext): boolean {
  const { providerSubscriptionId, userId } = event;
  const subscription = context.subscriptions.find(
    (candidate) => candidate.provider === slot && candidate.providerSubscriptionId === providerSubscriptionId,
  );
  if (providerSubscriptionId !== null && subscription) return subscription.userId === null;
  return userId !== null && context.userState(userId) === "deleted";
}

/**
 * A payment is stored with the event's other effects, or not at all; a deleted account's without its person.
 */
function reportedPayment(
  delivered: DecidableEvent,
  event: PaymentEvent,
  decision: EventDecision,
  plans: PlanCatalog,
): ReportedPayment | null {
  const { payment, occurredAtMicros, userId } = event;
  if (payment === undefined || decision.outcome === "failed") return null;
  const reported = {
    provider: delivered.slot,
    report: payment,
    eventId: eventIdOf(delivered),
    occurredAtMicros,
    providerSubscriptionId: event.providerSubscriptionId ?? singlePaymentOf(event),
    userId,
  };
  switch (decision.outcome) {
    case "recorded":
      return { ...reported, isPersonGone: decision.isPersonGone };
    case "applied": {
      const owner = decision.subscription.userId;
      // A single payment has no subscription at the provider by which its user is found.
      return {
        ...reported,
        userId: userId ?? (event.isOneTime ? owner : null),
        isPersonGone: owner === null,
      };
    }
    case "ignored":
      // Not what else the account sells for a single payment.
      return event.isOneTime && !buysPlan(event, plans) ? null : { ...reported, isPersonGone: true };
    default:
      return decision satisfies never;
  }
}

function eventIdOf(event: DecidableEvent): string {
  return "claim" in event ? event.claim.eventId : event.delivery.eventId;
}
