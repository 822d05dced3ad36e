import { describe, expect, it } from "vitest";
import {
  hasScheduledEnd,
  isConfirmed,
  isPaidTwice,
  isRunning,
  nextMilestone,
  periodEnd,
  type Subscription,
} from "../../src/app/(account)/billing/subscription-state.ts";
import { SUBSCRIPTION_STATUSES } from "../../src/domain/subscriptions/subscription-status.ts";

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

describe("the next milestone", () => {
  it.each([
    [{}, "renews"],
    [{ status: "trialing" }, "trialEnds"],
    [{ cancelAtPeriodEnd: true }, "ends"],
    [{ status: "trialing", cancelAtPeriodEnd: true }, "ends"],
    // A past date is never announced.
    [{ currentPeriodEnd: NOW }, "due"],
    [{ currentPeriodEnd: NOW, cancelAtPeriodEnd: true }, "due"],
    [{ currentPeriodEnd: null }, "running"],
    [{ status: "past_due" }, "pastDue"],
    [{ status: "unpaid" }, "unpaid"],
    [{ status: "paused", cancelAtPeriodEnd: true }, "paused"],
    [{ status: "incomplete" }, "incomplete"],
    [{ status: "canceled" }, "ended"],
  ] satisfies [Partial<Subscription>, string][])("for %j is %s", (changed, next) => {
    expect(nextMilestone({ ...SUBSCRIPTION, ...changed }, NOW)).toBe(next);
  });
});

it("counts as paid twice only those subscriptions that are charged again", () => {
  const ending = { ...SUBSCRIPTION, cancelAtPeriodEnd: true };
  expect(isPaidTwice([SUBSCRIPTION, SUBSCRIPTION, ending])).toBe(true);
  expect(isPaidTwice([SUBSCRIPTION, ending, ending])).toBe(false);
});

describe("the end of the period", () => {
  it("is unknown once it has passed", () => {
    expect(periodEnd(SUBSCRIPTION, NOW)).toEqual(TOMORROW);
    expect(periodEnd(SUBSCRIPTION, TOMORROW)).toBeNull();
    expect(periodEnd({ ...SUBSCRIPTION, currentPeriodEnd: null }, NOW)).toBeNull();
  });
});

describe("a running subscription", () => {
  it("has a status that is paid or can be paid again", () => {
    const running = SUBSCRIPTION_STATUSES.filter((status) => isRunning({ ...SUBSCRIPTION, status }));
    expect(running).toEqual(["trialing", "active", "past_due", "paused", "unpaid"]);
    expect(isRunning(null)).toBe(false);
  });
});

describe("a purchase", () => {
  it("is confirmed once it is running and has a period end", () => {
    expect(isConfirmed(null)).toBe(false);
    expect(isConfirmed({ ...SUBSCRIPTION, status: "incomplete" })).toBe(false);
    expect(isConfirmed({ ...SUBSCRIPTION, currentPeriodEnd: null })).toBe(false);
    expect(isConfirmed(SUBSCRIPTION)).toBe(true);
  });
});

describe("a scheduled end", () => {
  const ending = { ...SUBSCRIPTION, cancelAtPeriodEnd: true };

  it.each(["past_due", "unpaid", "paused"] as const)("is shown beside the status %s", (status) => {
    expect(hasScheduledEnd({ ...ending, status }, NOW)).toBe(true);
    expect(hasScheduledEnd({ ...ending, status, cancelAtPeriodEnd: false }, NOW)).toBe(false);
  });

  it("is not shown twice, without a date, or once it has passed", () => {
    expect(hasScheduledEnd(ending, NOW)).toBe(false);
    expect(hasScheduledEnd({ ...ending, status: "past_due", currentPeriodEnd: null }, NOW)).toBe(false);
    expect(hasScheduledEnd({ ...ending, status: "past_due", currentPeriodEnd: NOW }, NOW)).toBe(false);
  });
});
