import type { Subscription } from "../subscriptions/subscription.ts";
import type { SubscriptionStatus } from "../subscriptions/subscription-status.ts";

export const SUBSCRIPTION_EVENT_TYPES = [
  "subscription.started",
  "subscription.changed",
  "subscription.past_due",
  "subscription.ended",
] as const;

/** Every type of outbound event, as in the contract. */
export const OUTBOUND_EVENT_TYPES = [
  ...SUBSCRIPTION_EVENT_TYPES,
  "payment.paid",
  "payment.failed",
  "payment.refunded",
  "payment.disputed",
  "user.created",
  "user.updated",
  "user.deleted",
  "entitlements.changed",
] as const;

export type OutboundEventType = (typeof OUTBOUND_EVENT_TYPES)[number];
export type SubscriptionEventType = (typeof SUBSCRIPTION_EVENT_TYPES)[number];

/** The version of the REST API whose shapes `data` has. */
export const OUTBOUND_EVENT_VERSION = "v2";

/** What is sent to endpoints and read from the list. */
export type OutboundEvent = {
  /** The same for every attempt and every endpoint. */
  id: string;
  type: OutboundEventType;
  occurredAt: Date;
  version: string;
  data: Record<string, unknown>;
};

/** What an event shows of a subscription, besides its times. */
export type EventSubscription = Pick<
  Subscription,
  | "id"
  | "userId"
  | "provider"
  | "providerSubscriptionId"
  | "planId"
  | "seats"
  | "status"
  | "currentPeriodEnd"
  | "cancelAtPeriodEnd"
  | "outOfOrder"
>;

/** The one event of a change: the first type that fits. */
export function subscriptionEventType(
  before: StatusBefore | null,
  after: Pick<Subscription, "status">,
): SubscriptionEventType {
  const oldPhase = before === null ? null : phaseOf(before);
  const newPhase = PHASES[after.status];
  if (newPhase === "ended" && oldPhase !== "ended") return "subscription.ended";
  if (newPhase === "past_due" && oldPhase !== "past_due") return "subscription.past_due";
  if (newPhase === "running" && (oldPhase === null || oldPhase === "not_started" || oldPhase === "ended"))
    return "subscription.started";
  return "subscription.changed";
}

/** `lastNotified` may be left out where the status does not change. */
export type StatusBefore = Pick<Subscription, "status"> & Partial<Pick<Subscription, "lastNotified">>;

/** One that has started turns incomplete only by an older event, such as its creation arriving after its checkout. */
function phaseOf({ status, lastNotified = null }: StatusBefore): Phase {
  return PHASES[status === "incomplete" ? (lastNotified?.state ?? status) : status];
}

type Phase = "not_started" | "running" | "past_due" | "paused" | "ended";

const PHASES: Record<SubscriptionStatus, Phase> = {
  incomplete: "not_started",
  trialing: "running",
  active: "running",
  past_due: "past_due",
  unpaid: "past_due",
  paused: "paused",
  canceled: "ended",
};
