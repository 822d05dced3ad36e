import type { PaymentEvent } from "../../domain/events/payment-event.ts";
import type { PaidItem } from "../../domain/plans/paid-item.ts";
import type { SubscriptionStatus } from "../../domain/subscriptions/subscription-status.ts";
import type { Adapter, SignatureProblem, SignedRequest, VerifyOptions } from "../adapter.ts";
import { eventKinds, ignoredOf, keywordMap, STATE_UNKNOWN } from "../webhook/event-kinds.ts";
import { eventIdentity, requireObject } from "../webhook/identity.ts";
import { JsonReader, ownValue } from "../webhook/json-reader.ts";
import { singleItem } from "../webhook/paid-item.ts";
import { decodeHexMac, macOf, signatureProblem } from "../webhook/signature.ts";
import { lemonSqueezyEventId } from "./event-id.ts";
import { LEMON_SQUEEZY_PAYMENT_TYPES, readLemonSqueezyPayment } from "./payments.ts";
import { LEMON_SQUEEZY_TRAITS } from "./traits.ts";

const KINDS = eventKinds({
  order_created: "checkout.session.completed",
  subscription_created: "customer.subscription.created",
  subscription_updated: "customer.subscription.updated",
  subscription_resumed: "customer.subscription.updated",
  subscription_paused: "customer.subscription.updated",
  subscription_unpaused: "customer.subscription.updated",
  // Only scheduled: the actual end is `expired`.
  subscription_cancelled: "customer.subscription.updated",
  subscription_expired: "customer.subscription.deleted",
});

/** Events with effects. */
export const LEMON_SQUEEZY_EVENT_TYPES: readonly string[] = [...KINDS.keys(), ...LEMON_SQUEEZY_PAYMENT_TYPES];

const STATUSES = keywordMap<SubscriptionStatus>({
  on_trial: "trialing",
  active: "active",
  paused: "paused",
  // By the official SDK's types.
  pause: "paused",
  past_due: "past_due",
  unpaid: "unpaid",
  cancelled: "canceled",
  expired: "canceled",
});

// Without a status, the event's name gives the state.
const STATUS_BY_EVENT = keywordMap<SubscriptionStatus>({
  subscription_paused: "paused",
  subscription_unpaused: "active",
});

export const lemonSqueezy: Adapter = {
  format: "lemon-squeezy",
  traits: LEMON_SQUEEZY_TRAITS,
  verify,
  identify(request, body) {
    requireObject(body);
    const eventName = ownValue(ownValue(body, "meta"), "event_name");
    return eventIdentity(lemonSqueezyEventId(request.rawBody, body), eventName);
  },
  interpret,
  sign: (rawBody, options) => ({
    "x-signature": macOf(options.secret, "", rawBody).toString("hex"),
    "x-event-name": options.eventType,
  }),
};

function verify(request: SignedRequest, options: VerifyOptions): SignatureProblem | null {
  const header = request.header("x-signature");
  if (!header) return "header missing";
  const signature = decodeHexMac(header.trim());
  const problem = signatureProblem(
    signature === null ? [] : [signature],
    options.secrets,
    "",
    request.rawBody,
  );
  return problem ?? eventNameProblem(request);
}

// The header is not signed. Invalid JSON, or a missing name, is left for `identify` to reject.
function eventNameProblem(request: SignedRequest): SignatureProblem | null {
  const announced = request.header("x-event-name");
  if (announced === undefined) return null;
  const signed = ownValue(ownValue(parseBody(request.rawBody), "meta"), "event_name");
  return typeof signed !== "string" || signed === announced
    ? null
    : "event name in the header differs from the signed one";
}

function parseBody(rawBody: Buffer): unknown {
  try {
    return JSON.parse(rawBody.toString("utf8"));
  } catch {
    return null;
  }
}

const PAID_ORDER = new Set(["paid"]);
const PAID_OR_RUNNING = new Set(["paid", "active", "on_trial"]);

// An event by the specification's name can hold the subscription instead of an order.
function paidStatuses(eventType: string): ReadonlySet<string> {
  return eventType === "order_created" ? PAID_ORDER : PAID_OR_RUNNING;
}

function interpret(eventType: string, body: unknown): PaymentEvent {
  const kind = KINDS.get(eventType);
  const event = new JsonReader(body);
  const customData = () => event.at("meta").at("custom_data");
  const userId = () => customData().id("userId") ?? customData().id("user_id");
  if (kind === undefined) return readLemonSqueezyPayment(eventType, event) ?? ignoredOf(userId);
  const data = event.at("data");
  const attributes = data.at("attributes");
  const email = attributes.text("user_email");
  const common = {
    kind,
    occurredAtMicros: later(
      attributes.rfc3339Micros("updated_at"),
      attributes.at("first_subscription_item").rfc3339Micros("updated_at"),
    ),
    userId: userId(),
    planId: customData().id("planId") ?? customData().id("plan_id"),
    customerId: attributes.id("customer_id"),
    ...(email === null ? {} : { customerEmail: email }),
  };
  if (kind === "checkout.session.completed") {
    const status = attributes.text("status");
    if (status !== null && !paidStatuses(eventType).has(status)) return ignoredOf(userId);
    return {
      ...common,
      ...STATE_UNKNOWN,
      providerSubscriptionId: attributes.id("subscription_id"),
      items: paidItems(attributes, "first_order_item"),
    };
  }
  return {
    ...common,
    providerSubscriptionId: data.id("id"),
    items: paidItems(attributes, "first_subscription_item"),
    ...stateOf(eventType, kind === "customer.subscription.deleted", attributes, common.occurredAtMicros),
  };
}

function paidItems(attributes: JsonReader, itemName: string): PaidItem[] {
  const item = attributes.at(itemName);
  return singleItem(
    [attributes.id("variant_id") ?? item.id("variant_id"), item.id("price_id")],
    // A usage-based item is billed afterwards: its quantity does not count seats.
    item.flag("is_usage_based") === true ? null : item.wholeNumber("quantity"),
  );
}

// A change of seats does not update the subscription's own `updated_at`.
function later(a: number | null, b: number | null): number | null {
  return a === null || b === null ? (a ?? b) : Math.max(a, b);
}

type State = Pick<PaymentEvent, "status" | "currentPeriodEnd" | "cancelAtPeriodEnd" | "pausesAtPeriodEnd">;

// `cancelled` is paid until `ends_at`, compared with the event's own time: a retry weeks later must give the
// same result.
function stateOf(
  eventType: string,
  ended: boolean,
  attributes: JsonReader,
  occurredAtMicros: number | null,
): State {
  const keyword = attributes.text("status");
  const endsAt = attributes.rfc3339Date("ends_at");
  const renewsAt = attributes.rfc3339Date("renews_at");
  const cancelled = keyword === "cancelled" || (keyword === null && eventType === "subscription_cancelled");
  const isResumed = eventType === "subscription_resumed";
  const stillPaidFor =
    endsAt === null || occurredAtMicros === null || endsAt.getTime() * 1000 > occurredAtMicros;
  const named = attributes.oneOf("status", STATUSES) ?? STATUS_BY_EVENT.get(eventType) ?? null;
  const isFree = named === "paused" && isFreeWhilePaused(attributes);
  const status = ended ? "canceled" : (keyword === "cancelled" && stillPaidFor) || isFree ? "active" : named;
  return {
    status,
    currentPeriodEnd: cancelled || status === "canceled" ? (endsAt ?? renewsAt) : renewsAt,
    cancelAtPeriodEnd:
      cancelled || (attributes.flag("cancelled") ?? (isResumed || keyword !== null ? false : null)),
    pausesAtPeriodEnd: named === null ? undefined : isFree && !resumesBefore(attributes, renewsAt),
  };
}

// Paused with mode `free`, the customer keeps the service without paying; with `void` neither.
function isFreeWhilePaused(attributes: JsonReader): boolean {
  return attributes.at("pause").text("mode") === "free";
}

function resumesBefore(attributes: JsonReader, renewsAt: Date | null): boolean {
  const resumesAt = attributes.at("pause").rfc3339Date("resumes_at");
  return resumesAt !== null && renewsAt !== null && resumesAt <= renewsAt;
}
