import type { PaymentEvent } from "../../domain/events/payment-event.ts";
import type { PaidItem } from "../../domain/plans/paid-item.ts";
import type { SubscriptionStatus } from "../../domain/subscriptions/subscription-status.ts";
import type { Adapter } from "../adapter.ts";
import { eventKinds, ignoredOf, keywordMap, STATE_UNKNOWN } from "../webhook/event-kinds.ts";
import { eventIdentity, requireObject } from "../webhook/identity.ts";
import { JsonReader, ownValue } from "../webhook/json-reader.ts";
import { paidItem, singleItem } from "../webhook/paid-item.ts";
import { signTimed, type TimedLayout, verifyTimed } from "../webhook/timed-signature.ts";
import { readSinglePayment, readStripePayment, STRIPE_PAYMENT_TYPES } from "./payments.ts";
import { STRIPE_TRAITS } from "./traits.ts";

const SIGNATURE: TimedLayout = {
  header: "stripe-signature",
  separator: ",",
  timeName: "t",
  signatureName: "v1",
  joint: ".",
};

const KINDS = eventKinds({
  "checkout.session.async_payment_succeeded": "checkout.session.completed",
  "customer.subscription.paused": "customer.subscription.updated",
  "customer.subscription.resumed": "customer.subscription.updated",
});

/** The event types with effects. */
export const STRIPE_EVENT_TYPES: readonly string[] = [...KINDS.keys(), ...STRIPE_PAYMENT_TYPES];

const STATUSES = keywordMap<SubscriptionStatus>({
  incomplete: "incomplete",
  incomplete_expired: "canceled",
  trialing: "trialing",
  active: "active",
  past_due: "past_due",
  paused: "paused",
  unpaid: "unpaid",
  canceled: "canceled",
});

// Without a status, the event's name gives the state.
const STATUS_BY_EVENT = keywordMap<SubscriptionStatus>({
  "customer.subscription.paused": "paused",
  "customer.subscription.resumed": "active",
});

const PAID = new Set(["paid", "no_payment_required"]);
// Of a session, and of a subscription, which an event by the specification's name can hold instead of one.
const NOT_PAID = new Set([
  ...["open", "expired"],
  ...["incomplete", "incomplete_expired", "past_due", "paused", "unpaid", "canceled"],
]);

export const stripe: Adapter = {
  format: "stripe",
  traits: STRIPE_TRAITS,
  verify: (request, options) => verifyTimed(SIGNATURE, request, options),
  identify(_request, body) {
    const event = requireObject(body);
    return eventIdentity(ownValue(event, "id"), ownValue(event, "type"));
  },
  interpret,
  sign: (rawBody, options) => signTimed(SIGNATURE, rawBody, options),
};

function interpret(eventType: string, body: unknown): PaymentEvent {
  const kind = KINDS.get(eventType);
  const event = new JsonReader(body);
  const userId = () => event.at("data", "object", "metadata").id("userId");
  if (kind === undefined) return readStripePayment(eventType, body) ?? ignoredOf(userId);
  const object = event.at("data", "object");
  const common = {
    kind,
    occurredAtMicros: event.unixMicros("created"),
    userId: userId(),
    planId: object.at("metadata").id("planId"),
    customerId: object.idOrExpanded("customer"),
  };
  if (kind === "checkout.session.completed") {
    const paymentStatus = object.text("payment_status");
    if (paymentStatus !== null && !PAID.has(paymentStatus)) return ignoredOf(userId);
    if (NOT_PAID.has(object.text("status") ?? "")) return ignoredOf(userId);
    const mode = object.text("mode");
    if (mode === "setup") return ignoredOf(userId);
    return {
      ...common,
      ...(mode === "payment" ? { isOneTime: true as const, ...readSinglePayment(object) } : {}),
      ...STATE_UNKNOWN,
      providerSubscriptionId: object.idOrExpanded("subscription"),
      items: paidItems(object, "line_items"),
    };
  }
  return {
    ...common,
    providerSubscriptionId: object.id("id"),
    items: paidItems(object, "items"),
    status:
      kind === "customer.subscription.deleted"
        ? "canceled"
        : (object.oneOf("status", STATUSES) ?? STATUS_BY_EVENT.get(eventType) ?? null),
    currentPeriodEnd: periodEnd(object),
    cancelAtPeriodEnd: cancelAtPeriodEnd(object),
    pausesAtPeriodEnd: pausesAtPeriodEnd(object),
    ...(hasRescheduled(body) ? { concernsScheduledChange: true as const } : {}),
  };
}

// A schedule is attached or released, here, in the portal or in the dashboard.
// https://docs.stripe.com/billing/subscriptions/subscription-schedules
function hasRescheduled(event: unknown): boolean {
  const previous = ownValue(ownValue(event, "data"), "previous_attributes");
  return ownValue(previous, "schedule") !== undefined;
}

function paidItems(object: JsonReader, listName: string): PaidItem[] {
  const items = object.at(listName).each("data");
  if (items.length === 0) return singleItem([object.idOrExpanded("plan")], object.wholeNumber("quantity"));
  return items.map((item) =>
    paidItem([item.idOrExpanded("price"), item.idOrExpanded("plan")], item.wholeNumber("quantity")),
  );
}

// Items may have different intervals: the paid period ends with the latest of them. What is to end with the shortest
// has no more of it. https://docs.stripe.com/changelog/basil/2025-07-30/cancel-at-enums
function periodEnd(object: JsonReader): Date | null {
  const { earliest, latest } = periodEnds(object);
  const endsAt =
    object.unixDate("cancel_at") ?? (object.flag("cancel_at_period_end") === true ? earliest : null);
  const isBetween =
    earliest !== null && latest !== null && endsAt !== null && earliest <= endsAt && endsAt < latest;
  return isBetween ? endsAt : latest;
}

// Before API version 2025-03-31 the subscription had the period, not its items.
function periodEnds(object: JsonReader): { earliest: Date | null; latest: Date | null } {
  const ends = object
    .at("items")
    .each("data")
    .map((item) => item.unixDate("current_period_end"))
    .filter((end) => end !== null)
    .sort((a, b) => a.getTime() - b.getTime());
  const ofSubscription = ends.length === 0 ? object.unixDate("current_period_end") : null;
  return { earliest: ends[0] ?? ofSubscription, latest: ends.at(-1) ?? ofSubscription };
}

// What ends later, as after a fixed term, is charged again at this period's end.
function cancelAtPeriodEnd(object: JsonReader): boolean | null {
  const endsAt = object.unixDate("cancel_at");
  const end = periodEnd(object);
  return endsAt === null || (end !== null && endsAt > end) ? object.flag("cancel_at_period_end") : true;
}

// Pausing collection does not change the status: the invoice of the next period is made, and nobody is charged for it.
// https://docs.stripe.com/billing/subscriptions/pause-payment
function pausesAtPeriodEnd(object: JsonReader): boolean | undefined {
  if (!object.has("pause_collection")) return undefined;
  if (object.isNull("pause_collection")) return false;
  const resumesAt = object.at("pause_collection").unixDate("resumes_at");
  const end = periodEnd(object);
  return resumesAt === null || end === null || resumesAt > end;
}
