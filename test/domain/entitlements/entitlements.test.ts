import { describe, expect, it } from "vitest";
import { checkFeature } from "../../../src/domain/entitlements/check-feature.ts";
import { entitlementsOf } from "../../../src/domain/entitlements/entitlements.ts";
import { quotaReset } from "../../../src/domain/entitlements/granted-access.ts";
import { nextReset } from "../../../src/domain/entitlements/usage-period.ts";
import { definePlans } from "../../../src/domain/plans/plan.ts";
import { traitsOf } from "../../../src/providers/registry.ts";

const NOW = new Date("2030-01-15T12:00:00Z");
const DAY_MS = 24 * 60 * 60 * 1000;
const text = { en: "x", de: "x", es: "x", zh: "x" };

function plan(id: string, amount: number, values: { projects: number; events: number; exports?: boolean }) {
  const { projects, events, exports } = values;
  return {
    id,
    name: id,
    seats: { min: 1, max: 9 },
    priceIds: {},
    graceDays: 7,
    price: { amount, currency: "EUR", interval: "month" as const },
    features: [
      { id: "projects", kind: "limit" as const, value: projects, text },
      { id: "events", kind: "quota" as const, value: events, text },
      ...(exports === undefined ? [] : [{ id: "exports", kind: "flag" as const, value: exports, text }]),
    ],
  };
}

const plans = definePlans([
  plan("free", 0, { projects: 1, events: 100 }),
  plan("pro", 2000, { projects: 10, events: 1_000, exports: true }),
  plan("team", 1500, { projects: 5, events: 5_000 }),
]);

const traits = {
  "provider-a": traitsOf("stripe"),
  "provider-b": traitsOf("paddle"),
  "provider-c": traitsOf("lemon-squeezy"),
};

const context = { plans, traits };

type Given = Partial<Parameters<typeof entitlementsOf>[0][number]>;

const subscription = (overrides: Given = {}) => ({
  planId: "pro",
  status: "active" as const,
  cancelAtPeriodEnd: false,
  provider: "provider-a" as const,
  currentPeriodEnd: new Date("2030-02-01T00:00:00Z"),
  pastDueSince: null,
  paymentReversal: null,
  ...overrides,
});

const PAST_DUE: Given = { status: "past_due", pastDueSince: new Date(NOW.getTime() - 2 * DAY_MS) };

const entitlements = (...subscriptions: Given[]) =>
  entitlementsOf(subscriptions.map(subscription), context, NOW);

const check = (subscriptions: Given[], feature: string, usage: { amount?: number; used?: number } = {}) =>
  checkFeature(entitlementsOf(subscriptions.map(subscription), context, NOW), feature, {
    amount: 1,
    used: 0,
    ...usage,
  });

describe("entitlements", () => {
  it("are those of the free plan without a subscription", () => {
    const entitlements = entitlementsOf([], context, NOW);
    expect(entitlements).toMatchObject({ planId: "free", status: null, until: null, isSubscribed: false });
    expect(entitlements.features.get("events")).toMatchObject({ kind: "quota", value: 100 });
    expect(entitlements.features.get("exports")).toMatchObject({ kind: "flag", value: false });
  });

  it("are the most generous of several subscriptions, feature by feature", () => {
    const { features } = entitlementsOf([subscription({ planId: "team" }), subscription()], context, NOW);
    expect([...features].map(([id, { value }]) => [id, value])).toEqual([
      ["projects", 10],
      ["events", 5_000],
      ["exports", true],
    ]);
  });

  it("are those of the newest of several that grant the same", () => {
    const later = new Date("2030-03-01T00:00:00Z");
    const { until, features } = entitlements({ currentPeriodEnd: later }, {});
    expect(until).toEqual(later);
    expect(features.get("events")).toMatchObject({ until: later, resetsAt: later });
  });

  it("are those of a subscription that is paid for, before those of one in its days of grace", () => {
    const end = new Date("2030-02-01T00:00:00Z");
    for (const subscriptions of [
      [PAST_DUE, {}],
      [{}, PAST_DUE],
    ]) {
      expect(entitlements(...subscriptions)).toMatchObject({ planId: "pro", status: "active", until: end });
      expect(check(subscriptions, "exports")).toEqual({ allowed: true, reason: "plan", until: end });
    }
    expect(entitlements(PAST_DUE, { planId: "team" })).toMatchObject({ planId: "team", status: "active" });
    expect(entitlements(PAST_DUE)).toMatchObject({ planId: "pro", status: "past_due", isSubscribed: true });
  });

  it.each(["canceled", "unpaid", "paused", "incomplete"] as const)(
    "are the free plan's when it is %s",
    (status) => {
      expect(entitlements({ status }, { status: "canceled" })).toMatchObject({
        planId: "free",
        status,
        isSubscribed: false,
      });
    },
  );

  it("are none of a plan that is no longer in the file, and without a free plan", () => {
    const free = plans.plans.find(({ id }) => id === "free");
    const withoutFree = { ...context, plans: { plans: plans.plans.filter((plan) => plan !== free) } };
    const given = [entitlements({ planId: "former" }), entitlementsOf([], withoutFree, NOW)];
    expect(given).toMatchObject([
      { planId: "former", status: "active", isSubscribed: true },
      { planId: null, status: null, isSubscribed: false },
    ]);
    for (const { features } of given)
      expect([...features].map(([id, { value }]) => [id, value])).toEqual([
        ["projects", 0],
        ["events", 0],
        ["exports", false],
      ]);
  });

  it("hold until the end of the period, of the days of grace, or of a canceled subscription", () => {
    const end = new Date("2030-02-01T00:00:00Z");
    expect(check([{}], "exports")).toEqual({ allowed: true, reason: "plan", until: end });
    expect(check([{ cancelAtPeriodEnd: true }], "exports")).toEqual({
      allowed: true,
      reason: "plan",
      until: end,
    });
    expect(check([PAST_DUE], "exports")).toEqual({
      allowed: true,
      reason: "grace_until",
      until: new Date(NOW.getTime() + 5 * DAY_MS),
    });
  });

  it("hold without a known end while the renewal, or the time at which it failed, is not known", () => {
    for (const currentPeriodEnd of [NOW, null])
      expect(check([{ currentPeriodEnd }], "exports")).toEqual({
        allowed: true,
        reason: "plan",
        until: null,
      });
    expect(check([{ status: "past_due" }], "exports")).toEqual({
      allowed: true,
      reason: "grace_until",
      until: null,
    });
  });

  it("end with the grace period", () => {
    const pastDueSince = new Date(NOW.getTime() - 7 * DAY_MS);
    expect(check([{ status: "past_due", pastDueSince }], "exports")).toEqual({
      allowed: false,
      reason: "not_subscribed",
      until: null,
    });
  });
});

describe("a check", () => {
  it("says that the plan does not include it", () => {
    const notIncluded = { allowed: false, reason: "plan", until: null };
    expect(check([{ planId: "team" }], "exports")).toEqual(notIncluded);
    expect(check([{ planId: "former" }], "projects")).toEqual(notIncluded);
    expect(check([{ planId: "former" }], "events")).toEqual({ ...notIncluded, remaining: 0 });
  });

  it("compares an amount with a limit", () => {
    expect(check([{}], "projects", { amount: 10 })).toMatchObject({ allowed: true });
    expect(check([{}], "projects", { amount: 11 })).toMatchObject({ allowed: false, reason: "plan" });
    expect(check([], "projects", { amount: 2 })).toMatchObject({ allowed: false, reason: "not_subscribed" });
  });

  it("counts what has been used of a quota", () => {
    expect(check([{}], "events", { used: 999 })).toMatchObject({ allowed: true, remaining: 1 });
    expect(check([{}], "events", { used: 999, amount: 2 })).toEqual({
      allowed: false,
      reason: "quota_exceeded",
      until: new Date("2030-02-01T00:00:00Z"),
      remaining: 1,
    });
    // Used before a downgrade.
    expect(check([], "events", { used: 5_000 })).toMatchObject({
      allowed: false,
      reason: "quota_exceeded",
      remaining: 0,
    });
  });

  it("knows no other features", () => {
    expect(check([{}], "toString")).toBeNull();
  });
});

describe("a quota starts over", () => {
  it.each([
    ["on the 1st without a period", null, "2030-02-01T00:00:00Z"],
    ["at the end of the period", "2030-01-20T10:00:00Z", "2030-01-20T10:00:00Z"],
    ["at the end of a period of a year", "2030-09-20T10:00:00Z", "2030-09-20T10:00:00Z"],
    ["a month later while the renewal is not known", "2030-01-15T12:00:00Z", "2030-02-15T12:00:00Z"],
    ["on the same day of the month", "2029-11-20T10:00:00Z", "2030-01-20T10:00:00Z"],
    ["on the last day of a shorter month", "2029-12-31T10:00:00Z", "2030-01-31T10:00:00Z"],
  ])("%s", (_name, periodEnd, expected) => {
    expect(nextReset(periodEnd === null ? null : new Date(periodEnd), NOW)).toEqual(new Date(expected));
  });

  it.each([
    ["2029-12-20T10:00:00Z", "2030-12-20T10:00:00Z"],
    ["2029-01-15T12:00:00Z", "2031-01-15T12:00:00Z"],
    ["2028-02-29T10:00:00Z", "2030-02-28T10:00:00Z"],
  ])("a year later while the renewal of a year that ended at %s is not known", (periodEnd, expected) => {
    expect(nextReset(new Date(periodEnd), NOW, "year")).toEqual(new Date(expected));
  });

  it.each([
    [null, "2030-12-20T10:00:00Z"],
    ["price_year", "2030-12-20T10:00:00Z"],
    ["price_of_former_days", "2030-01-20T10:00:00Z"],
  ])("by the interval of the price, with price %s, until the renewal is reported", (priceId, expected) => {
    const yearly = definePlans([
      plan("free", 0, { projects: 1, events: 100 }),
      {
        ...plan("pro", 20_000, { projects: 10, events: 1_000 }),
        price: { amount: 20_000, currency: "EUR", interval: "year" },
        priceIds: { "provider-a": "price_year" },
      },
    ]).plans.find(({ id }) => id === "pro");
    const ended = subscription({ priceId, currentPeriodEnd: new Date("2029-12-20T10:00:00Z") });
    expect(quotaReset(ended, { plan: yearly, traits: traits["provider-a"] }, NOW)).toEqual(
      new Date(expected),
    );
  });

  it("on the last day of February after a period that ended on the 31st", () => {
    const now = new Date("2030-02-15T00:00:00Z");
    expect(nextReset(new Date("2030-01-31T10:00:00Z"), now)).toEqual(new Date("2030-02-28T10:00:00Z"));
  });

  it("only once while a renewal is past due, not with each attempt to charge", () => {
    const resetOf = (
      provider: "provider-a" | "provider-c",
      daysUntilPeriodEnd: number,
      daysPastDue: number,
    ) => {
      const pastDueSince = new Date("2030-01-10T00:00:00Z");
      const currentPeriodEnd = new Date(pastDueSince.getTime() + daysUntilPeriodEnd * DAY_MS);
      const now = new Date(pastDueSince.getTime() + daysPastDue * DAY_MS);
      const pastDue = subscription({ provider, status: "past_due", pastDueSince, currentPeriodEnd });
      return entitlementsOf([pastDue], context, now).features.get("events")?.resetsAt;
    };
    const aMonthLater = new Date("2030-02-10T00:00:00Z");
    // Lemon Squeezy's period ends with the next attempt, or has ended with the last one.
    for (const [periodEnd, now] of [
      [3, 0],
      [3, 3.1],
      [6, 3.2],
      [10, 6.1],
    ] as const)
      expect(resetOf("provider-c", periodEnd, now)).toEqual(aMonthLater);
    // Before the next attempt is known, the period that has been paid for has ended.
    expect(resetOf("provider-c", -0.5, 6)).toEqual(new Date("2030-02-09T12:00:00Z"));
    // At other providers the period that is owed for has begun, however late its payment failed.
    expect(resetOf("provider-a", 28, 6)).toEqual(new Date("2030-02-07T00:00:00Z"));
    expect(resetOf("provider-a", 9, 6)).toEqual(new Date("2030-01-19T00:00:00Z"));
    // Nor is it the next attempt while it is not known since when.
    const unknown = entitlements({ provider: "provider-c", status: "past_due" });
    expect(unknown.features.get("events")?.resetsAt).toEqual(new Date("2030-02-01T00:00:00Z"));
  });
});
