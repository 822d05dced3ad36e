import { beforeEach, expect, it } from "vitest";
import type { PaymentReport } from "../../../src/domain/payments/payment.ts";
import { settleComparedPayment } from "../../../src/store/payments/correct-payment.ts";
import { recordPayments } from "../../../src/store/payments/record-payments.ts";
import type { ReportedPayment } from "../../../src/store/payments/reported-payment.ts";
import { inTransaction } from "../../../src/store/transaction.ts";
import { eventually } from "../../support/eventually.ts";
import { createSubscription } from "../../support/subscriptions.ts";
import { testDatabase } from "../../support/test-database.ts";

const LIMITS = {
  synchronousCommit: "on",
  lockTimeoutMs: 60_000,
  statementTimeoutMs: 60_000,
  idleTimeoutMs: 60_000,
} as const;

const test = testDatabase(1);
beforeEach(async () => {
  for (const table of ["payment", "payment_name", "payment_reversal"])
    await test.rows(`delete from ${table}`);
});

/** As Stripe reports it: three events that share no name in pairs. */
const LINK: PaymentReport = { names: ["in_1", "pi_1"], charge: null, reversal: null };
const CHARGE: PaymentReport = {
  names: [],
  charge: {
    id: "in_1",
    amount: 1900,
    currency: "EUR",
    state: "paid",
    refundedAmount: null,
    periodStart: null,
    periodEnd: null,
    receiptUrl: null,
    occurredAt: null,
  },
  reversal: null,
};
const REFUND: PaymentReport = {
  names: [],
  charge: null,
  reversal: { id: "re_1", of: "pi_1", kind: "refund", amount: 500 },
};

/** Reports a payment in a transaction that commits after `meanwhile`. */
function record(
  report: PaymentReport,
  meanwhile: () => Promise<void> = async () => {},
  changes: Partial<ReportedPayment> = {},
): Promise<void> {
  const reported: ReportedPayment = {
    provider: "provider-a",
    report,
    eventId: null,
    occurredAtMicros: 1,
    providerSubscriptionId: "sub",
    userId: "user_0",
    isPersonGone: false,
    ...changes,
  };
  return inTransaction(test.database, LIMITS, async (transaction) => {
    await recordPayments(transaction, [reported]);
    await meanwhile();
    await transaction.commitAfter([]);
  });
}

const isWaiting = async () =>
  (
    await test.rows(
      `select from pg_locks join pg_stat_activity using (pid)
       where datname = current_database() and not granted and locktype in ('transactionid', 'tuple', 'advisory')`,
    )
  ).length > 0;

it.each([
  ["a refund beside its charge", [LINK], CHARGE, REFUND],
  ["a charge beside its refund", [LINK], REFUND, CHARGE],
  ["the link of both beside the refund", [CHARGE], REFUND, LINK],
  ["a refund beside the link of both", [CHARGE], LINK, REFUND],
  ["the link of both beside the charge", [REFUND], CHARGE, LINK],
  ["a charge beside the link of both", [REFUND], LINK, CHARGE],
])("counts %s in concurrent transactions", async (_, before, first, second) => {
  for (const report of before) await record(report);
  let concurrent: Promise<void> | undefined;
  await record(first, async () => {
    let isDone = false;
    concurrent = record(second).finally(() => {
      isDone = true;
    });
    await eventually(async () => isDone || (await isWaiting()), true);
  });
  await concurrent;
  expect(await test.rows("select amount, status from payment")).toEqual([
    { amount: "1900", status: "partly_refunded" },
  ]);
});

it("emits the access that is left when two payments of a subscription change in concurrent transactions", async () => {
  await createSubscription(test, "user_0", { provider_subscription_id: "sub" });
  await record(CHARGE);
  const refund: PaymentReport = {
    ...REFUND,
    reversal: { id: "re_2", of: "in_1", kind: "refund", amount: 1900 },
  };
  const renewal: PaymentReport = { ...CHARGE, charge: CHARGE.charge && { ...CHARGE.charge, id: "in_2" } };
  let concurrent: Promise<void> | undefined;
  await record(refund, async () => {
    let isDone = false;
    concurrent = record(renewal, undefined, { occurredAtMicros: 2_000_000 }).finally(() => {
      isDone = true;
    });
    await eventually(async () => isDone || (await isWaiting()), true);
  });
  await concurrent;
  const emitted = await test.rows(
    `select data -> 'change' -> 'reversals' -> 0 ->> 'after' as after from outbound_event
     where type = 'entitlements.changed' order by seq`,
  );
  expect(emitted).toEqual([{ after: "refunded" }, { after: null }]);
});

it("counts a refund for its own payment alone", async () => {
  const others = [
    { provider: "provider-a", invoice: "in_2", intent: "pi_2" },
    { provider: "provider-b", invoice: "in_1", intent: "pi_1" },
  ] as const;
  const recordOthers = async () => {
    for (const { provider, invoice, intent } of others) {
      const charge = CHARGE.charge && { ...CHARGE.charge, id: invoice };
      await record({ ...CHARGE, charge }, undefined, { provider });
      await record({ ...LINK, names: [invoice, intent] }, undefined, { provider });
    }
  };
  await recordOthers();
  for (const report of [CHARGE, LINK, REFUND]) await record(report);
  // What is reported again is settled again.
  await recordOthers();
  expect(
    await test.rows("select provider, provider_payment_id as id, status from payment order by 1, 2"),
  ).toEqual([
    { provider: "provider-a", id: "in_1", status: "partly_refunded" },
    { provider: "provider-a", id: "in_2", status: "paid" },
    { provider: "provider-b", id: "in_1", status: "paid" },
  ]);
});

it.each<[string, PaymentState, PaymentState, PaymentState]>([
  ["paid, then failed earlier", ["paid", 2], ["failed", 1], ["paid", 2]],
  ["failed, then paid earlier", ["failed", 2], ["paid", 1], ["failed", 2]],
  ["failed, then paid later", ["failed", 1], ["paid", 2], ["paid", 2]],
  ["paid, then failed later", ["paid", 1], ["failed", 2], ["failed", 2]],
  // Of two events at the same time the paid one counts.
  ["failed, then paid at the same time", ["failed", 1], ["paid", 1], ["paid", 1]],
  ["paid, then failed at the same time", ["paid", 1], ["failed", 1], ["paid", 1]],
  ["failed, then failed at the same time", ["failed", 1], ["failed", 1], ["failed", 1]],
  // Nothing says that an event without a time is older.
  ["paid, then failed at an unknown time", ["paid", 2], ["failed", null], ["failed", 2]],
  ["failed at an unknown time, then paid", ["failed", null], ["paid", 1], ["paid", 1]],
])("keeps the state of the newest event: %s", async (_, first, second, kept) => {
  const { charge } = CHARGE;
  for (const [amount, [state, micros]] of [first, second].entries())
    await record({ ...CHARGE, charge: charge && { ...charge, state, amount } }, undefined, {
      occurredAtMicros: micros,
    });
  const isSecond = kept[0] === second[0];
  expect(await test.rows("select state, amount, last_event_at_micros as micros from payment")).toEqual([
    { state: kept[0], amount: String(Number(isSecond)), micros: String(kept[1]) },
  ]);
});

type PaymentState = [state: "paid" | "failed", occurredAtMicros: number | null];

it("takes what happens after a comparison by a server whose clock was ahead", async () => {
  const failed = { ...CHARGE, charge: { ...CHARGE.charge, state: "failed" } } as PaymentReport;
  await record(failed);
  const compared = { providerPaymentId: "in_1", periodStart: null, periodEnd: null, askedAtMicros: 4e15 };
  await settleComparedPayment(test.database, "provider-a", compared);
  await record(CHARGE, undefined, { occurredAtMicros: (Date.now() + 60_000) * 1000 });
  expect(await test.rows("select state from payment")).toEqual([{ state: "paid" }]);
});
