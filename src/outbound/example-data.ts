import type { OutboundEventType } from "../domain/outbound/outbound-event.ts";

const NOBODY = { userId: "user_example", externalId: "external-example" };

/** The data of a test event: in the shape of the type, about nobody. */
export function exampleData(type: OutboundEventType, now: Date): Record<string, unknown> {
  switch (type) {
    case "subscription.started":
    case "subscription.changed":
    case "subscription.past_due":
    case "subscription.ended":
      return {
        ...NOBODY,
        subscription: { ...SUBSCRIPTION, status: STATUSES[type], createdAt: now, updatedAt: now },
      };
    case "payment.paid":
    case "payment.failed":
    case "payment.refunded":
    case "payment.disputed":
      return { ...NOBODY, payment: { ...PAYMENT, status: type.slice("payment.".length), occurredAt: now } };
    case "user.created":
    case "user.updated":
    case "user.deleted":
      return { id: NOBODY.userId, externalId: NOBODY.externalId };
    case "entitlements.changed":
      return { ...NOBODY, entitlements: { planId: "pro", status: "active", until: null, features: {} } };
    default:
      return type satisfies never;
  }
}

const STATUSES = {
  "subscription.started": "active",
  "subscription.changed": "active",
  "subscription.past_due": "past_due",
  "subscription.ended": "canceled",
} as const;

const SUBSCRIPTION = {
  id: "00000000-0000-4000-8000-000000000000",
  userId: NOBODY.userId,
  provider: "provider-a",
  providerSubscriptionId: "sub_example",
  planId: "pro",
  seats: 1,
  status: "active",
  currentPeriodEnd: null,
  cancelAtPeriodEnd: false,
  outOfOrder: false,
};

const PAYMENT = {
  id: "00000000-0000-4000-8000-000000000001",
  provider: "provider-a",
  providerPaymentId: "in_example",
  subscriptionId: SUBSCRIPTION.id,
  amount: 1900,
  currency: "EUR",
  status: "paid",
  receiptUrl: null,
};
