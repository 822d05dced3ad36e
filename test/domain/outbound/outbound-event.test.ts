import { expect, it } from "vitest";
import { subscriptionEventType } from "../../../src/domain/outbound/outbound-event.ts";
import type { SubscriptionStatus } from "../../../src/domain/subscriptions/subscription-status.ts";

type Status = SubscriptionStatus | null;

it.each<[string, [before: Status, after: SubscriptionStatus][]]>([
  [
    "subscription.started",
    [
      [null, "trialing"],
      [null, "active"],
      ["incomplete", "active"],
      ["canceled", "active"],
    ],
  ],
  [
    "subscription.past_due",
    [
      [null, "past_due"],
      ["incomplete", "unpaid"],
      ["trialing", "past_due"],
      ["active", "unpaid"],
      ["paused", "past_due"],
    ],
  ],
  [
    "subscription.ended",
    [
      [null, "canceled"],
      ["active", "canceled"],
      ["past_due", "canceled"],
    ],
  ],
  [
    "subscription.changed",
    [
      [null, "incomplete"],
      ["active", "active"],
      ["trialing", "active"],
      ["active", "paused"],
      ["paused", "active"],
      ["past_due", "active"],
      ["past_due", "unpaid"],
      ["canceled", "canceled"],
    ],
  ],
])("a change is %s from one status to another: %j", (type, changes) => {
  for (const [before, after] of changes)
    expect(subscriptionEventType(before && { status: before }, { status: after })).toBe(type);
});
