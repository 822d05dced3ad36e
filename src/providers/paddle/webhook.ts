import type { EventKind, PaymentEvent } from "../../domain/events/payment-event.ts";
import type { SubscriptionStatus } from "../../domain/subscriptions/subscription-status.ts";
import type { Adapter } from "../adapter.ts";
import { eventKinds, ignoredOf, keywordMap, STATE_UNKNOWN } from "../webhook/event-kinds.ts";
import { eventIdentity, requireObject } from "../webhook/identity.ts";
import { JsonReader, ownValue } from "../webhook/json-reader.ts";
import { paidItem } from "../webhook/paid-item.ts";
import { signTimed, type TimedLayout, verifyTimed } from "../webhook/timed-signature.ts";
import { readAdjustment, readTransaction, transactionPayment } from "./payments.ts";
import { PADDLE_TRAITS } from "./traits.ts";

const SIGNATURE: TimedLayout = {
  header: "paddle-signature",
  separator: ";",
  timeName: "ts",
  signatureName: "h1",
  joint: ":",
};

const OWN_KINDS: Record<string, EventKind> = {
  "transaction.completed": "checkout.session.completed",
  "subscription.created": "customer.subscription.created",
  "subscription.updated": "customer.subscription.updated",
  "subscription.activated": "customer.subscription.updated",
  "subscription.trialing": "customer.subscription.updated",
  "subscription.past_due": "customer.subscription.updated",
  "subscription.paused": "customer.subscription.updated",
  "subscription.resumed": "customer.subscription.updated",
  "subscription.imported": "customer.subscription.updated",
  "subscription.canceled": "customer.subscription.deleted",
};
const KINDS = eventKinds(OWN_KINDS);

/** Paddle's event types with effects: its event list rejects unknown types. */
export const PADDLE_EVENT_TYPES: readonly string[] = [
  ...Object.keys(OWN_KINDS),
  "transaction.payment_failed",
  "adjustment.created",
  "adjustment.updated",
];

const STATUSES = keywordMap<SubscriptionStatus>({
  active: "active",
  canceled: "canceled",
  past_due: "past_due",
  paused: "paused",
  trialing: "trialing",
});

// Without a status, the event's name gives the state.
const STATUS_BY_EVENT = keywordMap<SubscriptionStatus>({
  "subscription.activated": "active",
  "subscription.trialing": "trialing",
  "subscription.past_due": "past_due",
  "subscription.paused": "paused",
  "subscription.resumed": "active",
});

// Renewals, charges and changes of the payment method complete transactions too; their origin is the
// subscription.
const CHECKOUT_ORIGINS = new Set(["web", "api", "subscription_start"]);

// Of a transaction, and of a subscription, which an event by the specification's name can hold instead of one.
const NOT_PAID = new Set([
  "draft",
  "ready",
  "billed",
  "past_due",
  "canceled",
  "paused",
  "incomplete",
  "unpaid",
]);

export const paddle: Adapter = {
  format: "paddle",
  traits: PADDLE_TRAITS,
  verify: (request, options) => verifyTimed(SIGNATURE, request, options),
  identify(_request, body) {
    const event = requireObject(body);
    return eventIdentity(ownValue(event, "event_id"), ownValue(event, "event_type"));
  },
  interpret,
  sign: (rawBody, options) => signTimed(SIGNATURE, rawBody, options),
};

function interpret(eventType: string, body: unknown): PaymentEvent {
  const kind = KINDS.get(eventType);
  const event = new JsonReader(body);
  const userId = () => event.at("data", "custom_data").id("userId");
  if (kind === undefined) return readPayment(eventType, event) ?? ignoredOf(userId);
  const data = event.at("data");
  const items = data.each("items");
  const recurring = items.filter((item) => !isOneTime(item));
  const common = {
    kind,
    occurredAtMicros: event.rfc3339Micros("occurred_at"),
    userId: userId(),
    planId: data.at("custom_data").id("planId"),
    customerId: data.id("customer_id"),
    items: recurring.map((item) =>
      paidItem([item.idOrExpanded("price"), item.id("price_id")], item.wholeNumber("quantity")),
    ),
  };
  if (kind === "checkout.session.completed") {
    if (NOT_PAID.has(data.text("status") ?? "")) return ignoredOf(userId);
    const origin = data.text("origin");
    // Add-ons without a billing cycle create a transaction but no subscription.
    const isAddOn = items.length > 0 && recurring.length === 0;
    if (isAddOn || (origin !== null && !CHECKOUT_ORIGINS.has(origin))) return readTransaction("paid", event);
    return {
      ...common,
      ...STATE_UNKNOWN,
      providerSubscriptionId: data.id("subscription_id"),
      ...transactionPayment("paid", data),
    };
  }
  return {
    ...common,
    providerSubscriptionId: data.id("id"),
    status:
      kind === "customer.subscription.deleted"
        ? "canceled"
        : (data.oneOf("status", STATUSES) ?? STATUS_BY_EVENT.get(eventType) ?? null),
    currentPeriodEnd: data.at("current_billing_period").rfc3339Date("ends_at"),
    cancelAtPeriodEnd: schedules(data, "cancel"),
    pausesAtPeriodEnd: schedules(data, "pause") ?? undefined,
  };
}

function readPayment(eventType: string, event: JsonReader): PaymentEvent | null {
  switch (eventType) {
    case "transaction.payment_failed":
      return readTransaction("failed", event);
    case "adjustment.created":
    case "adjustment.updated":
      return readAdjustment(event);
    default:
      return null;
  }
}

function isOneTime(item: JsonReader): boolean {
  if (item.flag("recurring") === false) return true;
  return !item.isText("price") && item.at("price").isNull("billing_cycle");
}

// Every subscription has the field: `null` means that nothing is scheduled (any more).
function schedules(data: JsonReader, action: "cancel" | "pause"): boolean | null {
  return data.has("scheduled_change") ? data.at("scheduled_change").text("action") === action : null;
}
