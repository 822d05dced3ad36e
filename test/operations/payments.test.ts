import { beforeEach, describe, expect, it } from "vitest";
import { OPERATOR } from "../../src/domain/callers/caller.ts";
import { effectLimits } from "../../src/intake/transaction-limits.ts";
import { listPayments } from "../../src/operations/payments/list-payments.ts";
import { listPaymentsOfUser } from "../../src/operations/payments/list-payments-of-user.ts";
import { deleteUser } from "../../src/operations/users/delete-user.ts";
import { recordPayments } from "../../src/store/payments/record-payments.ts";
import type { ReportedPayment } from "../../src/store/payments/reported-payment.ts";
import { subscriptionAccessOfUser } from "../../src/store/subscriptions/subscription-access.ts";
import { inTransaction } from "../../src/store/transaction.ts";
import { createSubscription } from "../support/subscriptions.ts";
import { testDatabase } from "../support/test-database.ts";
import { apiKey, createTestContext, refusalOf, session } from "./test-context.ts";

const test = testDatabase(4);
const context = createTestContext(test);
beforeEach(async () => {
  for (const table of ["payment", "payment_name", "payment_reversal", "subscription"]) {
    await test.rows(`delete from ${table}`);
  }
});

const subscribe = (userId: string, sub: string) =>
  createSubscription(test, userId, { provider_subscription_id: sub });

type Given = {
  sub?: string | null;
  userId?: string | null;
  state?: "paid" | "failed";
  minute?: number;
  amount?: number;
  periodStart?: Date | null;
  periodEnd?: Date | null;
  isForChange?: boolean;
};

async function record(reported: ReportedPayment): Promise<void> {
  await inTransaction(test.database, effectLimits({ leaseSeconds: 30 }), (transaction) =>
    transaction.commitAfter([recordPayments(transaction, [reported])]),
  );
}

async function pay(
  id: string,
  {
    sub = "sub_1",
    userId = null,
    state = "paid",
    minute = 0,
    amount = 2_000,
    periodStart = null,
    periodEnd = null,
    isForChange = false,
  }: Given = {},
) {
  const occurredAt = new Date(Date.UTC(2026, 0, 1, 0, minute));
  await record({
    provider: "provider-a",
    occurredAtMicros: occurredAt.getTime() * 1000,
    providerSubscriptionId: sub,
    userId,
    eventId: null,
    isPersonGone: false,
    report: {
      charge: {
        id,
        state,
        amount,
        currency: "EUR",
        refundedAmount: null,
        occurredAt,
        periodStart,
        periodEnd,
        isForChange,
        receiptUrl: `https://pay.example/receipts/${id}`,
      },
      names: [],
      reversal: null,
    },
  });
}

async function recordReversal(of: string, kind: "refund" | "dispute", amount: number) {
  await record({
    provider: "provider-a",
    occurredAtMicros: 1,
    providerSubscriptionId: null,
    userId: null,
    eventId: null,
    isPersonGone: false,
    report: { charge: null, names: [], reversal: { id: `${kind}_${of}`, kind, of, amount } },
  });
}

type Page = { items: { id: string; providerPaymentId: string; status: string }[]; nextCursor: string | null };
const ids = ({ items }: Page) => items.map(({ providerPaymentId }) => providerPaymentId);
const list = (userId: string, query = {}): Promise<Page> =>
  context.call(listPayments, session(userId), query);

describe("a person's payments", () => {
  it("are listed newest first, page by page, in the shape of the contract", async () => {
    const subscriptionId = await subscribe("user_1", "sub_1");
    for (const minute of [1, 2, 3]) await pay(`in_${minute}`, { minute });
    const first = await list("user_1", { limit: 2 });
    expect(ids(first)).toEqual(["in_3", "in_2"]);
    expect(first.items[0]).toEqual({
      id: expect.any(String),
      provider: "provider-a",
      providerPaymentId: "in_3",
      subscriptionId,
      amount: 2_000,
      currency: "EUR",
      status: "paid",
      receiptUrl: "https://pay.example/receipts/in_3",
      occurredAt: new Date("2026-01-01T00:03:00Z"),
    });
    const second = await list("user_1", { limit: 2, cursor: first.nextCursor });
    expect(ids(second)).toEqual(["in_1"]);
    expect(second.nextCursor).toBeNull();
  });

  it("can be filtered by status and by subscription", async () => {
    const subscriptionId = await subscribe("user_1", "sub_1");
    await subscribe("user_1", "sub_2");
    await pay("in_1");
    await pay("in_2", { state: "failed", minute: 1 });
    await pay("in_3", { sub: "sub_2", minute: 2 });
    expect(ids(await list("user_1", { status: "failed" }))).toEqual(["in_2"]);
    expect(ids(await list("user_1", { subscriptionId }))).toEqual(["in_2", "in_1"]);
    const refusal = await refusalOf(list("user_1", { cursor: "bm90IGEgY3Vyc29y" }));
    expect(refusal.code).toBe("invalid_input");
  });

  it("are shown to their user only; administrators can list them by user", async () => {
    await subscribe("user_1", "sub_1");
    await pay("in_1");
    expect(ids(await list("user_2"))).toEqual([]);
    expect(ids(await context.call(listPayments, apiKey("user_1")))).toEqual(["in_1"]);
    const administrator = session("user_3", "admin");
    expect(ids(await context.call(listPaymentsOfUser, administrator, { userId: "user_1" }))).toEqual([
      "in_1",
    ]);
    const refused = context.call(listPaymentsOfUser, session("user_2"), { userId: "user_1" });
    expect((await refusalOf(refused)).code).toBe("forbidden");
  });

  it("without a subscription belong to the user whom the event names", async () => {
    await pay("in_1", { sub: null, userId: "user_2" });
    await pay("in_2", { sub: null, userId: "nobody" });
    expect(ids(await list("user_2"))).toEqual(["in_1"]);
  });

  it("are theirs as soon as the subscription is known", async () => {
    await pay("in_1");
    expect(ids(await list("user_1"))).toEqual([]);
    await subscribe("user_1", "sub_1");
    expect(ids(await list("user_1"))).toEqual(["in_1"]);
  });

  it("lose person and receipt when the account is deleted", async () => {
    await subscribe("user_0", "sub_1");
    await pay("in_1");
    await pay("in_2", { sub: null, userId: "user_0" });
    await test.rows("update subscription set status = 'canceled'");
    await context.call(deleteUser, OPERATOR, { userId: "user_0", confirmation: "user_0@example.com" });
    expect(await test.rows("select user_id, receipt_url from payment")).toEqual([
      { user_id: null, receipt_url: null },
      { user_id: null, receipt_url: null },
    ]);
  });

  it("stay as they are when somebody else's account is deleted, one with the same id in another slot too", async () => {
    await subscribe("user_2", "sub_1");
    await pay("in_1");
    await createSubscription(test, "user_1", { provider: "provider-b", provider_subscription_id: "sub_1" });
    await pay("in_2", { userId: "user_1" });
    await test.rows("update payment set provider = 'provider-b' where provider_payment_id = 'in_2'");
    await subscribe("user_1", "sub_2");
    await pay("in_3", { sub: "sub_2", userId: "user_1" });
    await test.rows("update subscription set status = 'canceled'");
    await context.call(deleteUser, OPERATOR, { userId: "user_2", confirmation: "user_2@example.com" });
    expect(
      await test.rows(
        "select provider_payment_id as id, user_id, receipt_url is not null as receipt from payment order by 1",
      ),
    ).toEqual([
      { id: "in_1", user_id: null, receipt: false },
      { id: "in_2", user_id: "user_1", receipt: true },
      { id: "in_3", user_id: "user_1", receipt: true },
    ]);
  });
});

describe("the latest payment", () => {
  const reversal = async () => (await subscriptionAccessOfUser(test.database, "user_1"))[0]?.paymentReversal;
  const month = (number: number) => ({
    periodStart: new Date(Date.UTC(2025, number, 1)),
    periodEnd: new Date(Date.UTC(2025, number + 1, 1)),
  });

  it("is reported with the user's access when it was refunded or is disputed", async () => {
    await subscribe("user_1", "sub_1");
    await pay("in_1");
    expect(await reversal()).toBeNull();
    await recordReversal("in_1", "refund", 500);
    expect(await reversal()).toBeNull();
    await recordReversal("in_1", "dispute", 2_000);
    expect(await reversal()).toBe("disputed");
    await pay("in_2", { minute: 5, state: "failed" });
    expect(await reversal()).toBe("disputed");
    await pay("in_3", { minute: 6 });
    expect(await reversal()).toBeNull();
  });

  it.each([
    ["in_1", "in_2"],
    ["in_2", "in_1"],
  ])(
    "of two paid in the same second, reported as %s and %s, is that of the later period",
    async (...order) => {
      await subscribe("user_1", "sub_1");
      const periodEnds: Record<string, Date> = {
        in_1: new Date(Date.UTC(2026, 1, 1)),
        in_2: new Date(Date.UTC(2026, 2, 1)),
      };
      for (const id of order) await pay(id, { periodEnd: periodEnds[id] ?? null });
      await recordReversal("in_1", "refund", 2_000);
      expect(await reversal()).toBeNull();
      await recordReversal("in_2", "refund", 2_000);
      expect(await reversal()).toBe("refunded");
    },
  );

  it("is that of the later period, even if the invoice of an earlier one is paid after it", async () => {
    await subscribe("user_1", "sub_1");
    await pay("in_2", month(1));
    await pay("in_1", { minute: 5, ...month(0) });
    await recordReversal("in_1", "refund", 2_000);
    expect(await reversal()).toBeNull();
    await recordReversal("in_2", "refund", 2_000);
    expect(await reversal()).toBe("refunded");
    await pay("in_0", { minute: 6, ...month(0) });
    expect(await reversal()).toBe("refunded");
  });

  it("is that for the next period once that is paid, but not another subscription's", async () => {
    await subscribe("user_1", "sub_1");
    await pay("in_1", month(0));
    await recordReversal("in_1", "refund", 2_000);
    await pay("in_2", { minute: 5, sub: "sub_2", ...month(1) });
    expect(await reversal()).toBe("refunded");
    await pay("in_3", { minute: 6, ...month(1) });
    expect(await reversal()).toBeNull();
  });

  it.each([
    ["failed", { state: "failed" as const, ...month(2) }],
    ["is for no period", { periodStart: month(3).periodStart, periodEnd: month(3).periodStart }],
  ])("is that of the earlier period, paid after one of a later period that %s", async (_, later) => {
    await subscribe("user_1", "sub_1");
    await pay("in_0", month(0));
    await pay("in_2", { minute: 5, ...later });
    await pay("in_1", { minute: 6, ...month(1) });
    await recordReversal("in_1", "refund", 2_000);
    expect(await reversal()).toBe("refunded");
  });

  it("is that which was paid after another had failed for the same period, once it is refunded", async () => {
    await subscribe("user_1", "sub_1");
    await pay("in_0", month(0));
    await pay("in_1", { minute: 5, state: "failed", ...month(1) });
    await pay("in_2", { minute: 6, ...month(1) });
    await recordReversal("in_2", "refund", 2_000);
    expect(await reversal()).toBe("refunded");
  });

  it("is no earlier one for a period that had not begun", async () => {
    await subscribe("user_1", "sub_1");
    const begun = { periodStart: new Date(Date.UTC(2026, 0, 1)), periodEnd: new Date(Date.UTC(2026, 1, 1)) };
    const later = { periodStart: new Date(Date.UTC(2026, 1, 1)), periodEnd: new Date(Date.UTC(2026, 2, 1)) };
    await pay("in_1", later);
    await pay("in_2", { minute: 5, ...begun });
    await recordReversal("in_1", "refund", 2_000);
    expect(await reversal()).toBeNull();
    await recordReversal("in_2", "refund", 2_000);
    expect(await reversal()).toBe("refunded");
  });

  it("is not the zero-amount invoice of a change within its period, as after fewer seats", async () => {
    await subscribe("user_1", "sub_1");
    const periodEnd = new Date(Date.UTC(2026, 0, 1, 0, 30));
    await pay("in_1", { periodEnd });
    await pay("in_2", { minute: 5, amount: 0, periodEnd });
    await recordReversal("in_1", "dispute", 2_000);
    expect(await reversal()).toBe("disputed");
    await pay("in_3", { minute: 6, amount: 0 });
    expect(await reversal()).toBe("disputed");
    // The next period, for which a coupon or credit has paid.
    await pay("in_4", { minute: 30, amount: 0, periodEnd: new Date(Date.UTC(2026, 0, 1, 1)) });
    expect(await reversal()).toBeNull();
  });

  describe("of a period that a zero-amount invoice has begun", () => {
    const periodEnd = new Date(Date.UTC(2026, 0, 1, 1));
    beforeEach(async () => {
      await subscribe("user_1", "sub_1");
      await pay("in_1", { periodEnd: new Date(Date.UTC(2026, 0, 1, 0, 30)) });
      await recordReversal("in_1", "refund", 2_000);
      await pay("in_2", { minute: 30, amount: 0, periodEnd });
    });

    it("is that invoice, even if a charge for a change fails", async () => {
      expect(await reversal()).toBeNull();
      await pay("in_3", { minute: 35, amount: 500, state: "failed", periodEnd });
      expect(await reversal()).toBeNull();
    });

    it("is that invoice, and a paid change emits no entitlements.changed", async () => {
      const emitted = () => test.rows("select id from outbound_event where type = 'entitlements.changed'");
      const before = await emitted();
      await pay("in_3", { minute: 35, amount: 500, periodEnd });
      expect(await reversal()).toBeNull();
      expect(await emitted()).toEqual(before);
    });
  });

  it("is not the zero-amount invoice of a change after the charge for its period has failed", async () => {
    await subscribe("user_1", "sub_1");
    const periodEnd = new Date(Date.UTC(2026, 0, 1, 1));
    await pay("in_1", { periodEnd: new Date(Date.UTC(2026, 0, 1, 0, 30)) });
    await recordReversal("in_1", "refund", 2_000);
    await pay("in_2", { minute: 30, state: "failed", periodEnd });
    await pay("in_3", { minute: 35, amount: 0, periodEnd });
    expect(await reversal()).toBe("refunded");
  });

  it("is a zero-amount invoice, also if it is settled after the start of a charge that fails", async () => {
    await subscribe("user_1", "sub_1");
    const [begun, periodStart, periodEnd] = [0, 30, 60].map(
      (minute) => new Date(Date.UTC(2026, 0, 1, 0, minute)),
    ) as [Date, Date, Date];
    await pay("in_1", { periodStart: begun, periodEnd: periodStart });
    await recordReversal("in_1", "refund", 2_000);
    await pay("in_2", { minute: 32, amount: 0, periodStart, periodEnd });
    await pay("in_3", { minute: 45, amount: 500, state: "failed", periodStart, periodEnd });
    expect(await reversal()).toBeNull();
  });

  it("is not the zero-amount invoice of a change that comes before the charge for its period, which fails", async () => {
    await subscribe("user_1", "sub_1");
    const [periodStart, changedAt, periodEnd] = [30, 35, 60].map(
      (minute) => new Date(Date.UTC(2026, 0, 1, 0, minute)),
    ) as [Date, Date, Date];
    await pay("in_1", { periodStart: new Date(Date.UTC(2026, 0, 1)), periodEnd: periodStart });
    await recordReversal("in_1", "refund", 2_000);
    await pay("in_2", { minute: 35, amount: 0, periodStart: changedAt, periodEnd });
    // Stripe charges for a period an hour after it has begun.
    await pay("in_3", { minute: 45, state: "failed", periodStart, periodEnd });
    expect(await reversal()).toBe("refunded");
  });

  it("is that of an upgrade which costs more than its period, once it is refunded", async () => {
    await subscribe("user_1", "sub_1");
    const periodEnd = new Date(Date.UTC(2026, 0, 1, 0, 30));
    await pay("in_1", { amount: 500, periodEnd });
    await pay("in_2", { minute: 5, periodEnd });
    await recordReversal("in_2", "refund", 2_000);
    expect(await reversal()).toBe("refunded");
  });

  it("is not a smaller one for a change that was paid before the period's was refunded", async () => {
    await subscribe("user_1", "sub_1");
    const periodEnd = new Date(Date.UTC(2026, 0, 1, 0, 30));
    await pay("in_1", { periodEnd });
    await pay("in_2", { minute: 5, amount: 500, periodEnd });
    await recordReversal("in_1", "refund", 2_000);
    expect(await reversal()).toBe("refunded");
    // An upgrade that costs more than the period pays for what is used.
    await pay("in_3", { minute: 6, amount: 3_000, periodEnd });
    expect(await reversal()).toBeNull();
    // Of two upgrades the second counts, whatever became of the first.
    await recordReversal("in_3", "refund", 3_000);
    expect(await reversal()).toBe("refunded");
    await pay("in_4", { minute: 7, amount: 2_500, periodEnd });
    expect(await reversal()).toBeNull();
  });

  it.each([
    ["was paid for the period before", month(0)],
    ["failed for the same period", { state: "failed" as const, ...month(1) }],
  ])(
    "is not one for a change that is smaller than its period's, though larger than what %s",
    async (_, earlier) => {
      await subscribe("user_1", "sub_1");
      await pay("in_0", { amount: 500, ...earlier });
      await pay("in_1", { minute: 5, ...month(1) });
      await pay("in_2", { minute: 6, amount: 1_000, ...month(1) });
      await recordReversal("in_1", "refund", 2_000);
      expect(await reversal()).toBe("refunded");
    },
  );

  it("is not one for a change that costs as much as its period, once that is refunded", async () => {
    await subscribe("user_1", "sub_1");
    await pay("in_1", month(0));
    await pay("in_2", { minute: 5, ...month(0) });
    await recordReversal("in_2", "refund", 2_000);
    expect(await reversal()).toBeNull();
  });

  it("is one of the same amount that was paid for a period after its first payment was refunded", async () => {
    await subscribe("user_1", "sub_1");
    const periodEnd = new Date(Date.UTC(2026, 0, 1, 0, 30));
    await pay("in_1", { periodEnd });
    await recordReversal("in_1", "refund", 2_000);
    await pay("in_2", { minute: 5, periodEnd });
    expect(await reversal()).toBeNull();
  });

  it("is not that of a change within its period: refunded, or paid beside a dispute", async () => {
    await subscribe("user_1", "sub_1");
    const periodEnd = new Date(Date.UTC(2026, 0, 1, 0, 30));
    await pay("in_1", { periodEnd });
    await pay("in_2", { minute: 5, amount: 500, periodEnd });
    await recordReversal("in_2", "refund", 500);
    expect(await reversal()).toBeNull();
    await pay("in_3", { minute: 6, amount: 500, periodEnd });
    await recordReversal("in_1", "dispute", 2_000);
    expect(await reversal()).toBe("disputed");
    const [emitted] = await test.rows(
      `select data->'change'->'reversals'->0->>'after' as after from outbound_event
       where type = 'entitlements.changed' order by id desc limit 1`,
    );
    expect(emitted).toEqual({ after: "disputed" });
    await pay("in_4", { minute: 30, periodEnd: new Date(Date.UTC(2026, 0, 1, 1)) });
    expect(await reversal()).toBeNull();
    await recordReversal("in_4", "refund", 2_000);
    expect(await reversal()).toBe("refunded");
  });

  it("is not that of a change where the provider names no period, but says that it is for a change", async () => {
    await subscribe("user_1", "sub_1");
    await pay("in_1");
    await pay("in_2", { minute: 5, amount: 500, isForChange: true });
    await recordReversal("in_2", "refund", 500);
    expect(await reversal()).toBeNull();
    await recordReversal("in_1", "refund", 2_000);
    expect(await reversal()).toBe("refunded");
    await pay("in_3", { minute: 6, amount: 500, isForChange: true });
    await pay("in_4", { minute: 7, amount: 0, isForChange: true });
    expect(await reversal()).toBe("refunded");
    await pay("in_5", { minute: 30 });
    await pay("in_6", { minute: 35, amount: 500, isForChange: true });
    expect(await reversal()).toBeNull();
    await recordReversal("in_6", "refund", 500);
    expect(await reversal()).toBeNull();
    await pay("in_7", { minute: 36, amount: 3_000, isForChange: true });
    await recordReversal("in_7", "refund", 3_000);
    expect(await reversal()).toBe("refunded");
  });

  it("is that of an upgrade in a later period, where the provider names none, whatever an earlier period cost", async () => {
    await subscribe("user_1", "sub_1");
    await pay("in_1", { amount: 3_000 });
    await pay("in_2", { minute: 30, amount: 1_000 });
    await pay("in_3", { minute: 35, isForChange: true });
    await recordReversal("in_1", "refund", 3_000);
    await recordReversal("in_2", "refund", 1_000);
    expect(await reversal()).toBeNull();
  });

  it("is not that of a change after a renewal has failed, where the provider names no period", async () => {
    await subscribe("user_1", "sub_1");
    await pay("in_1");
    await pay("in_2", { minute: 30, state: "failed" });
    await pay("in_3", { minute: 35, amount: 500, isForChange: true });
    await recordReversal("in_1", "refund", 2_000);
    expect(await reversal()).toBe("refunded");
  });

  it("is not one for no period, such as a single charge beside the plan, unless that is disputed", async () => {
    await subscribe("user_1", "sub_1");
    const period = {
      periodStart: new Date(Date.UTC(2026, 0, 1)),
      periodEnd: new Date(Date.UTC(2026, 0, 1, 0, 30)),
    };
    await pay("in_1", period);
    for (const [id, minute, amount] of [
      ["in_2", 5, 500],
      ["in_3", 6, 5_000],
    ] as const) {
      const at = new Date(Date.UTC(2026, 0, 1, 0, minute));
      await pay(id, { minute, amount, periodStart: at, periodEnd: at });
      await recordReversal(id, "refund", amount);
      expect(await reversal()).toBeNull();
    }
    await recordReversal("in_1", "refund", 2_000);
    expect(await reversal()).toBe("refunded");
    const at = new Date(Date.UTC(2026, 0, 1, 0, 7));
    await pay("in_4", { minute: 7, amount: 5_000, periodStart: at, periodEnd: at });
    expect(await reversal()).toBe("refunded");
    await recordReversal("in_4", "dispute", 5_000);
    expect(await reversal()).toBe("refunded_and_disputed");
  });

  it("stays refunded when it is disputed as well, and a refunded change beside it does not count", async () => {
    await subscribe("user_1", "sub_1");
    const periodEnd = new Date(Date.UTC(2026, 1, 1));
    await pay("in_1", { periodEnd });
    await pay("in_2", { minute: 5, amount: 500, periodEnd });
    for (const kind of ["refund", "dispute"] as const) await recordReversal("in_2", kind, 500);
    expect(await reversal()).toBe("disputed");
    await recordReversal("in_1", "refund", 2_000);
    expect(await reversal()).toBe("refunded_and_disputed");
    await pay("in_3", { minute: 6, periodEnd: new Date(Date.UTC(2026, 2, 1)) });
    expect(await reversal()).toBeNull();
    await recordReversal("in_3", "refund", 2_000);
    expect(await reversal()).toBe("refunded");
    await recordReversal("in_3", "dispute", 2_000);
    expect(await reversal()).toBe("refunded_and_disputed");
  });

  it("is disputed as well where the period's is, beside an upgrade that cost more and was refunded", async () => {
    await subscribe("user_1", "sub_1");
    const periodEnd = new Date(Date.UTC(2026, 1, 1));
    await pay("in_1", { periodEnd });
    await pay("in_2", { minute: 5, amount: 5_000, periodEnd });
    await recordReversal("in_2", "refund", 5_000);
    // Another person's.
    await pay("in_3", { userId: "user_2", sub: "sub_2", periodEnd });
    await recordReversal("in_3", "dispute", 2_000);
    expect(await reversal()).toBe("refunded");
    await recordReversal("in_1", "dispute", 2_000);
    expect(await reversal()).toBe("refunded_and_disputed");
  });

  it("is the only one of what a single payment bought, whose invoice is for no period", async () => {
    const id = await createSubscription(test, "user_1", {
      provider_subscription_id: null,
      is_one_time: true,
    });
    await test.rows("update subscription set payment_id = 'in_1' where id = $1", [id]);
    const at = new Date(Date.UTC(2026, 0, 1));
    await pay("in_1", { sub: "in_1", periodStart: at, periodEnd: at });
    await recordReversal("in_1", "refund", 2_000);
    expect(await reversal()).toBe("refunded");
  });

  it.each([{ periodEnd: new Date(Date.UTC(2026, 0, 1, 0, 30)) }, { isForChange: true }])(
    "is that of an upgrade which is refunded, whatever smaller change is paid for beside it: %o",
    async (change) => {
      await subscribe("user_1", "sub_1");
      await pay("in_1", { ...change, amount: 1_000, isForChange: false });
      await pay("in_2", { ...change, minute: 5, amount: 3_000 });
      await pay("in_3", { ...change, minute: 6, amount: 500 });
      expect(await reversal()).toBeNull();
      await recordReversal("in_2", "refund", 3_000);
      expect(await reversal()).toBe("refunded");
      await pay("in_4", { ...change, minute: 7, amount: 600 });
      expect(await reversal()).toBe("refunded");
      await pay("in_5", { ...change, minute: 8, amount: 2_500 });
      expect(await reversal()).toBeNull();
    },
  );
});
