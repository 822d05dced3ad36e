import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { notificationsFor } from "../../src/domain/notification.ts";
import type { Subscription } from "../../src/domain/subscription.ts";
import { SUBSCRIPTION_STATUSES } from "../../src/domain/subscription-status.ts";
import { subscription } from "./subscription.ts";

describe("notificationsFor", () => {
  it("never notifies twice in any order and grouping of events", () => {
    const step = fc.record({
      status: fc.constantFrom(...SUBSCRIPTION_STATUSES),
      planId: fc.constantFrom("pro", "team"),
      isLate: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 30 }), (steps) => {
        let now: Subscription | null = null;
        let standing: string | null = null;
        let plan: string | null = null;
        for (const { isLate, ...fields } of steps) {
          const after = subscription(fields);
          const { lastNotified, notifications } = notificationsFor(now, after, { isLate });
          for (const { kind, details } of notifications) {
            if (kind === "subscription_plan_changed") {
              expect(details.from).toBe(plan);
              expect(details.to).not.toBe(plan);
            } else {
              expect(kind).not.toBe(standing);
              standing = kind;
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
