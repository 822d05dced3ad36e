import { describe, expect, it } from "vitest";
import {
  isConfirmed,
  isRunning,
  nextMilestone,
  type Subscription,
} from "../../src/app/(account)/billing/subscription-state.ts";
import { SUBSCRIPTION_STATUSES } from "../../src/domain/subscription-status.ts";

const NOW = new Date("2026-03-01T00:00:00Z");
const TOMORROW = new Date("2026-03-02T00:00:00Z");

const SUBSCRIPTION: Subscription = {
  id: "00000000-0000-4000-8000-000000000001",
  userId: "somebody",
  provider: "provider-a",
  providerSubscriptionId: "sub_1",
  planId: "pro",
  seats: 1,
  status: "active",
  currentPeriodEnd: TOMORROW,
  cancelAtPeriodEnd: false,
  outOfOrder: false,
  createdAt: NOW,
  updatedAt: NOW,
};

describe("what comes next", () => {
  it.each([
    [{}, "renews"],
    [{ status: "trialing" }, "trialEnds"],
    [{ cancelAtPeriodEnd: true }, "ends"],
    [{ status: "trialing", cancelAtPeriodEnd: true }, "ends"],
    // A date that has passed is never promised.
    [{ currentPeriodEnd: NOW }, "due"],
    [{ currentPeriodEnd: NOW, cancelAtPeriodEnd: true }, "due"],
    [{ currentPeriodEnd: null }, "running"],
    [{ status: "past_due" }, "pastDue"],
    [{ status: "unpaid" }, "unpaid"],
    [{ status: "paused", cancelAtPeriodEnd: true }, "paused"],
    [{ status: "incomplete" }, "incomplete"],
    [{ status: "canceled" }, "ended"],
  ] satisfies [Partial<Subscription>, string][])("of %j: %s", (changed, next) => {
    expect(nextMilestone({ ...SUBSCRIPTION, ...changed }, NOW)).toBe(next);
  });
});

describe("a running subscription", () => {
  it("is one that is paid for, or will be: with it nobody is offered a second one", () => {
    const running = SUBSCRIPTION_STATUSES.filter((status) => isRunning({ ...SUBSCRIPTION, status }));
    expect(running).toEqual(["trialing", "active", "past_due", "paused", "unpaid"]);
    expect(isRunning(null)).toBe(false);
  });
});

describe("a purchase", () => {
  it("is told of when it is known that it runs, and until when", () => {
    expect(isConfirmed(null)).toBe(false);
    expect(isConfirmed({ ...SUBSCRIPTION, status: "incomplete" })).toBe(false);
    expect(isConfirmed({ ...SUBSCRIPTION, currentPeriodEnd: null })).toBe(false);
    expect(isConfirmed(SUBSCRIPTION)).toBe(true);
  });
});
