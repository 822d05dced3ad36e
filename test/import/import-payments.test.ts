import { expect, it } from "vitest";
import type { PaymentState } from "../../src/domain/payments/payment-state.ts";
import type { PaymentApi } from "../../src/domain/providers/payment-api.ts";
import { PaymentApiProblem } from "../../src/domain/providers/payment-api-problem.ts";
import { importPayments } from "../../src/import/import-payments.ts";
import { freshRuntime } from "../support/fresh-runtime.ts";

const { test, runtime } = freshRuntime({ users: 1 });

const payment = (id: string, amount: number): PaymentState => ({
  providerSubscriptionId: null,
  customerId: null,
  userId: "user_0",
  charge: {
    ...{ id, state: "paid", amount, currency: "EUR", refundedAmount: 0, receiptUrl: null },
    ...{ periodStart: null, periodEnd: null, occurredAt: new Date(Date.UTC(2026, 0, 1)) },
  },
  isUndecided: false,
  names: [],
  reversals: [],
  hasUnknownDisputes: false,
});

const imported = (listPayments: PaymentApi["listPayments"]) => {
  const api = { listPayments } as PaymentApi;
  return importPayments(runtime.intake, { slot: "provider-a", api }, { notify: false });
};

it("leaves out a payment that cannot be recorded, with the reason, and records the others", async () => {
  const report = await imported(async function* () {
    // More than a bigint holds.
    yield* [payment("pay_1", 1e30), payment("pay_2", 900)];
  });
  expect(report).toEqual({
    recorded: 1,
    unmatched: [{ providerPaymentId: "pay_1", reason: expect.stringContaining("bigint") }],
  });
  expect(await test.rows("select provider_payment_id as id from payment")).toEqual([{ id: "pay_2" }]);
});

it("ends where the database is too slow, which is not the payment's fault", async () => {
  await test.rows(
    `create function too_slow() returns trigger language plpgsql as $$
     begin raise exception 'canceling statement due to lock timeout' using errcode = '55P03'; end $$`,
  );
  await test.rows(
    "create trigger too_slow before insert on payment for each row execute function too_slow()",
  );
  const listing = imported(async function* () {
    yield payment("pay_3", 900);
  });
  await expect(listing).rejects.toThrow("a lock or the database was too slow");
  await test.rows("drop function too_slow cascade");
});

it("ends where the provider does not respond", async () => {
  const problem = new PaymentApiProblem("unreachable", "no response");
  const listing = imported(async function* () {
    yield await Promise.reject<PaymentState>(problem);
  });
  await expect(listing).rejects.toBe(problem);
});
