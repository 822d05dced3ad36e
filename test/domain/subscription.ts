import type { Subscription } from "../../src/domain/subscriptions/subscription.ts";

/** An active subscription that is known here. */
export function subscription(overrides: Partial<Subscription> = {}): Subscription {
  return {
    id: "known",
    userId: "ann",
    provider: "provider-a",
    providerSubscriptionId: "sub",
    isOneTime: false,
    paymentId: null,
    customerId: "cus",
    priceId: null,
    planId: "pro",
    seats: 1,
    status: "active",
    currentPeriodEnd: null,
    cancelAtPeriodEnd: false,
    pausesAtPeriodEnd: false,
    outOfOrder: false,
    lastEventAtMicros: 1_000,
    lastEventRank: null,
    comparedAtMicros: null,
    pastDueSinceMicros: null,
    lastNotified: null,
    ...overrides,
  };
}
