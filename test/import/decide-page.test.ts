import { describe, expect, it } from "vitest";
import plans from "../../plans.config.ts";
import type { PaymentEvent } from "../../src/domain/events/payment-event.ts";
import type { Subscription } from "../../src/domain/subscriptions/subscription.ts";
import { decidePage } from "../../src/import/decide-page.ts";
import type { SubscriptionRow } from "../../src/import/subscription-row.ts";

/** When the source was read. */
const READ_AT = 100_000_000;
const SECOND = 1_000_000;

/** A subscription that is known here, of which no event has told. */
const known = (overrides: Partial<Subscription> = {}): Subscription => ({
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
});

function row(state: Partial<PaymentEvent> = {}, rest: Partial<SubscriptionRow> = {}): SubscriptionRow {
  const providerSubscriptionId =
    state.providerSubscriptionId === undefined ? "sub" : state.providerSubscriptionId;
  return {
    providerSubscriptionId,
    state: {
      kind: "customer.subscription.updated",
      occurredAtMicros: null,
      userId: "ann",
      planId: "pro",
      customerId: "cus",
      items: [],
      status: "active",
      currentPeriodEnd: null,
      cancelAtPeriodEnd: false,
      ...state,
      providerSubscriptionId,
    },
    problem: null,
    email: null,
    readAtMicros: READ_AT,
    ...rest,
  };
}

function decided(rows: SubscriptionRow[], locked: Subscription[] = []) {
  return decidePage("provider-a", rows, {
    locked,
    plans,
    users: {
      states: new Map([
        ["ann", "present"],
        ["bob", "present"],
        ["gone", "deleted"],
      ]),
      confirmedEmails: new Map([["ann", "ann@example.com"]]),
      userOf: ({ state }) => state?.userId ?? null,
    },
  });
}

const report = (created: number, updated: number, skipped: number) => ({
  created,
  updated,
  skipped,
  unmatched: [],
});

describe("a subscription that is not known", () => {
  it("is created as of when the source was read", () => {
    const page = decided([row()]);
    expect(page).toMatchObject({
      report: report(1, 0, 0),
      created: [{ userId: "ann", providerSubscriptionId: "sub", comparedAtMicros: READ_AT }],
      updated: [],
      notifications: [{ kind: "subscription_activated" }],
      subscriptionChanges: [{ before: null, type: "subscription.started" }],
    });
    expect(page.changes).toMatchObject([{ subscriptionId: page.created[0]?.id }]);
    expect(page.created[0]?.lastNotified).toEqual({ state: "active", planId: "pro" });
  });

  it("is its own user's, whoever has another one of that customer", () => {
    const page = decided([row({ providerSubscriptionId: "sub2", userId: "bob" })], [known()]);
    expect(page.created).toMatchObject([{ userId: "bob", providerSubscriptionId: "sub2" }]);
    expect(page.updated).toEqual([]);
  });

  it("is created once, in its last state, where the source has it twice", () => {
    const page = decided([row(), row({ status: "past_due" }, { readAtMicros: READ_AT + 1 })]);
    expect(page.report).toEqual(report(1, 1, 0));
    expect(page.created).toMatchObject([{ status: "past_due" }]);
    expect(page.updated).toEqual([]);
  });

  it("has the customer of an address only where its user has confirmed that", () => {
    for (const [customerEmail, customerId] of [
      ["ann@example.com", "cus"],
      ["bob@example.com", null],
    ] as const)
      expect(decided([row({ customerEmail })]).created).toMatchObject([{ customerId }]);
  });

  it.each<[string, SubscriptionRow, string]>([
    ["cannot be read", row({}, { state: null, problem: "items: expected" }), "items: expected"],
    ["has no id", row({ providerSubscriptionId: null }), "it has no subscription id"],
    ["has no user", row({ userId: null }), "user: the event does not name one"],
    ["is an unknown user's", row({ userId: "eve" }), 'user: there is no user "eve"'],
    ["is a deleted user's", row({ userId: "gone" }), "user: the account was deleted"],
    ["has an unknown plan", row({ planId: "gold" }), 'plan: there is no plan "gold"'],
  ])("is left out where it %s", (_, row, reason) => {
    const page = decided([row]);
    expect(page.created).toEqual([]);
    expect(page.report).toMatchObject({
      ...report(0, 0, 0),
      unmatched: [
        {
          providerSubscriptionId: row.providerSubscriptionId,
          customerId: row.state?.customerId ?? null,
          userId: row.state?.userId ?? null,
          reason: expect.stringContaining(reason),
        },
      ],
    });
  });
});

describe("a known subscription", () => {
  it("is updated, and keeps its user whoever the source names", () => {
    for (const userId of ["bob", "eve", null]) {
      const page = decided([row({ userId, status: "past_due" })], [known()]);
      expect(page.report).toEqual(report(0, 1, 0));
      expect(page.updated).toMatchObject([{ id: "known", userId: "ann", status: "past_due" }]);
    }
  });

  it("notifies its user of what has changed since the last time", () => {
    const notified = known({ lastNotified: { state: "active", planId: "pro" } });
    const { notifications } = decided([row({ status: "past_due" })], [notified]);
    expect(notifications).toMatchObject([{ userId: "ann", kind: "subscription_past_due" }]);
  });

  it("is skipped where it is the same, and updated for a price or a customer alone", () => {
    const stored = [known({ priceId: "price_pro_monthly" })];
    const items = [{ priceIds: ["price_pro_monthly"], seats: 1 }];
    expect(decided([row({ items })], stored)).toMatchObject({
      report: report(0, 0, 1),
      updated: [],
      contested: [],
    });
    const yearly = [{ priceIds: ["price_pro_yearly"], seats: 1 }];
    expect(decided([row({ items: yearly })], stored).report).toEqual(report(0, 1, 0));
    expect(decided([row({ items, customerId: "cus2" })], stored).report).toEqual(report(0, 1, 0));
  });

  it("is another one in another slot", () => {
    const other = known({ provider: "provider-b" });
    expect(decided([row()], [other]).report).toEqual(report(1, 0, 0));
  });

  it.each<[string, boolean, Partial<Subscription>, number | null]>([
    ["an event two seconds earlier", false, { lastEventAtMicros: READ_AT - 2 * SECOND }, READ_AT],
    [
      "an event less than two seconds earlier",
      true,
      { lastEventAtMicros: READ_AT - 2 * SECOND + 1 },
      READ_AT,
    ],
    ["a comparison at that time", false, { comparedAtMicros: READ_AT }, READ_AT],
    ["a later comparison", true, { comparedAtMicros: READ_AT + 1 }, READ_AT],
    ["nothing, if the source has no times", false, {}, null],
    ["an event, if the source has no times", true, { lastEventAtMicros: 1 }, null],
    ["a comparison, if the source has no times", true, { comparedAtMicros: 1 }, null],
  ])("is contested by %s: %s", (_, isContested, seen, readAtMicros) => {
    const stored = [known(seen)];
    const page = decided([row({ status: "past_due" }, { readAtMicros })], stored);
    expect(page.contested).toEqual(isContested ? ["known"] : []);
    expect(page.report).toEqual(isContested ? report(0, 0, 1) : report(0, 1, 0));
  });
});
