import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { notificationsFor } from "../../../src/domain/notifications/notification.ts";
import type { Subscription } from "../../../src/domain/subscriptions/subscription.ts";
import { SUBSCRIPTION_STATUSES } from "../../../src/domain/subscriptions/subscription-status.ts";
import { subscription } from "../subscription.ts";

const ACTIVE = { state: "active", planId: "pro" } as const;

/** The kinds of what is notified of a subscription that becomes like this. */
const kindsOf = (before: Partial<Subscription> | null, after: Partial<Subscription>, isLate = false) =>
  notificationsFor(before && subscription(before), subscription(after), { isLate }).notifications.map(
    ({ kind }) => kind,
  );

describe("notificationsFor", () => {
  it.each([
    ["incomplete", []],
    ["trialing", ["subscription_activated"]],
    ["active", ["subscription_activated"]],
    ["past_due", ["subscription_past_due"]],
    ["unpaid", ["subscription_unpaid"]],
    ["paused", []],
    ["canceled", ["subscription_canceled"]],
  ] as const)("announces a new subscription that is %s: %s", (status, kinds) => {
    expect(kindsOf(null, { status })).toEqual(kinds);
  });

  it("names the subscription and its plan, or both plans when it has changed", () => {
    const activated = notificationsFor(null, subscription(), { isLate: false });
    expect(activated).toEqual({
      lastNotified: ACTIVE,
      notifications: [
        {
          userId: "ann",
          kind: "subscription_activated",
          details: { subscriptionId: "known", planId: "pro" },
        },
      ],
    });
    const before = subscription({ lastNotified: ACTIVE });
    expect(notificationsFor(before, subscription({ planId: "team" }), { isLate: false })).toEqual({
      lastNotified: { state: "active", planId: "team" },
      notifications: [
        {
          userId: "ann",
          kind: "subscription_plan_changed",
          details: { subscriptionId: "known", from: "pro", to: "team" },
        },
      ],
    });
  });

  it("announces another plan while the subscription runs, paused too, and not with its end or another start", () => {
    const before = { lastNotified: ACTIVE };
    expect(kindsOf(before, { planId: "team", status: "paused" })).toEqual(["subscription_plan_changed"]);
    expect(kindsOf(before, { planId: "team", status: "canceled" })).toEqual(["subscription_canceled"]);
    const ended = { lastNotified: { state: "canceled", planId: "pro" } } as const;
    expect(kindsOf(ended, { planId: "team" })).toEqual(["subscription_activated"]);
  });

  it("announces by a late event only what has not been announced at all", () => {
    expect(kindsOf({}, { status: "past_due" }, true)).toEqual(["subscription_past_due"]);
    const before = subscription({ lastNotified: ACTIVE });
    expect(
      notificationsFor(before, subscription({ status: "past_due", planId: "team" }), { isLate: true }),
    ).toEqual({ lastNotified: ACTIVE, notifications: [] });
  });

  it("waits for the subscription's id and for its user", () => {
    for (const missing of [{ providerSubscriptionId: null }, { userId: null }])
      expect(notificationsFor(null, subscription(missing), { isLate: false })).toEqual({
        lastNotified: null,
        notifications: [],
      });
  });

  it("announces that the provider has given up on a failed payment, whether it leaves it unpaid or pauses it", () => {
    const failed = { lastNotified: { state: "past_due", planId: "pro" } } as const;
    const onHold = { lastNotified: { state: "unpaid", planId: "pro" } } as const;
    expect(kindsOf(failed, { status: "unpaid" })).toEqual(["subscription_unpaid"]);
    expect(kindsOf(failed, { status: "paused" })).toEqual(["subscription_unpaid"]);
    expect(kindsOf(onHold, { status: "paused" })).toEqual([]);
    expect(kindsOf({ lastNotified: ACTIVE }, { status: "paused" })).toEqual([]);
    expect(kindsOf(onHold, { status: "active" })).toEqual(["subscription_activated"]);
  });

  it("announces a subscription to the user whom it has moved to", () => {
    expect(kindsOf({ lastNotified: ACTIVE }, { userId: "bob" })).toEqual(["subscription_activated"]);
  });

  it("does not announce the end of a checkout that was never paid", () => {
    expect(kindsOf({ status: "incomplete" }, { status: "canceled" })).toEqual([]);
    expect(kindsOf({ status: "paused" }, { status: "canceled" })).toEqual(["subscription_canceled"]);
    const paid = { status: "incomplete", lastNotified: ACTIVE } as const;
    expect(kindsOf(paid, { status: "canceled" })).toEqual(["subscription_canceled"]);
  });

  it("never notifies twice in any order and grouping of events", () => {
    const step = fc.record({
      status: fc.constantFrom(...SUBSCRIPTION_STATUSES),
      planId: fc.constantFrom("pro", "team"),
      isLate: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 30 }), (steps) => {
        let now: Subscription | null = null;
        let announced: string | null = null;
        let plan: string | null = null;
        for (const { isLate, ...fields } of steps) {
          const after = subscription(fields);
          const { lastNotified, notifications } = notificationsFor(now, after, { isLate });
          for (const { kind, details } of notifications) {
            if (kind === "subscription_plan_changed") {
              expect(details.from).toBe(plan);
              expect(details.to).not.toBe(plan);
            } else {
              expect(kind).not.toBe(announced);
              announced = kind;
            }
            plan = details.to ?? (details.planId as string);
          }
          now = { ...after, lastNotified };
          expect(notificationsFor(now, after, { isLate }).notifications).toEqual([]);
        }
      }),
      { numRuns: 2_000 },
    );
  });
});
