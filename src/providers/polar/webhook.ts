import type { PaidItem, PaymentEvent } from "../../domain/payment-event.ts";
import type { SubscriptionStatus } from "../../domain/subscription-status.ts";
import type { Adapter } from "../adapter.ts";
import { eventKinds, IGNORED, STATE_UNKNOWN, wordMap } from "../webhook/event-kinds.ts";
import { eventIdentity, requireObject } from "../webhook/identity.ts";
import { JsonReader, ownValue } from "../webhook/json-reader.ts";
import { singleItem } from "../webhook/paid-item.ts";
import { signStandardWebhook, standardHeaders, verifyStandardWebhook } from "../webhook/standard-webhooks.ts";
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
export const POLAR_EVENT_TYPES: readonly string[] = [...KINDS.keys()];

const STATUSES = wordMap<SubscriptionStatus>({
  incomplete: "incomplete",
  incomplete_expired: "canceled",
  trialing: "trialing",
  active: "active",
  past_due: "past_due",
  paused: "paused",
  canceled: "canceled",
  unpaid: "unpaid",
});

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
  if (kind === undefined) return IGNORED;
  const event = new JsonReader(body);
  const data = event.at("data");
  const metadata = data.at("metadata");
  const common = {
    kind,
    occurredAtMicros: event.rfc3339Micros("timestamp"),
    userId: metadata.id("userId") ?? data.at("customer").id("external_id"),
    planId: metadata.id("planId"),
    ...customerIn(data),
    items: paidItems(data),
  };
  if (kind === "checkout.session.completed") {
    return startsSubscription(data)
      ? { ...common, ...STATE_UNKNOWN, providerSubscriptionId: data.id("subscription_id") }
      : IGNORED;
  }
  return {
    ...common,
    providerSubscriptionId: data.id("id"),
    // A revoked subscription and one whose retries are exhausted have both ended, whatever the status says.
    status:
      kind === "customer.subscription.deleted" || data.text("ended_at") !== null
        ? "canceled"
        : data.oneOf("status", STATUSES),
    currentPeriodEnd: data.rfc3339Date("current_period_end"),
    cancelAtPeriodEnd:
      data.flag("cancel_at_period_end") ?? (eventType === "subscription.canceled" ? true : null),
  };
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

function startsSubscription(data: JsonReader): boolean {
  const status = data.text("status");
  // `purchase` is a one-time product; the others are later orders of a subscription.
  const reason = data.text("billing_reason");
  return (status === null || status === "paid") && (reason === null || reason === "subscription_create");
}

function paidItems(data: JsonReader): PaidItem[] {
  const prices = data.each("prices").map((price) => price.id("id"));
  return singleItem([data.id("product_id"), ...prices], data.wholeNumber("seats"));
}
