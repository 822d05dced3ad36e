import { expect, it } from "vitest";
import { userChanges } from "../../../src/domain/entitlements/user-changes.ts";
import type { Subscription } from "../../../src/domain/subscriptions/subscription.ts";
import { subscription } from "../subscription.ts";

const factsOf = ({ planId, status, currentPeriodEnd, cancelAtPeriodEnd }: Subscription) => ({
  planId,
  status,
  currentPeriodEnd,
  cancelAtPeriodEnd,
});
const ANNS = subscription();
const of = (before: object | null, after: object | null) => [
  { id: "known", provider: "provider-a", before, after },
];

it("returns what a change means for its user", () => {
  expect(userChanges({ before: null, after: ANNS })).toEqual([
    { userId: "ann", replaced: of(null, factsOf(ANNS)) },
  ]);
  for (const change of [
    { planId: "team" },
    { status: "canceled" },
    { currentPeriodEnd: new Date("2031-02-03T04:05:06Z") },
    { cancelAtPeriodEnd: true },
  ] as const) {
    const after = subscription(change);
    expect(userChanges({ before: ANNS, after })).toEqual([
      { userId: "ann", replaced: of(factsOf(ANNS), factsOf(after)) },
    ]);
  }
  const ended = subscription({ status: "canceled" });
  expect(userChanges({ before: ended, after: ANNS })).toEqual([
    { userId: "ann", replaced: of(factsOf(ended), factsOf(ANNS)) },
  ]);
});

it("returns the change for both users when a subscription moves, and for nobody whose account is deleted", () => {
  expect(userChanges({ before: ANNS, after: subscription({ userId: "bob" }) })).toEqual([
    { userId: "ann", replaced: of(factsOf(ANNS), null) },
    { userId: "bob", replaced: of(null, factsOf(ANNS)) },
  ]);
  const nobodys = subscription({ userId: null });
  expect(userChanges({ before: ANNS, after: nobodys })).toEqual([
    { userId: "ann", replaced: of(factsOf(ANNS), null) },
  ]);
  expect(userChanges({ before: nobodys, after: subscription({ userId: null, planId: "team" }) })).toEqual([]);
});

it("returns nothing where entitlements stay as they are", () => {
  const ended = subscription({ status: "canceled" });
  const endsAt = () => subscription({ currentPeriodEnd: new Date("2031-02-03T04:05:06Z") });
  for (const [before, after] of [
    [null, ended],
    [ended, subscription({ status: "canceled", planId: "team" })],
    [ANNS, subscription({ seats: 9, priceId: "price", outOfOrder: true })],
    [endsAt(), endsAt()],
  ] as const)
    expect(userChanges({ before, after })).toEqual([]);
});
