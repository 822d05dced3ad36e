import { describe, expect, it, vi } from "vitest";
import plans from "../../../plans.config.ts";
import type { PaymentEvent } from "../../../src/domain/events/payment-event.ts";
import type { PaymentReport } from "../../../src/domain/payments/payment.ts";
import type { Subscription } from "../../../src/domain/subscriptions/subscription.ts";
import { decideGroup } from "../../../src/intake/groups/decide-group.ts";
import type { ReadEvent } from "../../../src/intake/read-event.ts";
import { IGNORED } from "../../../src/providers/webhook/event-kinds.ts";

const PAYMENT: PaymentReport = { charge: null, names: ["payment"], reversal: null };

/** Ann's, active, and locked by the group. */
function subscription(overrides: Partial<Subscription> = {}): Subscription {
  return {
    id: "known",
    userId: "ann",
    provider: "provider-a",
    providerSubscriptionId: "sub",
    isOneTime: false,
    paymentId: null,
    customerId: "cus",
    priceId: null,
    planId: "pro",
    seats: 1,
    status: "active",
    currentPeriodEnd: null,
    cancelAtPeriodEnd: false,
    pausesAtPeriodEnd: false,
    outOfOrder: false,
    lastEventAtMicros: null,
    lastEventRank: null,
    comparedAtMicros: null,
    pastDueSinceMicros: null,
    lastNotified: null,
    ...overrides,
  };
}

const read = (overrides: Partial<PaymentEvent>): ReadEvent["reading"] => ({
  event: { ...IGNORED, kind: "customer.subscription.updated", ...overrides },
});

function decided(
  readings: readonly ReadEvent["reading"][],
  { subscriptions = [] as Subscription[], isPaymentOfDeleted = false } = {},
) {
  const log = { error: vi.fn(), warn: vi.fn() };
  const events = readings.map((reading, n) => ({
    slot: "provider-a" as const,
    reading,
    claim: { eventId: `evt_${n}` },
  }));
  const users = new Map([
    ["ann", "present"],
    ["gone", "deleted"],
  ] as const);
  const group = decideGroup({ plans, log }, events, {
    subscriptions,
    users,
    confirmedEmails: new Map([["ann", "ann@example.com"]]),
    isPaymentOfDeleted: () => isPaymentOfDeleted,
  });
  return { ...group, logged: log.error.mock.calls.length };
}

describe("the person of a payment", () => {
  const left = subscription({ userId: null, customerId: null });
  const unnamed = subscription({ id: "unnamed", userId: null, providerSubscriptionId: null });
  it.each<[string, boolean, Partial<PaymentEvent>, Subscription[]]>([
    ["its subscription's, who is present", false, { providerSubscriptionId: "sub" }, [subscription()]],
    ["its subscription's, who is gone", true, { providerSubscriptionId: "sub" }, [left]],
    [
      "its subscription's, even if it names somebody who is gone",
      false,
      { providerSubscriptionId: "sub", userId: "gone" },
      [subscription()],
    ],
    ["the one it names, who is present", false, { userId: "ann" }, []],
    ["the one it names, who is gone", true, { userId: "gone" }, []],
    ["the one it names, who has never been", false, { userId: "eve" }, []],
    [
      "the one it names for a subscription that is not known",
      true,
      { providerSubscriptionId: "new", userId: "gone" },
      [left],
    ],
    [
      "the one it names for a subscription that is not known, whoever's another one of that customer is",
      true,
      { providerSubscriptionId: "new", userId: "gone", customerId: "cus" },
      [subscription()],
    ],
    ["nobody's, whoever has left a subscription without an id", false, { customerId: "cus" }, [unnamed]],
    ["not known, and so not gone", false, {}, []],
  ])("is %s: gone %s", (_, isPersonGone, names, subscriptions) => {
    const { decisions, payments } = decided([read({ kind: "payment", payment: PAYMENT, ...names })], {
      subscriptions,
    });
    expect(decisions).toEqual([{ outcome: "recorded", isPersonGone }]);
    expect(payments).toMatchObject([{ eventId: "evt_0", isPersonGone }]);
  });

  it("is gone where the payment that it takes back is a deleted account's", () => {
    const { decisions, payments } = decided([read({ kind: "payment", payment: PAYMENT })], {
      isPaymentOfDeleted: true,
    });
    expect(decisions).toEqual([{ outcome: "recorded", isPersonGone: true }]);
    expect(payments).toMatchObject([{ isPersonGone: true }]);
  });
});

describe("a payment that a subscription event reports", () => {
  const paid = { payment: PAYMENT, providerSubscriptionId: "sub", planId: "pro" };

  it("is its subscription's person's", () => {
    const { payments } = decided([read({ ...paid, userId: "ann" })]);
    expect(payments).toMatchObject([{ userId: "ann", providerSubscriptionId: "sub", isPersonGone: false }]);
  });

  it("is stored without the person of a subscription that a deleted account has left", () => {
    const subscriptions = [subscription({ userId: null, customerId: null })];
    const { decisions, payments } = decided([read({ ...paid, userId: "gone" })], { subscriptions });
    expect(decisions).toMatchObject([{ outcome: "applied" }]);
    expect(payments).toMatchObject([{ isPersonGone: true }]);
  });

  it("is stored without a person where the event is ignored", () => {
    const { decisions, payments } = decided([read({ ...paid, userId: "gone" })]);
    expect(decisions).toEqual([{ outcome: "ignored" }]);
    expect(payments).toMatchObject([{ isPersonGone: true }]);
  });

  it("is not stored where the event fails, which is retried with all its effects", () => {
    const { decisions, payments } = decided([read({ ...paid, userId: "eve" })]);
    expect(decisions).toMatchObject([{ outcome: "failed", failure: { reason: "user_not_found" } }]);
    expect(payments).toEqual([]);
  });
});

describe("the events of a group", () => {
  const ids = { userId: "ann", planId: "team", providerSubscriptionId: "sub" };
  const seats = (count: number) => [{ priceIds: ["price_team_monthly"], seats: count }];

  it("are decided on the result of those before them", () => {
    const { decisions, changed } = decided([
      read({ ...ids, kind: "customer.subscription.created", status: "active", items: seats(5) }),
      read({ ...ids, items: seats(7) }),
    ]);
    expect(decisions).toMatchObject([
      { subscription: { seats: 5 } },
      { subscription: { seats: 7, status: "active" } },
    ]);
    expect(changed.map((change) => change?.changes)).toMatchObject([{ seats: [null, 5] }, { seats: [5, 7] }]);
  });

  it.each([{ userId: "ann" }, { customerId: "cus" }])("concern the subscription of %j", (names) => {
    const { decisions } = decided([read({ ...names, status: "past_due" })], {
      subscriptions: [subscription()],
    });
    expect(decisions).toMatchObject([{ subscription: { id: "known", status: "past_due" } }]);
  });

  it.each([
    ["ann@example.com", "cus"],
    ["eve@example.com", null],
  ])("name their customer by the address %s: %s is stored", (customerEmail, customerId) => {
    const { decisions } = decided([
      read({ ...ids, kind: "customer.subscription.created", customerId: "cus", customerEmail }),
    ]);
    expect(decisions).toMatchObject([{ subscription: { customerId } }]);
  });

  it("fail alone where they cannot be read, or meet a defect", () => {
    const failure = { reason: "payload_dropped" as const };
    const defective = { event: null as unknown as PaymentEvent };
    const { decisions, changed, logged } = decided([
      { failure },
      defective,
      read({ ...ids, items: seats(5) }),
    ]);
    expect(decisions).toMatchObject([
      { outcome: "failed", failure },
      { outcome: "failed", failure: { reason: "defect" } },
      { outcome: "applied" },
    ]);
    expect(changed).toMatchObject([null, null, {}]);
    expect(logged).toBe(1);
  });
});
