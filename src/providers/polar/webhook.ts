import type { PaymentEvent } from "../../domain/events/payment-event.ts";
import type { PaidItem } from "../../domain/plans/paid-item.ts";
import type { SubscriptionStatus } from "../../domain/subscriptions/subscription-status.ts";
import type { Adapter } from "../adapter.ts";
import { eventKinds, ignoredOf, keywordMap, STATE_UNKNOWN } from "../webhook/event-kinds.ts";
import { eventIdentity, requireObject } from "../webhook/identity.ts";
import { JsonReader, ownValue } from "../webhook/json-reader.ts";
import { singleItem } from "../webhook/paid-item.ts";
import { signStandardWebhook, standardHeaders, verifyStandardWebhook } from "../webhook/standard-webhooks.ts";
import { orderPayment, PAID_ORDER, readOrder, readRefund, userIdIn } from "./payments.ts";
import { POLAR_TRAITS } from "./traits.ts";

const KINDS = eventKinds({
  "order.paid": "checkout.session.completed",
  "subscription.created": "customer.subscription.created",
  "subscription.updated": "customer.subscription.updated",
  "subscription.active": "customer.subscription.updated",
  "subscription.uncanceled": "customer.subscription.updated",
  "subscription.past_due": "customer.subscription.updated",
  "subscription.paused": "customer.subscription.updated",
  "subscription.resumed": "customer.subscription.updated",
  // Only scheduled: the actual end is `revoked`.
  "subscription.canceled": "customer.subscription.updated",
  "subscription.revoked": "customer.subscription.deleted",
});

/** Events with effects. */
export const POLAR_EVENT_TYPES: readonly string[] = [
  ...KINDS.keys(),
  "order.updated",
  "order.refunded",
  "refund.created",
  "refund.updated",
];

const STATUSES = keywordMap<SubscriptionStatus>({
  incomplete: "incomplete",
  incomplete_expired: "canceled",
  trialing: "trialing",
  active: "active",
  past_due: "past_due",
  paused: "paused",
  canceled: "canceled",
  unpaid: "unpaid",
});

const CANCELS_AT_PERIOD_END_BY_EVENT = keywordMap<boolean>({
  "subscription.canceled": true,
  "subscription.uncanceled": false,
});

// Without a status, the event's name gives the state.
const STATUS_BY_EVENT = keywordMap<SubscriptionStatus>({
  "subscription.active": "active",
  "subscription.past_due": "past_due",
  "subscription.paused": "paused",
  "subscription.resumed": "active",
});

// Of an order, and of a subscription or a checkout, which an event by the specification's name can hold instead.
const PAID = new Set(["paid", "active", "trialing", "succeeded"]);

export const polar: Adapter = {
  format: "polar",
  traits: POLAR_TRAITS,
  verify: verifyStandardWebhook,
  identify: (request, body) =>
    eventIdentity(standardHeaders(request).id, ownValue(requireObject(body), "type")),
  interpret,
  sign: signStandardWebhook,
};

function interpret(eventType: string, body: unknown): PaymentEvent {
  const kind = KINDS.get(eventType);
  const event = new JsonReader(body);
  if (kind === undefined)
    return readPayment(eventType, event) ?? ignoredOf(() => namedUser(eventType, event.at("data")));
  const data = event.at("data");
  const common = {
    kind,
    occurredAtMicros: event.rfc3339Micros("timestamp"),
    userId: userIdIn(data),
    planId: data.at("metadata").id("planId"),
    ...customerIn(data),
    items: paidItems(data),
  };
  if (kind === "checkout.session.completed") {
    if (!startsSubscription(data)) return isPaid(data) ? readOrder(event) : ignoredOf(() => userIdIn(data));
    return {
      ...common,
      ...STATE_UNKNOWN,
      providerSubscriptionId: data.id("subscription_id"),
      ...orderPayment(data),
    };
  }
  return {
    ...common,
    providerSubscriptionId: data.id("id"),
    // A revoked subscription and one whose retries are exhausted have both ended, whatever the status says.
    status:
      kind === "customer.subscription.deleted" || data.text("ended_at") !== null
        ? "canceled"
        : (data.oneOf("status", STATUSES) ?? STATUS_BY_EVENT.get(eventType) ?? null),
    currentPeriodEnd: data.rfc3339Date("current_period_end"),
    cancelAtPeriodEnd:
      data.flag("cancel_at_period_end") ?? CANCELS_AT_PERIOD_END_BY_EVENT.get(eventType) ?? null,
    pausesAtPeriodEnd: data.flag("pause_at_period_end") ?? undefined,
    // Nothing says that one has been withdrawn.
    ...(data.has("pending_update") && !data.isNull("pending_update")
      ? { concernsScheduledChange: true as const }
      : {}),
  };
}

// An event without effects may be about a customer, or a checkout: both have the id of our user.
function namedUser(eventType: string, data: JsonReader): string | null {
  const ownId = eventType.startsWith("customer.") ? data.id("external_id") : data.id("external_customer_id");
  return ownId ?? userIdIn(data);
}

// The payer may have typed the address of another customer, whom Polar then takes for the buyer.
function customerIn(data: JsonReader): Pick<PaymentEvent, "customerId" | "foreignCustomerId"> {
  const customerId = data.id("customer_id");
  const userId = data.at("metadata").id("userId");
  const customer = data.at("customer");
  const isForeign = userId !== null && customer.has("external_id") && customer.id("external_id") !== userId;
  return isForeign && customerId !== null
    ? { customerId: null, foreignCustomerId: customerId }
    : { customerId };
}

function readPayment(eventType: string, event: JsonReader): PaymentEvent | null {
  switch (eventType) {
    // A refund that fails after all is reported by this event alone.
    case "order.updated":
      return PAID_ORDER.has(event.at("data").text("status") ?? "") ? readOrder(event) : null;
    case "order.refunded":
      return readOrder(event);
    case "refund.created":
    case "refund.updated":
      return readRefund(event);
    default:
      return null;
  }
}

function startsSubscription(data: JsonReader): boolean {
  // `purchase` is a one-time product; the others are later orders of a subscription.
  const reason = data.text("billing_reason");
  return isPaid(data) && (reason === null || reason === "subscription_create");
}

function isPaid(data: JsonReader): boolean {
  const status = data.text("status");
  return status === null || PAID.has(status);
}

function paidItems(data: JsonReader): PaidItem[] {
  const prices = data.each("prices").map((price) => price.id("id"));
  return singleItem([data.id("product_id"), ...prices], data.wholeNumber("seats"));
}
