import { beforeEach, expect, it } from "vitest";
import type { Charge, PaymentReport } from "../../../src/domain/payments/payment.ts";
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

const test = testDatabase(2);
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
  return inTransaction(test.database, LIMITS, async (transaction) => {
    await recordPayments(transaction, [reportedAs(report, changes)]);
    await meanwhile();
    await transaction.commitAfter([]);
  });
}

function reportedAs(report: PaymentReport, changes: Partial<ReportedPayment> = {}): ReportedPayment {
  return {
    provider: "provider-a",
    report,
    eventId: null,
    occurredAtMicros: 1,
    providerSubscriptionId: "sub",
    userId: "user_0",
    isPersonGone: false,
    ...changes,
  };
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

it.each([
  [REFUND, LINK, CHARGE],
  [CHARGE, LINK, REFUND],
  [LINK, REFUND, CHARGE],
])(
  "counts a refund beside its charge and the link of both in one transaction, in any order",
  async (...reports) => {
    await inTransaction(test.database, LIMITS, async (transaction) => {
      await recordPayments(
        transaction,
        reports.map((report) => reportedAs(report)),
      );
      await transaction.commitAfter([]);
    });
    expect(await test.rows("select amount, status from payment")).toEqual([
      { amount: "1900", status: "partly_refunded" },
    ]);
  },
);

it("notifies nobody and emits nothing where a comparison corrects a refund", async () => {
  await test.rows(`update "user" set role = 'admin' where id = 'user_1'`);
  await createSubscription(test, "user_0", { provider_subscription_id: "sub_repaired" });
  const corrected = { providerSubscriptionId: "sub_repaired" };
  const charge = CHARGE.charge && { ...CHARGE.charge, refundedAmount: CHARGE.charge.amount };
  const emitted = () => test.rows("select from outbound_event union all select from notification");
  await record(CHARGE, undefined, corrected);
  const before = await emitted();
  for (const notify of [false, true]) {
    await test.rows("update payment set status = 'paid', refunded_amount = null");
    await inTransaction(test.database, LIMITS, async (transaction) => {
      await recordPayments(transaction, [reportedAs({ ...CHARGE, charge }, corrected)], { notify });
      await transaction.commitAfter([]);
    });
    // The payment, the entitlements, and the administrator.
    expect(await emitted()).toHaveLength(before.length + (notify ? 3 : 0));
  }
});

it("emits one step after the other where one transaction takes back payments of two subscriptions", async () => {
  const invoices = ["in_1", "in_2"];
  const ids: string[] = [];
  for (const id of invoices) {
    ids.push(await createSubscription(test, "user_0", { provider_subscription_id: `of_${id}` }));
    const charge = CHARGE.charge && { ...CHARGE.charge, id };
    await record({ ...CHARGE, charge }, undefined, { providerSubscriptionId: `of_${id}` });
  }
  const refunds = invoices.map((of) =>
    reportedAs({ ...REFUND, reversal: { id: `re_${of}`, of, kind: "refund", amount: 1900 } }),
  );
  await inTransaction(test.database, LIMITS, async (transaction) => {
    await recordPayments(transaction, refunds);
    await transaction.commitAfter([]);
  });
  type Step = { reversals: { id: string; before: string | null; after: string | null }[] };
  const emitted = await test.rows<Step>(
    `select data -> 'change' -> 'reversals' as reversals from outbound_event
     where type = 'entitlements.changed' and strpos(data::text, $1) > 0 order by seq`,
    [ids[0]],
  );
  const steps = emitted.map(({ reversals }) =>
    reversals.toSorted((a, b) => (a.id < b.id ? -1 : 1)).map(({ before, after }) => [before, after]),
  );
  expect(steps).toEqual([
    [
      [null, "refunded"],
      [null, null],
    ],
    [
      ["refunded", "refunded"],
      [null, "refunded"],
    ],
  ]);
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

const ONE = { receiptUrl: "https://one.example", periodEnd: new Date("2026-02-01"), refundedAmount: 500 };
const OTHER = { receiptUrl: "https://other.example", periodEnd: new Date("2026-03-01"), refundedAmount: 300 };
const NEITHER = { receiptUrl: null, periodEnd: null, refundedAmount: null };

it.each<[string, Details, Details, Partial<Charge>]>([
  ["an older one fills in what the newer one leaves out", [2, NEITHER], [1, ONE], ONE],
  ["an older one replaces nothing", [2, ONE], [1, OTHER], ONE],
  ["a newer one takes nothing away", [1, ONE], [2, NEITHER], ONE],
  ["a newer one replaces all but the period", [1, ONE], [2, OTHER], { ...OTHER, periodEnd: ONE.periodEnd }],
  ["one of the same time refunds no less", [1, ONE], [1, { ...ONE, refundedAmount: 300 }], ONE],
  ["one of the same time takes nothing away", [1, ONE], [1, NEITHER], ONE],
])("keeps the details of two reports for the first one's person: %s", async (_, first, second, kept) => {
  for (const [n, [occurredAtMicros, details]] of [first, second].entries()) {
    const charge = CHARGE.charge && { ...CHARGE.charge, ...details };
    const named = { userId: `user_${n}`, providerSubscriptionId: `sub_${n}` };
    await record({ ...CHARGE, charge }, undefined, { ...named, occurredAtMicros });
  }
  expect(
    await test.rows(
      `select user_id, provider_subscription_id as subscription, receipt_url as "receiptUrl", period_end as "periodEnd",
         refunded_amount::int as "refundedAmount" from payment`,
    ),
  ).toEqual([{ user_id: "user_0", subscription: "sub_0", ...kept }]);
});

type Details = [occurredAtMicros: number, details: Partial<Charge>];

it.each<[string, number | null, number | null, number, string]>([
  ["a later one that takes it back", 1, 2, 0, "paid"],
  ["an earlier one that takes it back", 2, 1, 0, "partly_refunded"],
  ["one of the same second that takes it back", 1, 1, 0, "partly_refunded"],
  ["one of the same second over more", 1, 1, 1900, "refunded"],
  ["one without a time", 1, null, 1900, "refunded"],
  ["one after it has come without a time", null, 1, 1900, "refunded"],
])("counts a refund by its newest report: %s", async (_, first, second, amount, status) => {
  const refund = (amount: number) =>
    ({ ...REFUND, reversal: { id: "re_1", of: "in_1", kind: "refund", amount } }) as const;
  await record(CHARGE);
  await record(refund(500), undefined, { occurredAtMicros: first });
  await record(refund(amount), undefined, { occurredAtMicros: second });
  expect(await test.rows("select status from payment")).toEqual([{ status }]);
});

it.each<[string, Partial<Charge>, number, string]>([
  ["a zero-amount payment as paid", { amount: 0, refundedAmount: 0 }, 0, "paid"],
  ["a refund once that its charge and its own event report", { refundedAmount: 950 }, 950, "partly_refunded"],
  ["the larger of both sums", { refundedAmount: 950 }, 1900, "refunded"],
])("counts %s", async (_, details, amount, status) => {
  await record({ ...CHARGE, charge: CHARGE.charge && { ...CHARGE.charge, ...details } });
  await record({ ...REFUND, reversal: { id: "re_1", of: "in_1", kind: "refund", amount } });
  expect(await test.rows("select status from payment")).toEqual([{ status }]);
});

it("is disputed whatever part of it is, also beside a refund in full", async () => {
  await record(CHARGE);
  for (const [kind, amount] of [
    ["refund", 1900],
    ["dispute", 100],
  ] as const)
    await record({ ...REFUND, reversal: { id: kind, of: "in_1", kind, amount } });
  expect(await test.rows("select status from payment")).toEqual([{ status: "disputed" }]);
});

it("takes what happens after a comparison by a server whose clock was ahead", async () => {
  const failed = { ...CHARGE, charge: { ...CHARGE.charge, state: "failed" } } as PaymentReport;
  await record(failed);
  const compared = { providerPaymentId: "in_1", periodStart: null, periodEnd: null, askedAtMicros: 4e15 };
  await settleComparedPayment(test.database, "provider-a", compared);
  await record(CHARGE, undefined, { occurredAtMicros: (Date.now() + 60_000) * 1000 });
  expect(await test.rows("select state from payment")).toEqual([{ state: "paid" }]);
});

it("keeps the receipt of a subscription's payment whose owner is not known yet, and of no other", async () => {
  const receiptUrl = "https://pay.example/1";
  const charge = { ...CHARGE, charge: CHARGE.charge && { ...CHARGE.charge, receiptUrl } };
  const single = { ...charge, charge: charge.charge && { ...charge.charge, id: "in_2" } };
  for (const at of [1, 2]) {
    await record(charge, undefined, { userId: null, occurredAtMicros: at });
    await record(single, undefined, { userId: null, occurredAtMicros: at, providerSubscriptionId: "in_2" });
  }
  expect(await test.rows("select receipt_url as receipt from payment order by provider_payment_id")).toEqual([
    { receipt: receiptUrl },
    { receipt: null },
  ]);
});
