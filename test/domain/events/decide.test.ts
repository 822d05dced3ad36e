import { describe, expect, it } from "vitest";
import plans from "../../../plans.config.ts";
import { decide } from "../../../src/domain/events/decide.ts";
import type { DecideContext } from "../../../src/domain/events/decide-context.ts";
import type { PaymentEvent } from "../../../src/domain/events/payment-event.ts";
import { definePlans, type PlanCatalog } from "../../../src/domain/plans/plan.ts";
import type { Subscription } from "../../../src/domain/subscriptions/subscription.ts";
import { IGNORED } from "../../../src/providers/webhook/event-kinds.ts";
import { subscription } from "../subscription.ts";

const PEOPLE: Record<string, "present" | "deleted"> = { ann: "present", bob: "present", gone: "deleted" };

function known(subscriptions: Subscription[] = []): DecideContext {
  return {
    subscriptions,
    userState: (id) => PEOPLE[id] ?? "unknown",
    confirmedEmail: () => null,
    plans,
    newId: () => "new",
    nowMicros: 0,
  };
}

function event(overrides: Partial<PaymentEvent>): PaymentEvent {
  return { ...IGNORED, kind: "customer.subscription.updated", ...overrides };
}

function decideFor(subscriptions: Subscription[], changes: Partial<PaymentEvent>) {
  return decide("provider-a", event(changes), known(subscriptions));
}

/** The subscriptions after the events, each applied to the result of those before it. */
function remaining(events: Partial<PaymentEvent>[], start: Subscription[] = []): Subscription[] {
  let subscriptions = start;
  for (const changes of events) {
    const decision = decide("provider-a", event(changes), {
      ...known(subscriptions),
      newId: () => `new ${subscriptions.length}`,
    });
    if (decision.outcome !== "applied") throw new Error(JSON.stringify(decision));
    const { subscription: changed } = decision;
    subscriptions = [...subscriptions.filter((subscription) => subscription.id !== changed.id), changed];
  }
  return subscriptions;
}

const HOUR_MICROS = 3_600_000_000;
const team = (seats: number) => [{ priceIds: ["price_team_monthly"], seats }];
const ids = { userId: "ann", planId: "pro", providerSubscriptionId: "sub" };
const CHECKOUT = { ...ids, kind: "checkout.session.completed" as const };
const CREATED = { ...ids, kind: "customer.subscription.created" as const };
const UPDATED = { ...ids, kind: "customer.subscription.updated" as const };
const DELETED = { ...ids, kind: "customer.subscription.deleted" as const };

describe("the four events", () => {
  it.each([
    [CHECKOUT, "active"],
    [{ ...CREATED, status: "trialing" as const }, "trialing"],
    [{ ...UPDATED, status: "past_due" as const }, "past_due"],
    [DELETED, "canceled"],
  ])("create the row, whichever comes first: %o", (first, status) => {
    expect(remaining([first])).toMatchObject([
      { ...ids, provider: "provider-a", status, seats: 1, cancelAtPeriodEnd: false },
    ]);
  });

  it("update plan, seats and status, and keep fields that they do not name", () => {
    const end = new Date("2026-12-01T00:00:00Z");
    const [subscription] = remaining([
      { ...CREATED, customerId: "cus", currentPeriodEnd: end, status: "active" },
      { ...UPDATED, planId: null, items: team(7), cancelAtPeriodEnd: true },
      { ...UPDATED, planId: null, userId: null, status: "past_due" },
      { ...UPDATED, planId: null },
    ]);
    expect(subscription).toMatchObject({
      userId: "ann",
      planId: "team",
      seats: 7,
      status: "past_due",
      cancelAtPeriodEnd: true,
      currentPeriodEnd: end,
      customerId: "cus",
    });
  });

  it("include a checkout that activates an incomplete subscription, but keeps a trial", () => {
    expect(remaining([{ ...CREATED, status: "incomplete" }, CHECKOUT])[0]?.status).toBe("active");
    expect(remaining([{ ...CREATED, status: "trialing" }, CHECKOUT])[0]?.status).toBe("trialing");
    expect(remaining([DELETED, CHECKOUT])[0]?.status).toBe("active");
  });

  it.each([CREATED, UPDATED])("activate an incomplete subscription when they name no status: %o", (event) => {
    expect(remaining([event], [subscription({ status: "incomplete" })])).toMatchObject([
      { status: "active" },
    ]);
  });

  it("are all there is: any other event is ignored", () => {
    for (const kind of ["payment", "ignored"] as const)
      expect(decide("provider-a", event({ ...UPDATED, kind }), known([subscription()]))).toEqual({
        outcome: "ignored",
      });
  });
});

describe("a checkout that names no subscription", () => {
  const nameless = { ...CHECKOUT, providerSubscriptionId: null };

  it("activates a row without a subscription id, which the later created event fills in", () => {
    expect(remaining([nameless])).toMatchObject([{ providerSubscriptionId: null, status: "active" }]);
    expect(remaining([nameless, CREATED])).toMatchObject([{ id: "new 0", providerSubscriptionId: "sub" }]);
  });

  it("applies to the subscription that its created event made before", () => {
    expect(remaining([{ ...CREATED, status: "incomplete" }, nameless])).toMatchObject([
      { providerSubscriptionId: "sub", status: "active" },
    ]);
  });

  it("applies to the user's only running subscription when it names no plan either", () => {
    const running = [subscription({ status: "past_due" })];
    expect(remaining([{ ...nameless, planId: null }], running)).toMatchObject([{ status: "active" }]);
  });

  it("is another purchase when the user has several subscriptions of its plan", () => {
    const two = [subscription(), subscription({ id: "second", providerSubscriptionId: "sub2" })];
    expect(remaining([nameless], two)).toMatchObject([
      { id: "known" },
      { id: "second" },
      { providerSubscriptionId: null },
    ]);
  });

  it.each([
    ["the last one changed", 2, ["first", "second"]],
    ["none of those that have changed at the same time", 3, ["first", "second", null]],
  ])("of several of its plan that have changed lately, it belongs to %s", (_, minute, named) => {
    const at = (minutes: number) => HOUR_MICROS + minutes * 60_000_000;
    const changed = (id: string, lastEventAtMicros: number) =>
      subscription({
        id,
        providerSubscriptionId: id,
        status: "past_due",
        lastEventAtMicros,
        lastEventRank: 1,
      });
    const [first, second] = [changed("first", at(minute)), changed("second", at(3))];
    for (const known of [
      [first, second],
      [second, first],
    ]) {
      const after = remaining([{ ...nameless, occurredAtMicros: at(3) }], known);
      expect(after.map(({ providerSubscriptionId }) => providerSubscriptionId).sort()).toEqual(
        named.toSorted(),
      );
      const activated = after.filter(({ status }) => status === "active");
      expect(activated).toMatchObject([{ providerSubscriptionId: named.at(-1) }]);
    }
  });

  it("makes one subscription when it comes twice", () => {
    expect(remaining([nameless, nameless])).toHaveLength(1);
  });

  it("treats a checkout for another plan as another purchase, and does not change the running subscription", () => {
    expect(remaining([CREATED, { ...nameless, planId: "team" }])).toMatchObject([
      { planId: "pro", providerSubscriptionId: "sub" },
      { planId: "team", providerSubscriptionId: null },
    ]);
  });

  it("starts and revives nothing for a checkout older than the end of its subscription, but flags it", () => {
    const ended = [subscription({ status: "canceled", lastEventAtMicros: 9_000 })];
    expect(remaining([{ ...nameless, occurredAtMicros: 1_000 }], ended)).toMatchObject([
      { id: "known", status: "canceled", outOfOrder: true },
    ]);
  });

  it("applies a checkout older than a plan change to the changed subscription, and flags it", () => {
    const changed = [subscription({ planId: "team", lastEventAtMicros: 9_000 })];
    expect(remaining([{ ...nameless, occurredAtMicros: 1_000 }], changed)).toMatchObject([
      { id: "known", planId: "pro", outOfOrder: true },
    ]);
  });

  it("starts nothing for a checkout older than several of the user's subscriptions, and flags the least recently changed one", () => {
    const later = subscription({ id: "later", providerSubscriptionId: "sub2", lastEventAtMicros: 9_000 });
    const ended = subscription({ status: "canceled", lastEventAtMicros: 5_000 });
    expect(remaining([{ ...nameless, occurredAtMicros: 1_000 }], [later, ended])).toMatchObject([
      { id: "later", outOfOrder: false },
      { id: "known", status: "canceled", outOfOrder: true },
    ]);
  });

  it.each(["active", "past_due", "paused", "unpaid"] as const)(
    "is another purchase beside a subscription that has been %s for long",
    (status) => {
      const earlier = [subscription({ status, seats: 5, lastEventAtMicros: HOUR_MICROS })];
      const bought = { ...nameless, items: [{ priceIds: [], seats: 1 }], occurredAtMicros: 9 * HOUR_MICROS };
      const created = { ...CREATED, providerSubscriptionId: "sub2", occurredAtMicros: 9 * HOUR_MICROS };
      for (const events of [
        [bought, created],
        [created, bought],
      ]) {
        expect(remaining(events, earlier)).toMatchObject([
          { id: "known", status, seats: 5, outOfOrder: false },
          { providerSubscriptionId: "sub2", status: "active" },
        ]);
      }
    },
  );

  it.each([
    [9, 1],
    [11, 2],
    [null, 1],
  ])("beside a subscription last changed %s minutes before makes %i in all", (minutes, count) => {
    const lastEventAtMicros = minutes === null ? null : HOUR_MICROS - minutes * 60_000_000;
    const bought = { ...nameless, occurredAtMicros: HOUR_MICROS };
    expect(remaining([bought], [subscription({ lastEventAtMicros })])).toHaveLength(count);
  });

  it("is another purchase beside a subscription that was imported long before", () => {
    const imported = { status: "unpaid", lastEventAtMicros: null, comparedAtMicros: HOUR_MICROS } as const;
    const bought = { ...nameless, occurredAtMicros: 9 * HOUR_MICROS };
    expect(remaining([bought], [subscription(imported)])).toMatchObject([
      { id: "known", status: "unpaid" },
      { providerSubscriptionId: null, status: "active" },
    ]);
  });

  it("is a new purchase after an earlier one has ended", () => {
    const ended = [subscription({ status: "canceled", lastEventAtMicros: 1_000 })];
    expect(remaining([{ ...nameless, occurredAtMicros: 9_000 }], ended)).toHaveLength(2);
  });
});

describe("the owner of a subscription", () => {
  it.each([
    ["subscription id", { providerSubscriptionId: "sub" }],
    ["customer id", { customerId: "cus" }],
  ])("is found by the %s without metadata", (_, link) => {
    expect(remaining([{ ...link, status: "past_due" }], [subscription()])).toMatchObject([
      { id: "known", userId: "ann", status: "past_due" },
    ]);
  });

  it("keeps no customer that the provider knows to be another person's", () => {
    const event = { ...UPDATED, userId: "ann", providerSubscriptionId: "sub", customerId: null };
    for (const [foreignCustomerId, customerId] of [
      ["cus", null],
      ["another", "cus"],
    ] as const) {
      const known = [subscription({ customerId: "cus" })];
      expect(remaining([{ ...event, foreignCustomerId }], known)).toMatchObject([{ customerId }]);
      const ended = [subscription({ customerId: "cus", status: "canceled", lastEventAtMicros: 9_000 })];
      const late = { ...event, occurredAtMicros: 1_000, foreignCustomerId };
      expect(remaining([late], ended)).toMatchObject([{ status: "canceled", customerId }]);
    }
  });

  it("is the known customer's user for a new subscription", () => {
    const events = [
      { kind: CREATED.kind, customerId: "cus", providerSubscriptionId: "sub2", items: team(5) },
    ];
    expect(remaining(events, [subscription()])).toMatchObject([
      { id: "known" },
      { userId: "ann", planId: "team", providerSubscriptionId: "sub2" },
    ]);
  });

  it("is not the user of other subscriptions in the slot", () => {
    const other = { ...CREATED, userId: null, providerSubscriptionId: "sub2" };
    for (const customerId of ["cus2", null])
      for (const known of [subscription(), subscription({ customerId: null })])
        expect(decideFor([known], { ...other, customerId })).toMatchObject({
          outcome: "failed",
          failure: { reason: "user_not_named" },
        });
  });

  it("is the one that the event names, although the customer has another's subscription", () => {
    const bobs = { ...UPDATED, userId: "bob", providerSubscriptionId: null, customerId: "cus" };
    for (const providerSubscriptionId of ["sub", null])
      expect(remaining([bobs], [subscription({ providerSubscriptionId })])).toMatchObject([
        { id: "known", userId: "ann", providerSubscriptionId },
        { userId: "bob", providerSubscriptionId: null },
      ]);
  });

  it("is not guessed for a customer that several people share", () => {
    const shared = [
      subscription(),
      subscription({ id: "other", providerSubscriptionId: "sub2", userId: "bob" }),
    ];
    const created = event({ ...CREATED, userId: null, providerSubscriptionId: "sub3", customerId: "cus" });
    for (const subscriptions of [shared, shared.toReversed()]) {
      expect(decide("provider-a", created, known(subscriptions))).toMatchObject({
        outcome: "failed",
        failure: { reason: "user_not_named" },
      });
    }
    const renewed = { providerSubscriptionId: "sub2", customerId: "cus", status: "past_due" } as const;
    expect(remaining([renewed], shared)).toMatchObject([
      { userId: "ann", status: "active" },
      { userId: "bob", status: "past_due" },
    ]);
  });

  it.each([
    ["an unknown user", { ...CREATED, userId: "nobody" }, "user_not_found", { userId: "nobody" }],
    ["no user", { ...CREATED, userId: null }, "user_not_named", undefined],
    ["an unknown plan", { ...CREATED, planId: "gold" }, "plan_unknown", { planId: "gold" }],
    ["neither plan nor price", { ...CREATED, planId: null }, "plan_not_named", undefined],
    [
      "a price that no plan has",
      { ...CREATED, planId: null, items: [{ priceIds: ["price_x"], seats: 1 }] },
      "price_unknown",
      { priceId: "price_x", provider: "provider-a" },
    ],
  ])("fails the event when it names %s", (_, fields, reason, params) => {
    expect(decide("provider-a", event(fields), known())).toEqual({
      outcome: "failed",
      failure: { reason, params },
    });
  });

  it("is looked up per slot: the same ids in another slot are another subscription", () => {
    const decision = decide("provider-b", event(UPDATED), known([subscription()]));
    expect(decision).toMatchObject({ outcome: "applied", isLate: false, subscription: { id: "new" } });
  });

  it("is not guessed among several subscriptions, running or ended", () => {
    const update = { ...UPDATED, providerSubscriptionId: null };
    for (const status of ["active", "canceled"] as const) {
      const two = [
        subscription({ status }),
        subscription({ status, id: "second", providerSubscriptionId: "sub2" }),
      ];
      expect(decideFor(two, update)).toMatchObject({
        outcome: "failed",
        failure: { reason: "subscription_ambiguous", params: { count: 2 } },
      });
    }
  });

  it("gets an event without a subscription id applied to their only running subscription, else to their only one", () => {
    const update = { ...UPDATED, providerSubscriptionId: null, status: "past_due" as const };
    const ended = subscription({ id: "ended", providerSubscriptionId: "sub2", status: "canceled" });
    expect(remaining([update], [ended, subscription()])).toMatchObject([
      { id: "ended", status: "canceled" },
      { id: "known", status: "past_due" },
    ]);
    expect(remaining([update], [ended])).toMatchObject([{ id: "ended", status: "past_due" }]);
    expect(remaining([update])).toMatchObject([{ providerSubscriptionId: null, status: "past_due" }]);
  });

  it("stays empty after the account is deleted: a known subscription still changes, anything else is ignored", () => {
    const theirs = [subscription({ userId: null })];
    const update = { ...UPDATED, userId: "gone", customerId: "cus", status: "canceled" as const };
    const changed = [{ id: "known", userId: null, customerId: null, status: "canceled" }];
    expect(remaining([update], theirs)).toMatchObject(changed);
    expect(remaining([{ ...update, userId: null }], theirs)).toMatchObject(changed);
    expect(remaining([{ ...update, userId: null, providerSubscriptionId: null }], theirs)).toMatchObject(
      changed,
    );
    expect(decide("provider-a", event({ ...update, providerSubscriptionId: "else" }), known(theirs))).toEqual(
      {
        outcome: "ignored",
      },
    );
    expect(decide("provider-a", event({ ...CHECKOUT, userId: "gone" }), known())).toEqual({
      outcome: "ignored",
    });
  });

  it("after the account is deleted, is told from other deleted users by the customer", () => {
    const theirs = subscription({ userId: null });
    const other = { ...theirs, id: "other", providerSubscriptionId: "sub2", customerId: "cus2" };
    const update = { ...UPDATED, userId: null, providerSubscriptionId: null, customerId: "cus" };
    expect(decideFor([other, theirs], update)).toMatchObject({ subscription: { id: "known" } });
  });

  it("stays with a subscription that an event names by a user who has deleted the account", () => {
    expect(remaining([{ ...UPDATED, userId: "gone", status: "past_due" }], [subscription()])).toMatchObject([
      { userId: "ann", status: "past_due" },
    ]);
  });

  it("after the account is deleted, leaves alone another person's subscription of the same customer", () => {
    const update = { ...UPDATED, userId: "gone", providerSubscriptionId: null, customerId: "cus" };
    expect(decideFor([subscription()], update)).toEqual({ outcome: "ignored" });
  });

  it("gets no customer id stored again by a late event after the account is deleted", () => {
    const ended = subscription({
      userId: null,
      customerId: null,
      status: "canceled",
      lastEventAtMicros: 9_000,
    });
    const late = { ...UPDATED, userId: "gone", customerId: "cus", occurredAtMicros: 1_000 };
    expect(remaining([late], [ended])).toMatchObject([{ userId: null, customerId: null }]);
  });
});

describe("the plan", () => {
  it("follows the paid price, not the checkout's metadata", () => {
    expect(remaining([{ ...UPDATED, planId: "pro", items: team(9) }])).toMatchObject([
      { planId: "team", seats: 9, priceId: "price_team_monthly" },
    ]);
  });

  it("is read from the item that is a plan, ignoring other items", () => {
    const items = [{ priceIds: ["price_addon"], seats: 40 }, ...team(6)];
    expect(remaining([{ ...UPDATED, items }])).toMatchObject([{ planId: "team", seats: 6 }]);
  });

  it("stays while the price stays; the event fails when the new price is not configured", () => {
    const start = [subscription({ priceId: "price_old" })];
    const priced = (price: string) => ({
      providerSubscriptionId: "sub",
      items: [{ priceIds: [price], seats: 3 }],
    });
    expect(remaining([priced("price_old")], start)).toMatchObject([{ planId: "pro", seats: 3 }]);
    expect(decide("provider-a", event(priced("price_new")), known(start))).toMatchObject({
      outcome: "failed",
    });
    expect(remaining([priced("price_new")], [subscription({ priceId: null })])).toMatchObject([
      { planId: "pro", priceId: "price_new", seats: 3 },
    ]);
  });

  it("stays, and the subscription is flagged, when its price changes to one that no plan has", () => {
    const start = [subscription({ planId: "team", priceId: "price_team_monthly", seats: 9 })];
    const items = [{ priceIds: ["price_legacy"], seats: 4 }];
    const decision = decide("provider-a", event({ ...UPDATED, planId: "pro", items }), known(start));
    expect(decision).toMatchObject({
      outcome: "applied",
      planProblem: { reason: "price_unknown", params: { priceId: "price_legacy", provider: "provider-a" } },
      subscription: { planId: "team", priceId: "price_team_monthly", seats: 4, outOfOrder: true },
    });
  });

  describe("that is no longer sold", () => {
    const items = [
      { priceIds: ["price_addon"], seats: 40 },
      { priceIds: ["price_team_monthly"], seats: 9 },
    ];
    const upgraded = [subscription({ planId: "team", priceId: "price_team_monthly", seats: 8 })];
    const decided = (catalog: PlanCatalog, overrides: Partial<PaymentEvent> = {}) =>
      decide("provider-a", event({ ...UPDATED, items, status: "past_due", ...overrides }), {
        ...known(upgraded),
        plans: catalog,
      });
    const withoutPrices = definePlans(
      plans.plans.map((plan) => (plan.id === "team" ? { ...plan, priceIds: {}, prices: [] } : plan)),
    );
    const withoutPlan = definePlans(plans.plans.filter(({ id }) => id !== "team"));
    const kept = { planId: "team", priceId: "price_team_monthly", seats: 9, status: "past_due" };

    it.each([
      ["without its prices", withoutPrices],
      ["not at all", withoutPlan],
    ])(
      "and is in the file %s, stays while its price stays, whatever plan the checkout's metadata names",
      (_, catalog) => {
        for (const planId of ["pro", "team", null]) {
          expect(decided(catalog, { planId })).toMatchObject({
            outcome: "applied",
            subscription: { ...kept, outOfOrder: false },
          });
        }
      },
    );

    it.each(["free", "team"])(
      "follows metadata where prices are not configured: from %s to pro",
      (planId) => {
        const onlyInB = definePlans(
          plans.plans.map((plan) => ({
            ...plan,
            priceIds: plan.id === "free" ? {} : { "provider-b": `pri_${plan.id}` },
            prices: [],
          })),
        );
        const start = [subscription({ planId, priceId: "price_any" })];
        const moved = event({ ...UPDATED, planId: "pro", items: [{ priceIds: ["price_any"], seats: 1 }] });
        expect(decide("provider-a", moved, { ...known(start), plans: onlyInB })).toMatchObject({
          subscription: { planId: "pro" },
        });
      },
    );

    it("fails the event when the price changes to an unknown one, unless metadata names the plan", () => {
      const changed = [{ priceIds: ["price_new"], seats: 2 }];
      for (const catalog of [withoutPrices, withoutPlan])
        expect(decided(catalog, { planId: null, items: changed })).toMatchObject({
          outcome: "failed",
          failure: { reason: "price_unknown", params: { priceId: "price_new" } },
        });
      expect(decided(withoutPlan, { planId: "pro", items: changed })).toMatchObject({
        subscription: { planId: "pro", priceId: "price_new", seats: 2 },
      });
    });

    it("is given by metadata to a new subscription at an unknown price", () => {
      const items = [{ priceIds: ["price_new"], seats: 2 }];
      expect(remaining([{ ...CREATED, planId: "team", items }])).toMatchObject([
        { planId: "team", priceId: "price_new", seats: 2, outOfOrder: false },
      ]);
    });

    it("is not given by metadata alone at an unknown price where the plan refuses that", () => {
      const strict = definePlans(plans.plans.map((plan) => ({ ...plan, unknownPrices: "refuse" as const })));
      const atUnknown = (start: Subscription[], planId: string) =>
        decide("provider-a", event({ ...UPDATED, planId, items: [{ priceIds: ["price_new"], seats: 2 }] }), {
          ...known(start),
          plans: strict,
        });
      const failure = { reason: "price_unknown", params: { priceId: "price_new" } };
      expect(atUnknown([], "team")).toMatchObject({ outcome: "failed", failure });
      const custom = [subscription({ planId: "pro", priceId: "price_custom" })];
      expect(atUnknown(custom, "team")).toMatchObject({
        subscription: { planId: "pro" },
        planProblem: failure,
      });
      expect(atUnknown(custom, "pro")).toMatchObject({
        subscription: { planId: "pro", seats: 2, outOfOrder: false },
      });
    });

    it("follows a change to the price of another plan", () => {
      const pro = [{ priceIds: ["price_pro_monthly"], seats: 2 }];
      expect(decided(withoutPrices, { planId: "team", items: pro })).toMatchObject({
        subscription: { planId: "pro", seats: 2 },
      });
    });
  });

  it("names the subscription that a failed event concerns", () => {
    const items = [{ priceIds: ["price_legacy"], seats: 4 }];
    const start = [subscription({ priceId: "price_pro_monthly" })];
    expect(decide("provider-a", event({ ...UPDATED, planId: null, items }), known(start))).toMatchObject({
      outcome: "failed",
      subscriptionId: "known",
    });
  });

  it("is not needed to end a known subscription", () => {
    const end = { ...DELETED, planId: "gold", items: [{ priceIds: ["price_new"], seats: 1 }] };
    expect(remaining([end], [subscription({ priceId: "price_old" })])).toMatchObject([
      { planId: "pro", status: "canceled" },
    ]);
    expect(decideFor([], end)).toMatchObject({ outcome: "failed", failure: { reason: "plan_unknown" } });
  });

  it("stays when the subscription ends at a price that no plan has", () => {
    const changed = [subscription({ planId: "team", priceId: "price_team_monthly" })];
    const items = [{ priceIds: ["price_legacy"], seats: 4 }];
    for (const planId of ["pro", "gold", null])
      expect(remaining([{ ...DELETED, planId, items }], changed)).toMatchObject([
        { planId: "team", priceId: "price_team_monthly", status: "canceled", outOfOrder: false },
      ]);
  });

  it("is the one that metadata names where the event names no price", () => {
    const start = [subscription({ planId: "team", priceId: "price_team_monthly" })];
    expect(remaining([{ ...UPDATED, planId: "pro" }], start)).toMatchObject([
      { planId: "pro", priceId: "price_team_monthly", outOfOrder: false },
    ]);
  });
});

describe("events out of order", () => {
  const at = (occurredAtMicros: number | null, overrides: Partial<PaymentEvent>) => ({
    ...UPDATED,
    ...overrides,
    occurredAtMicros,
  });

  it("are applied and flag the subscription when they change something", () => {
    expect(remaining([at(20, { items: team(8) }), at(10, { items: team(6) })])).toMatchObject([
      { seats: 6, outOfOrder: true, lastEventAtMicros: 20 },
    ]);
  });

  const period = { currentPeriodEnd: new Date("2026-12-01T00:00:00Z") };
  it.each<[string, Partial<PaymentEvent>]>([
    ["user", { userId: "bob" }],
    ["plan", { planId: "team" }],
    ["seats", { items: [{ priceIds: [], seats: 6 }] }],
    ["status", { status: "past_due" }],
    ["period", { currentPeriodEnd: new Date("2026-11-01T00:00:00Z") }],
    ["cancellation", { cancelAtPeriodEnd: true }],
  ])("flag it when they change only the %s", (_, change) => {
    const newest = { ...period, status: "active", cancelAtPeriodEnd: false } as const;
    expect(remaining([at(20, newest), at(10, change)])).toMatchObject([{ outOfOrder: true }]);
  });

  it("do not flag it when they name the user of a subscription that had none", () => {
    const nobodys = [subscription({ userId: null, lastEventAtMicros: 20 })];
    expect(remaining([at(10, {})], nobodys)).toMatchObject([{ userId: "ann", outOfOrder: false }]);
  });

  it.each([
    [10, true],
    [20, false],
    [30, false],
    [null, false],
  ])("are late when the newest one, at 20, is newer: at %s, %s", (time, isLate) => {
    const newest = [subscription({ lastEventAtMicros: 20 })];
    expect(decideFor(newest, at(time, { status: "past_due" }))).toMatchObject({ isLate });
  });

  it("do not flag it when they change nothing", () => {
    expect(remaining([at(20, { items: team(8) }), at(10, { items: team(8) })])).toMatchObject([
      { outOfOrder: false },
    ]);
  });

  it("do not include events without a time", () => {
    expect(remaining([at(20, { items: team(8) }), at(null, { items: team(6) })])).toMatchObject([
      { seats: 6, outOfOrder: false, lastEventAtMicros: 20 },
    ]);
  });

  it("leave a flag that newer events do not clear, only a comparison with the provider", () => {
    const events = [at(20, { items: team(8) }), at(10, { items: team(6) }), at(30, { items: team(9) })];
    expect(remaining(events)).toMatchObject([{ seats: 9, outOfOrder: true, lastEventAtMicros: 30 }]);
  });
});

describe("events of one moment", () => {
  const MOMENT = 20;
  const KINDS = [CREATED, CHECKOUT, UPDATED, DELETED].map(({ kind }) => kind);
  const STATUS = { [CREATED.kind]: "incomplete", [UPDATED.kind]: "past_due" } as const;
  const of = (kind: (typeof KINDS)[number], seats: number): Partial<PaymentEvent> => ({
    ...ids,
    kind,
    occurredAtMicros: MOMENT,
    items: team(seats),
    status: STATUS[kind as keyof typeof STATUS] ?? null,
  });
  const pairs = KINDS.flatMap((first, rank) =>
    KINDS.map((second, otherRank) => ({ first, second, rank, otherRank })),
  );

  it.each(pairs.filter(({ rank, otherRank }) => otherRank > rank))(
    "are in order when $second follows $first, and flag nothing",
    ({ first, second }) => {
      expect(remaining([of(first, 5), of(second, 6)])).toMatchObject([{ seats: 6, outOfOrder: false }]);
    },
  );

  it.each(pairs.filter(({ rank, otherRank, first }) => otherRank < rank && first !== DELETED.kind))(
    "are applied and flagged when $second follows $first",
    ({ first, second }) => {
      expect(remaining([of(first, 5), of(second, 6)])).toMatchObject([{ seats: 6, outOfOrder: true }]);
    },
  );

  it.each(KINDS.filter((kind) => kind !== DELETED.kind))(
    "flag a second %s only when it changes a field",
    (kind) => {
      expect(remaining([of(kind, 5), of(kind, 5)])).toMatchObject([{ seats: 5, outOfOrder: false }]);
      expect(remaining([of(kind, 5), of(kind, 6)])).toMatchObject([{ seats: 6, outOfOrder: true }]);
    },
  );

  it("keep the highest rank, which a third event is compared with", () => {
    const [subscription] = remaining([of(UPDATED.kind, 5), of(CREATED.kind, 5)]);
    expect(subscription).toMatchObject({ outOfOrder: true, lastEventRank: 3 });
    expect(remaining([of(CREATED.kind, 5), of(UPDATED.kind, 5)])).toMatchObject([{ lastEventRank: 3 }]);
  });

  it("are not compared with the rank of an earlier moment", () => {
    const earlier = { ...of(UPDATED.kind, 5), occurredAtMicros: MOMENT - 1 };
    const [subscription] = remaining([earlier, of(CREATED.kind, 5), of(CHECKOUT.kind, 6)]);
    expect(subscription).toMatchObject({ seats: 6, lastEventRank: 2, outOfOrder: false });
  });

  it("are flagged when they change what an event of an unknown rank has stored", () => {
    const unranked = [subscription({ lastEventAtMicros: MOMENT, lastEventRank: null })];
    expect(remaining([of(UPDATED.kind, 5)], unranked)).toMatchObject([{ seats: 5, outOfOrder: true }]);
  });

  it("do not flag an event that only fills in an id", () => {
    const first = { ...of(UPDATED.kind, 5), customerId: null };
    expect(remaining([first, { ...first, customerId: "cus" }])).toMatchObject([
      { customerId: "cus", outOfOrder: false },
    ]);
  });
});

describe("after a terminal status", () => {
  const ended = (overrides: Partial<Subscription> = {}) => [
    subscription({ status: "canceled", lastEventAtMicros: 9_000, lastEventRank: 4, ...overrides }),
  ];

  it.each([
    ["an older update", { ...UPDATED, status: "active" as const, occurredAtMicros: 1_000 }],
    [
      "an older update of another customer",
      { ...UPDATED, status: "active" as const, customerId: "cus2", occurredAtMicros: 1_000 },
    ],
    ["another end of the same moment", { ...DELETED, items: team(7), occurredAtMicros: 9_000 }],
    ["an update of the same moment", { ...UPDATED, status: "active" as const, occurredAtMicros: 9_000 }],
    ["an older created", { ...CREATED, status: "active" as const, occurredAtMicros: 1_000 }],
    ["an older checkout", { ...CHECKOUT, occurredAtMicros: 1_000 }],
    ["an older event with an unknown plan", { ...UPDATED, planId: "gold", occurredAtMicros: 1_000 }],
  ])("%s changes nothing but flags the subscription", (_, late) => {
    expect(remaining([late], ended())).toEqual([{ ...ended()[0], outOfOrder: true }]);
  });

  it("does not flag it for an older event that would change nothing, nor take a flag away", () => {
    for (const outOfOrder of [false, true])
      expect(remaining([{ ...DELETED, occurredAtMicros: 1_000 }], ended({ outOfOrder }))).toEqual(
        ended({ outOfOrder }),
      );
  });

  it("reports an older event as late", () => {
    expect(decideFor(ended(), { ...UPDATED, occurredAtMicros: 1_000 })).toMatchObject({ isLate: true });
  });

  it("fills in missing ids from an older event", () => {
    const late = { ...DELETED, customerId: "cus_late", occurredAtMicros: 1_000 };
    expect(remaining([late], ended({ customerId: null, providerSubscriptionId: null }))).toMatchObject([
      { customerId: "cus_late", providerSubscriptionId: "sub", outOfOrder: false },
    ]);
  });

  it.each([10_000, null])("applies a newer event (at %s)", (occurredAtMicros) => {
    expect(remaining([{ ...UPDATED, status: "active", occurredAtMicros }], ended())).toMatchObject([
      { status: "active", outOfOrder: false },
    ]);
  });

  it("tells which newer checkout makes an ended subscription active: its payment may be all that is newer", () => {
    const revivedBy = (changes: Partial<PaymentEvent>, status: Subscription["status"] = "canceled") => {
      const decision = decideFor(ended({ status }), { occurredAtMicros: 10_000, ...changes });
      return decision.outcome === "applied" && decision.isRevived;
    };
    expect(revivedBy(CHECKOUT)).toBe(true);
    expect(revivedBy({ ...CHECKOUT, occurredAtMicros: 1_000 })).toBe(undefined);
    expect(revivedBy(CHECKOUT, "past_due")).toBe(undefined);
    expect(revivedBy({ ...UPDATED, status: "active" })).toBe(undefined);
  });
});

describe("after a comparison with the provider", () => {
  const compared = [subscription({ lastEventAtMicros: 1_000, comparedAtMicros: 5_000 })];

  it("treats an earlier event as late, although it is the newest event", () => {
    const late = { ...UPDATED, status: "past_due" as const, occurredAtMicros: 4_000 };
    expect(remaining([late], compared)).toMatchObject([{ status: "past_due", outOfOrder: true }]);
  });

  it.each([5_000, 6_000])("does not treat a later event as late (at %s)", (occurredAtMicros) => {
    const next = { ...UPDATED, status: "past_due" as const, occurredAtMicros };
    expect(remaining([next], compared)).toMatchObject([{ status: "past_due", outOfOrder: false }]);
  });

  it("keeps a grace period's start when an event from before the comparison ends it, though newer than the last event", () => {
    const failing = compared.map((known) => ({
      ...known,
      status: "past_due" as const,
      pastDueSinceMicros: 900,
    }));
    const late = { ...UPDATED, status: "active" as const, occurredAtMicros: 4_000 };
    expect(remaining([late], failing)).toMatchObject([{ status: "active", pastDueSinceMicros: 900 }]);
  });
});

describe("the customer of an email address that the payer typed", () => {
  const typed = { ...UPDATED, userId: "ann", customerId: "cus_typed", customerEmail: "Ann@Example.com " };
  const decided = (
    overrides: Partial<PaymentEvent>,
    before: Partial<Subscription>,
    confirmed: string | null,
  ) => {
    const context = { ...known([subscription(before)]), confirmedEmail: () => confirmed };
    const decision = decide("provider-a", event({ ...typed, ...overrides }), context);
    return decision.outcome === "applied" ? decision.subscription.customerId : decision;
  };

  it("is stored when the user has confirmed the address", () => {
    expect(decided({}, { customerId: null }, "ann@example.com")).toBe("cus_typed");
    expect(decided({}, {}, "ann@example.com")).toBe("cus_typed");
  });

  it.each([null, "bob@example.com"])("is not stored when the confirmed address is %s", (confirmed) => {
    expect(decided({}, { customerId: null }, confirmed)).toBeNull();
    expect(decided({}, { customerId: "cus_own" }, confirmed)).toBe("cus_own");
  });

  it("is dropped where it was stored before, also after the end", () => {
    expect(decided({}, { customerId: "cus_typed" }, null)).toBeNull();
    const ended = { customerId: "cus_typed", status: "canceled", lastEventAtMicros: 1e15 } as const;
    expect(decided({ occurredAtMicros: 1 }, ended, null)).toBeNull();
  });

  it("is kept while the subscription has no id, to find that at the provider", () => {
    const nameless = { providerSubscriptionId: null, customerId: "cus_typed" };
    expect(decided({ providerSubscriptionId: null }, nameless, null)).toBe("cus_typed");
    expect(decided({}, nameless, null)).toBeNull();
    expect(decided({ providerSubscriptionId: null }, { customerId: "cus_typed" }, null)).toBeNull();
  });
});

describe("a checkout of a single payment", () => {
  const oneTime = { ...CHECKOUT, providerSubscriptionId: null, isOneTime: true as const };

  it.each([null, "gold"])("is ignored with the plan %s", (planId) => {
    const decision = decide("provider-a", event({ ...oneTime, planId }), known([subscription()]));
    expect(decision).toEqual({ outcome: "ignored" });
  });

  it("activates a subscription when it is for one of our plans", () => {
    expect(remaining([oneTime])).toMatchObject([{ planId: "pro", status: "active" }]);
  });

  it.each(["past_due", "unpaid", "paused", "canceled"] as const)(
    "does not change a %s subscription",
    (status) => {
      expect(remaining([oneTime], [subscription({ status })])).toMatchObject([
        { id: "known", status, outOfOrder: false },
        { status: "active", providerSubscriptionId: null },
      ]);
    },
  );

  it("is one when it comes twice, free of charge and at the price of another plan than it names", () => {
    expect(remaining([oneTime, oneTime].map((event) => ({ ...event, items: team(5) })))).toMatchObject([
      { planId: "team", seats: 5 },
    ]);
  });

  it("stays as it is when the person subscribes, and when that subscription ends", () => {
    const purchase = { planId: "pro", status: "active", providerSubscriptionId: null, isOneTime: true };
    expect(remaining([oneTime, CREATED, DELETED])).toMatchObject([
      purchase,
      { providerSubscriptionId: "sub", status: "canceled", isOneTime: false },
    ]);
    const subscribed = [
      { ...CHECKOUT, providerSubscriptionId: null, planId: "team" },
      { ...CREATED, planId: "team" },
    ];
    expect(remaining([oneTime, ...subscribed])).toMatchObject([
      purchase,
      { providerSubscriptionId: "sub", planId: "team", status: "active", isOneTime: false },
    ]);
  });

  it.each([
    { kind: "customer.subscription.updated", status: "past_due" },
    { kind: "customer.subscription.deleted" },
  ] as const)("is not meant by an event of a subscription that names no id: %j", (event) => {
    const changed = remaining([oneTime, { ...event, userId: "ann", planId: "pro" }]);
    expect(changed).toMatchObject([{ status: "active", isOneTime: true }, { isOneTime: false }]);
  });

  it("leaves a subscription alone whose own id is still missing", () => {
    const subscribed = { ...CHECKOUT, providerSubscriptionId: null, planId: "team" };
    expect(remaining([subscribed, oneTime, { ...CREATED, planId: "team" }])).toMatchObject([
      { planId: "pro", providerSubscriptionId: null, isOneTime: true },
      { planId: "team", providerSubscriptionId: "sub", isOneTime: false },
    ]);
  });

  const charge = { state: "paid", amount: 900, currency: "EUR", refundedAmount: null } as const;
  const noTimes = { periodStart: null, periodEnd: null, occurredAt: null, receiptUrl: null };
  const paid = (id: string) => ({
    ...oneTime,
    payment: { charge: { id, ...charge, ...noTimes }, names: [id], reversal: null },
  });

  it.each([
    ["was made at another time", HOUR_MICROS, 2 * HOUR_MICROS],
    ["is of an unknown time", null, null],
  ])("leaves a purchase from before payments were stored alone that %s", (_, madeAt, occurredAtMicros) => {
    const earlier = { providerSubscriptionId: null, isOneTime: true, lastEventAtMicros: madeAt };
    expect(remaining([{ ...paid("pi_1"), occurredAtMicros }], [subscription(earlier)])).toMatchObject([
      { id: "known", paymentId: null },
      { paymentId: "pi_1" },
    ]);
  });

  it("is found again by its event, and stored with its payment, if it is from before payments were stored", () => {
    const earlier = { providerSubscriptionId: null, isOneTime: true, lastEventAtMicros: HOUR_MICROS };
    const replayed = { ...paid("pi_1"), occurredAtMicros: HOUR_MICROS };
    expect(remaining([replayed], [subscription(earlier)])).toMatchObject([
      { id: "known", paymentId: "pi_1" },
    ]);
  });

  it("leaves a purchase with another payment alone, free of charge or paid in the same second", () => {
    const other = { providerSubscriptionId: null, isOneTime: true, paymentId: "pi_0" };
    const known = subscription({ ...other, lastEventAtMicros: HOUR_MICROS });
    for (const bought of [oneTime, { ...paid("pi_1"), occurredAtMicros: HOUR_MICROS }])
      expect(remaining([bought], [known])).toMatchObject([
        { id: "known", paymentId: "pi_0" },
        { id: "new 1" },
      ]);
  });

  it("is a purchase of its own by its payment, and free of charge by its plan", () => {
    const team = { ...oneTime, planId: "team" };
    expect(remaining([oneTime, paid("pi_1"), paid("pi_2"), team, oneTime, paid("pi_1"), team])).toMatchObject(
      [
        { planId: "pro", paymentId: "pi_2" },
        { planId: "pro", paymentId: null },
        { planId: "pro", paymentId: "pi_1" },
        { planId: "team", paymentId: null },
      ],
    );
  });
});
