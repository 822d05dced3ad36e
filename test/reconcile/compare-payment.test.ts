import { expect, it } from "vitest";
import type { Charge, PaymentReport } from "../../src/domain/payments/payment.ts";
import type { PaymentState } from "../../src/domain/payments/payment-state.ts";
import { effectLimits } from "../../src/intake/transaction-limits.ts";
import { comparePayment } from "../../src/reconcile/compare-payment.ts";
import { recordPayments } from "../../src/store/payments/record-payments.ts";
import { inTransaction, isLockTimeout } from "../../src/store/transaction.ts";
import { eventually } from "../support/eventually.ts";
import { testDatabase } from "../support/test-database.ts";

const test = testDatabase(0);
const LEASE = { leaseSeconds: 30 };
const SLOT = "provider-a";

const charge = (changes: Partial<Charge>): PaymentState["charge"] =>
  ({
    id: "in_1",
    state: "paid",
    amount: 1900,
    currency: "EUR",
    refundedAmount: 0,
    periodStart: null,
    periodEnd: null,
    receiptUrl: null,
    occurredAt: null,
    ...changes,
  }) as PaymentState["charge"];

const stateOf = (changes: Partial<Charge>): PaymentState => ({
  providerSubscriptionId: "sub",
  customerId: null,
  userId: null,
  charge: charge(changes),
  isUndecided: false,
  names: ["in_1"],
  reversals: [],
  hasUnknownDisputes: false,
});

it.each([
  ["paid since", { state: "failed" }, {}, "paid"],
  ["refunded since", {}, { refundedAmount: 1900 }, "refunded"],
] as const)(
  "asks the provider again for a payment that an event is recording as %s",
  async (_, listed, now, status) => {
    await test.rows("delete from payment");
    await test.rows("delete from payment_name");
    const { database } = test;
    const api = { fetchPayment: async () => stateOf(now) };
    const report: PaymentReport = { charge: charge(now), names: [], reversal: null };
    const event = {
      provider: SLOT,
      report,
      eventId: "evt",
      occurredAtMicros: Date.now() * 1000,
      isPersonGone: false,
    } as const;
    const options = { providerPaymentId: "in_1", by: "server", notify: false } as const;
    const answer = { listed: { state: stateOf(listed), askedAtMicros: 1 } };
    const compare = (): Promise<string> =>
      comparePayment({ database, ...LEASE }, SLOT, api, { ...options, ...answer }).catch((error) => {
        // On a busy machine the event may take longer.
        if (isLockTimeout(error)) return compare();
        throw error;
      });
    let compared: Promise<string> | undefined;
    await inTransaction(database, effectLimits(LEASE), async (transaction) => {
      await recordPayments(transaction, [{ ...event, providerSubscriptionId: "sub", userId: null }]);
      compared = compare();
      await eventually(
        () =>
          test.rows(
            "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
          ),
        [{}],
      );
      await transaction.commitAfter([]);
    });
    expect(await compared).toBe("unchanged");
    expect(await test.rows("select status from payment")).toEqual([{ status }]);
  },
);
