import { describe, expect, it } from "vitest";
import { type Changes, changesOf, kindOf } from "../../../src/domain/subscriptions/changes.ts";
import type { Subscription } from "../../../src/domain/subscriptions/subscription.ts";
import { subscription } from "../subscription.ts";

const BEFORE = subscription();

describe("kindOf", () => {
  const kind = (before: Subscription | null, after: Partial<Subscription>) =>
    kindOf(changesOf(before, { ...BEFORE, ...after }) as Changes);

  it("returns created, changed or ended", () => {
    expect(kind(null, {})).toBe("created");
    expect(kind(BEFORE, { seats: 2 })).toBe("changed");
    expect(kind(BEFORE, { planId: "team" })).toBe("changed");
    expect(kind(BEFORE, { status: "canceled" })).toBe("ended");
    expect(kind({ ...BEFORE, status: "canceled" }, { status: "active" })).toBe("changed");
    expect(kind(null, { status: "canceled" })).toBe("ended");
  });
});

describe("changesOf", () => {
  it("returns what a new subscription has, without flags that are not set", () => {
    const changes = {
      planId: [null, "pro"],
      seats: [null, 1],
      status: [null, "active"],
      providerSubscriptionId: [null, "sub"],
    };
    expect(changesOf(null, BEFORE)).toEqual(changes);
    expect(changesOf(null, subscription({ cancelAtPeriodEnd: true }))).toEqual({
      ...changes,
      cancelAtPeriodEnd: [null, true],
    });
  });

  it("returns each field that differs, before and after, times in ISO 8601", () => {
    const currentPeriodEnd = new Date("2031-02-03T04:05:06.000Z");
    const flagged = subscription({ outOfOrder: true, currentPeriodEnd });
    expect(changesOf(BEFORE, flagged)).toEqual({
      outOfOrder: [false, true],
      currentPeriodEnd: [null, "2031-02-03T04:05:06.000Z"],
    });
    expect(changesOf(flagged, BEFORE)).toEqual({
      outOfOrder: [true, false],
      currentPeriodEnd: ["2031-02-03T04:05:06.000Z", null],
    });
  });

  it("returns null when only user, customer, price or event time differ", () => {
    const after = { ...BEFORE, userId: null, customerId: "c", priceId: "p", lastEventAtMicros: 1 };
    expect(changesOf(BEFORE, after)).toBeNull();
  });

  it("returns null when the period ends at the same time", () => {
    const endsAt = () => new Date("2031-02-03T04:05:06.000Z");
    const before = subscription({ currentPeriodEnd: endsAt() });
    expect(changesOf(before, subscription({ currentPeriodEnd: endsAt() }))).toBeNull();
  });
});
