import { describe, expect, it } from "vitest";
import {
  type AccessFacts,
  accessOf,
  reversalsEndingAccess,
} from "../../../src/domain/entitlements/access.ts";

const NOW = new Date("2026-06-10T12:00:00Z");
const PERIOD_END = new Date("2026-07-01T00:00:00Z");
const PLAN: Parameters<typeof accessOf>[1] & object = {
  accessStatuses: ["trialing", "active"],
  graceDays: 7,
  afterRefund: "end_access",
  afterDispute: "keep_access",
};

const subscription = (facts: Partial<AccessFacts>): AccessFacts => ({
  status: "active",
  currentPeriodEnd: PERIOD_END,
  cancelAtPeriodEnd: false,
  pastDueSince: null,
  paymentReversal: null,
  ...facts,
});
const daysAgo = (days: number) => new Date(NOW.getTime() - days * 86_400_000);

describe("access", () => {
  it.each([
    ["active", { hasAccess: true, until: null, reason: "paid" }],
    ["trialing", { hasAccess: true, until: null, reason: "trial" }],
    ["incomplete", { hasAccess: false, until: null, reason: "incomplete" }],
    ["unpaid", { hasAccess: false, until: null, reason: "unpaid" }],
    ["paused", { hasAccess: false, until: null, reason: "paused" }],
    ["canceled", { hasAccess: false, until: null, reason: "ended" }],
  ] as const)("follows the status %s", (status, access) => {
    expect(accessOf(subscription({ status }), PLAN, NOW)).toEqual(access);
  });

  it("follows the plan's statuses", () => {
    const plan = { ...PLAN, accessStatuses: ["active" as const, "paused" as const, "unpaid" as const] };
    const accessIn = (status: AccessFacts["status"]) => {
      const { hasAccess, reason } = accessOf(subscription({ status }), plan, NOW);
      return [hasAccess, reason];
    };
    expect(accessIn("active")).toEqual([true, "paid"]);
    expect(accessIn("paused")).toEqual([true, "paused"]);
    expect(accessIn("unpaid")).toEqual([true, "unpaid"]);
    expect(accessIn("trialing")).toEqual([false, "trial"]);
    expect(accessIn("incomplete")).toEqual([false, "incomplete"]);
    expect(
      accessOf(subscription({ status: "paused", paymentReversal: "refunded" }), plan, NOW),
    ).toMatchObject({
      hasAccess: false,
      reason: "refunded",
    });
  });

  it("stays by the defaults where the plan is no longer configured", () => {
    const hasAccess = (facts: Partial<AccessFacts>) => accessOf(subscription(facts), null, NOW).hasAccess;
    expect(hasAccess({ status: "active" })).toBe(true);
    expect(hasAccess({ status: "past_due", pastDueSince: daysAgo(6) })).toBe(true);
    expect(hasAccess({ status: "past_due", pastDueSince: daysAgo(7) })).toBe(false);
    expect(hasAccess({ status: "unpaid" })).toBe(false);
  });

  it("ends with the period when a cancellation is scheduled", () => {
    const { hasAccess, until } = accessOf(subscription({ cancelAtPeriodEnd: true }), PLAN, NOW);
    expect({ hasAccess, until }).toEqual({ hasAccess: true, until: PERIOD_END });
  });

  it("stays for the plan's days of grace after a failed renewal, and ends with them", () => {
    const pastDue = subscription({ status: "past_due", pastDueSince: daysAgo(6) });
    const end = new Date(NOW.getTime() + 86_400_000);
    expect(accessOf(pastDue, PLAN, NOW)).toEqual({ hasAccess: true, until: end, reason: "grace" });
    expect(accessOf(pastDue, PLAN, new Date(end.getTime() - 1)).hasAccess).toBe(true);
    expect(accessOf(pastDue, PLAN, end)).toEqual({ hasAccess: false, until: null, reason: "grace_over" });
  });

  it("stays without an end while it is not known since when a renewal has failed", () => {
    const pastDue = subscription({ status: "past_due", pastDueSince: null });
    expect(accessOf(pastDue, PLAN, NOW)).toEqual({ hasAccess: true, until: null, reason: "grace" });
  });

  it("ends with the period where a cancellation is scheduled before the grace period is over", () => {
    const scheduled = { status: "past_due", cancelAtPeriodEnd: true } as const;
    const until = (facts: Partial<AccessFacts>) =>
      accessOf(subscription({ ...scheduled, ...facts }), { ...PLAN, graceDays: 30 }, NOW).until;
    expect(until({ pastDueSince: daysAgo(6) })).toEqual(PERIOD_END);
    expect(until({ pastDueSince: daysAgo(20) })).toEqual(new Date(NOW.getTime() + 10 * 86_400_000));
    expect(until({ pastDueSince: null })).toEqual(PERIOD_END);
    expect(until({ pastDueSince: daysAgo(29), currentPeriodEnd: null })).toEqual(
      new Date(NOW.getTime() + 86_400_000),
    );
  });

  it("does not use the period's end of a past due subscription: Polar advances it before charging", () => {
    const pastDue = subscription({ status: "past_due", pastDueSince: daysAgo(8) });
    expect(accessOf(pastDue, PLAN, NOW).hasAccess).toBe(false);
  });

  it("gives no grace where the plan has none, and seven days where the plan is no longer sold", () => {
    const pastDue = subscription({ status: "past_due", pastDueSince: daysAgo(0) });
    expect(accessOf(pastDue, { ...PLAN, graceDays: 0 }, NOW).hasAccess).toBe(false);
    expect(accessOf(pastDue, null, NOW).until).toEqual(new Date(NOW.getTime() + 7 * 86_400_000));
  });

  it("follows the plan once the latest payment was refunded or is disputed", () => {
    const refunded = subscription({ paymentReversal: "refunded" });
    const disputed = subscription({ paymentReversal: "disputed" });
    expect(accessOf(refunded, PLAN, NOW)).toEqual({ hasAccess: false, until: null, reason: "refunded" });
    expect(accessOf(disputed, PLAN, NOW).hasAccess).toBe(true);
    expect(accessOf(refunded, { ...PLAN, afterRefund: "keep_access" }, NOW).hasAccess).toBe(true);
    expect(accessOf(disputed, { ...PLAN, afterDispute: "end_access" }, NOW).reason).toBe("disputed");
  });

  it("ends access for a payment that was refunded and is disputed where either of the two does", () => {
    const both = subscription({ paymentReversal: "refunded_and_disputed" });
    const keeping = { ...PLAN, afterRefund: "keep_access", afterDispute: "keep_access" } as const;
    expect(accessOf(both, keeping, NOW).hasAccess).toBe(true);
    for (const [rule, reason] of [
      ["afterRefund", "refunded"],
      ["afterDispute", "disputed"],
    ] as const) {
      const rules = { ...keeping, [rule]: "end_access" as const };
      expect(accessOf(both, rules, NOW)).toEqual({ hasAccess: false, until: null, reason });
      expect(reversalsEndingAccess(rules)).toEqual([reason, "refunded_and_disputed"]);
    }
  });

  it("reports the end of a subscription that has ended, regardless of its payments", () => {
    expect(
      accessOf(subscription({ status: "canceled", paymentReversal: "refunded" }), PLAN, NOW).reason,
    ).toBe("ended");
  });
});
