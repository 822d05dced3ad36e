import { beforeAll, expect, it } from "vitest";
import { OPERATOR } from "../../src/domain/callers/caller.ts";
import { relayEvents } from "../../src/outbound/relay.ts";
import { newEndpointSecret } from "../../src/outbound/sign.ts";
import { deleteUserData } from "../../src/store/accounts/account-deletion.ts";
import { insertEndpoint } from "../../src/store/outbound/event-endpoints.ts";
import { recordPayments } from "../../src/store/payments/record-payments.ts";
import type { ReportedPayment } from "../../src/store/payments/reported-payment.ts";
import { inTransaction } from "../../src/store/transaction.ts";
import { findInAllTables } from "../operations/find-in-all-tables.ts";
import { createSubscription } from "../support/subscriptions.ts";
import { testDatabase } from "../support/test-database.ts";
import { ACCESS_CONTEXT } from "./access-context.ts";

const LIMITS = {
  synchronousCommit: "on",
  lockTimeoutMs: 5_000,
  statementTimeoutMs: 5_000,
  idleTimeoutMs: 5_000,
} as const;
const SUBSCRIPTION = "7b0e1f0a-93a4-4f1c-8f43-0b1c2d3e4f50";

const test = testDatabase(3);
beforeAll(async () => {
  await test.rows(`update "user" set external_id = 'customer-17' where id = 'user_0'`);
  // Of others, at the same provider and by the same id at another one.
  await createSubscription(test, "user_1", { provider_subscription_id: "else" });
  await createSubscription(test, "user_2", { provider: "provider-b", provider_subscription_id: "sub" });
  await createSubscription(test, "user_0", { id: SUBSCRIPTION, provider_subscription_id: "sub" });
});

function charge(state: "paid" | "failed", refundedAmount: number | null, micros: number): ReportedPayment {
  return {
    provider: "provider-a",
    report: {
      names: [],
      charge: {
        id: "in_1",
        amount: 1900,
        currency: "EUR",
        state,
        refundedAmount,
        periodStart: null,
        periodEnd: null,
        receiptUrl: "https://example.com/receipt",
        occurredAt: new Date("2026-01-02T03:04:05.678Z"),
      },
      reversal: null,
    },
    occurredAtMicros: micros,
    providerSubscriptionId: "sub",
    userId: "user_0",
    eventId: null,
    isPersonGone: false,
  } as ReportedPayment;
}

async function record(payment: ReportedPayment): Promise<void> {
  await inTransaction(test.database, LIMITS, async (transaction) => {
    await recordPayments(transaction, [payment]);
    await transaction.commitAfter([]);
  });
}

it("writes one event per change of a payment's status, as REST shows the payment", async () => {
  await record(charge("failed", null, 1));
  await record(charge("paid", null, 2));
  await record(charge("paid", null, 2));
  await record(charge("paid", 500, 3));
  await record(charge("paid", 1900, 4));
  await relayEvents({ database: test.database, ...ACCESS_CONTEXT });
  const events = await test.rows<{
    type: string;
    subject: string;
    data: { payment: Record<string, unknown> };
  }>("select type, subject, data from outbound_event where type like 'payment.%' order by position");
  expect(events.map(({ type, data }) => [type, data.payment.status])).toEqual([
    ["payment.failed", "failed"],
    ["payment.paid", "paid"],
    ["payment.refunded", "partly_refunded"],
    ["payment.refunded", "refunded"],
  ]);
  expect(events[1]).toMatchObject({
    subject: SUBSCRIPTION,
    data: {
      userId: "user_0",
      externalId: "customer-17",
      payment: {
        id: expect.any(String),
        provider: "provider-a",
        providerPaymentId: "in_1",
        subscriptionId: SUBSCRIPTION,
        amount: 1900,
        currency: "EUR",
        status: "paid",
        receiptUrl: "https://example.com/receipt",
        occurredAt: "2026-01-02T03:04:05.678Z",
      },
    },
  });
});

it("writes an event when a payment is disputed, and when the dispute is won", async () => {
  const disputed = charge("paid", null, 1);
  const paid = { ...disputed.report.charge, id: "in_2" } as ReportedPayment["report"]["charge"];
  const dispute = (amount: number) => ({ id: "dp_1", of: "in_2", kind: "dispute" as const, amount });
  await record({ ...disputed, report: { charge: paid, names: [], reversal: null } });
  for (const [index, amount] of [1900, 0].entries()) {
    const report = { charge: null, names: [], reversal: dispute(amount) };
    await record({ ...disputed, report, occurredAtMicros: 2 + index });
  }
  await relayEvents({ database: test.database, ...ACCESS_CONTEXT });
  const events = await test.rows<{ type: string; status: string }>(
    `select type, data -> 'payment' ->> 'status' as status from outbound_event
     where data -> 'payment' ->> 'providerPaymentId' = 'in_2' order by position`,
  );
  expect(events.map(({ type, status }) => [type, status])).toEqual([
    ["payment.paid", "paid"],
    ["payment.disputed", "disputed"],
    ["payment.paid", "paid"],
  ]);
});

it("keeps the order of a subscription's payments at an endpoint, and holds up no other's", async () => {
  await insertEndpoint(test.database, {
    url: "https://example.com/events",
    types: ["payment.paid"],
    description: null,
    secret: newEndpointSecret(),
    createdBy: null,
  });
  const one = await createSubscription(test, "user_1", { provider_subscription_id: "sub_one" });
  const other = await createSubscription(test, "user_1", { provider_subscription_id: "sub_other" });
  const paid = charge("paid", null, 1);
  for (const [id, providerSubscriptionId] of [
    ["in_4", "sub_one"],
    ["in_5", "sub_one"],
    ["in_6", "sub_other"],
  ] as const) {
    const report = {
      ...paid.report,
      charge: { ...paid.report.charge, id, receiptUrl: null },
    } as typeof paid.report;
    await record({ ...paid, report, providerSubscriptionId, userId: "user_1" });
  }
  await relayEvents({ database: test.database, ...ACCESS_CONTEXT });
  const deliveries = await test.rows(
    `select subject, next_attempt_at is not null as "isDue" from outbound_delivery order by position`,
  );
  expect(deliveries).toEqual([
    { subject: one, isDue: true },
    { subject: one, isDue: false },
    { subject: other, isDue: true },
  ]);
});

it("shows no receipt while the user is unknown, as it could not be redacted once the account is deleted", async () => {
  const early = charge("paid", null, 1);
  const report = { ...early.report, charge: { ...early.report.charge, id: "in_3" } } as typeof early.report;
  await record({ ...early, report, providerSubscriptionId: "sub_early", userId: null });
  await relayEvents({ database: test.database, ...ACCESS_CONTEXT });
  await test.rows("update subscription set provider_subscription_id = 'sub_early' where id = $1", [
    SUBSCRIPTION,
  ]);
  await deleteUserData(test.database, "user_0", { canceled: new Set([SUBSCRIPTION]), by: OPERATOR });
  expect(await findInAllTables(test, "example.com/receipt")).toEqual([]);
});
