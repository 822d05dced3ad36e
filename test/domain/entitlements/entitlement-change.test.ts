import { expect, it } from "vitest";
import plans from "../../../plans.config.ts";
import { changedEntitlements } from "../../../src/domain/entitlements/entitlement-change.ts";
import { entitlementsOf } from "../../../src/domain/entitlements/entitlements.ts";
import { withoutRepeated } from "../../../src/domain/entitlements/granted-access.ts";
import { ACCESS_CONTEXT } from "../../outbound/access-context.ts";

const AT = new Date("2030-01-15T12:00:00Z");
const DAY_MS = 86_400_000;

function subscription(id: number, { planId = "team", status = "active" as Status, daysLeft = 10 } = {}) {
  return {
    id: `${id}`,
    provider: "provider-a" as const,
    planId,
    status,
    currentPeriodEnd: new Date(AT.getTime() + daysLeft * DAY_MS),
    cancelAtPeriodEnd: id % 3 === 0,
    pastDueSince: status === "past_due" ? AT : null,
    paymentReversal: null,
  };
}
type Status = "active" | "trialing" | "past_due" | "paused";

it("goes through a person's thousands of subscriptions once, not for each change", () => {
  const subscriptions = Array.from({ length: 2_000 }, (_, id) => subscription(id));
  const { provider, planId, status, currentPeriodEnd, cancelAtPeriodEnd } = subscription(7);
  const after = { planId, status, currentPeriodEnd, cancelAtPeriodEnd };
  const replaced = [{ id: "7", provider, before: { ...after, status: "paused" as const }, after }];
  const changes = Array.from({ length: 100 }, () => ({ change: { replaced }, writtenAt: AT }));
  let looks = 0;
  const context = {
    ...ACCESS_CONTEXT,
    plans: {
      get plans() {
        looks += 1;
        return plans.plans;
      },
    },
  };
  changedEntitlements(changes, { subscriptions, usage: [] }, context);
  expect(looks).toBeLessThan(2 * subscriptions.length);
});

it("counts a subscription that a newer one of the same plan made no difference to", () => {
  const older = subscription(1);
  const bought = { ...subscription(2), currentPeriodEnd: older.currentPeriodEnd };
  const { planId, status, currentPeriodEnd, cancelAtPeriodEnd } = bought;
  const after = { planId, status, currentPeriodEnd, cancelAtPeriodEnd };
  const replaced = [{ id: bought.id, provider: bought.provider, before: null, after }];
  const changes = [{ change: { replaced }, writtenAt: AT }];
  const changed = (subscriptions: (typeof older)[]) =>
    changedEntitlements(changes, { subscriptions, usage: [] }, ACCESS_CONTEXT);
  expect(changed([bought, older])).toEqual([null]);
  expect(changed([bought])).toMatchObject([{ planId: "team", status: "active" }]);
});

it("counts a subscription beside a newer one of the same plan whose dispute is won", () => {
  const older = subscription(1);
  const disputed = { ...subscription(2), currentPeriodEnd: older.currentPeriodEnd };
  const reversals = [{ id: disputed.id, before: "disputed" as const, after: null }];
  const changed = (subscriptions: (typeof older)[]) =>
    changedEntitlements(
      [{ change: { reversals }, writtenAt: AT }],
      { subscriptions, usage: [] },
      ACCESS_CONTEXT,
    );
  expect(changed([disputed, older])).toEqual([null]);
  expect(changed([disputed])).toMatchObject([{ planId: "team", status: "active" }]);
});

it("shows what was used of the quota of a year, while its renewal is awaited", () => {
  const yearly = { ...subscription(1, { planId: "pro", daysLeft: -5 }), priceId: "price_pro_yearly" };
  const { id, provider, planId, status, currentPeriodEnd, cancelAtPeriodEnd } = yearly;
  const after = { planId, status, currentPeriodEnd, cancelAtPeriodEnd };
  const replaced = [{ id, provider, before: { ...after, status: "trialing" as const }, after }];
  const usage = [{ feature: "events", periodEndMs: Date.parse("2031-01-10T12:00:00Z"), used: 3 }];
  const changes = [{ change: { replaced }, writtenAt: AT }];
  const [changed] = changedEntitlements(changes, { subscriptions: [yearly], usage }, ACCESS_CONTEXT);
  expect(changed?.features.events).toMatchObject({ used: 3 });
});

it("leaves out only subscriptions without which the entitlements are the same, at any time", () => {
  const kinds = ["pro", "team"].flatMap((planId) =>
    (["active", "trialing", "past_due", "paused"] as const).map((status) => ({ planId, status })),
  );
  // Every order of three kinds, each with its own period.
  for (const first of kinds)
    for (const second of kinds)
      for (const third of kinds) {
        const all = [first, second, third].map((kind, id) =>
          subscription(id, { ...kind, daysLeft: 10 * (id + 1) }),
        );
        const some = withoutRepeated(all, ACCESS_CONTEXT, () => false);
        for (const days of [0, 5, 15, 100]) {
          const now = new Date(AT.getTime() + days * DAY_MS);
          expect(entitlementsOf(some, ACCESS_CONTEXT, now)).toEqual(entitlementsOf(all, ACCESS_CONTEXT, now));
        }
      }
});
