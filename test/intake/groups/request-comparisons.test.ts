import { expect, it } from "vitest";
import type { PaymentEvent } from "../../../src/domain/events/payment-event.ts";
import type { Subscription } from "../../../src/domain/subscriptions/subscription.ts";
import type { EventDecision } from "../../../src/intake/groups/decide-group.ts";
import { requestComparisons } from "../../../src/intake/groups/request-comparisons.ts";

const CHECKOUT = { kind: "checkout.session.completed" } as const;
const UPDATED = { kind: "customer.subscription.updated" } as const;

const applied = (providerSubscriptionId: string | null) =>
  ({
    outcome: "applied",
    isLate: false,
    subscription: { id: "ours", providerSubscriptionId } as Subscription,
  }) as const;
const failed = { outcome: "failed", failure: { reason: "defect" } } as const;

it.each<[string, boolean, Partial<PaymentEvent>, EventDecision | null]>([
  ["a checkout that has named no subscription", true, CHECKOUT, applied(null)],
  ["a checkout that has named its subscription", false, CHECKOUT, applied("sub")],
  [
    "a one-time payment, which no subscription follows",
    false,
    { ...CHECKOUT, isOneTime: true },
    applied(null),
  ],
  ["an update of one that has no id yet", false, UPDATED, applied(null)],
  [
    "a checkout that has made an ended subscription active",
    true,
    CHECKOUT,
    { ...applied("sub"), isRevived: true },
  ],
  [
    "a change that is scheduled at the provider",
    true,
    { ...UPDATED, concernsScheduledChange: true },
    applied("sub"),
  ],
  ["an event that could not be applied to a known one", true, UPDATED, { ...failed, subscriptionId: "ours" }],
  ["an event that failed for another reason", false, UPDATED, failed],
  ["an event that was ignored", false, CHECKOUT, { outcome: "ignored" }],
  ["an event that another process has taken over", false, CHECKOUT, null],
])("requests a comparison after %s: %s", (_, isRequested, event, decision) => {
  const requested: unknown[] = [];
  const requestComparison = (...of: unknown[]) => void requested.push(of);
  const events = [{ slot: "provider-b" as const, reading: { event: event as PaymentEvent } }];
  requestComparisons({ requestComparison }, events, [decision]);
  expect(requested).toEqual(isRequested ? [["provider-b", ["ours"]]] : []);
});
