import { beforeEach, expect, it } from "vitest";
import { OPERATOR } from "../../src/domain/callers/caller.ts";
import { relayEvents } from "../../src/outbound/relay.ts";
import { deleteUserData } from "../../src/store/accounts/account-deletion.ts";
import { dropOutbound } from "../../src/store/outbound/outbound-retention.ts";
import { inTransaction } from "../../src/store/transaction.ts";
import { type SignedDelivery, signedDelivery } from "../fixtures/fixture.ts";
import { type PaymentFacts, type PaymentWord, paymentEvents } from "../fixtures/payments.ts";
import { CREATED, minute, subscriptionEvents, UPDATED } from "../fixtures/subscription-events.ts";
import { freshRuntime } from "../support/fresh-runtime.ts";
import { SECRETS } from "../support/variables.ts";
import { ACCESS_CONTEXT } from "./access-context.ts";

const LIMITS = {
  synchronousCommit: "on",
  lockTimeoutMs: 5_000,
  statementTimeoutMs: 5_000,
  idleTimeoutMs: 5_000,
} as const;

const { test, runtime } = freshRuntime({ users: 3 });
beforeEach(async () => {
  await test.rows(
    `truncate webhook_attempt, webhook_delivery, outbound_change_set, outbound_event, outbound_unlinked_payment,
       payment, payment_name, payment_reversal`,
  );
  await test.rows("delete from subscription");
});

const ofSubscription = subscriptionEvents(
  { planId: "team", priceId: "price_team_monthly" },
  { status: "active", seats: 5 },
);

async function receive({ rawBody, headers }: SignedDelivery): Promise<void> {
  const result = await runtime.intake.receive("provider-a", { rawBody, header: (name) => headers[name] });
  expect(result).toMatchObject({ outcome: "applied" });
}

async function receivePayment(word: PaymentWord, facts: Partial<PaymentFacts> = {}): Promise<void> {
  for (const { body } of paymentEvents(
    "stripe",
    word,
    { key: "1", subscriptionId: "sub", ...facts },
    minute(0),
  ))
    await receive(
      signedDelivery("stripe", body, {
        secret: SECRETS["provider-a"],
        nowSeconds: Math.floor(Date.now() / 1000),
      }),
    );
}

const relay = () => relayEvents({ database: test.database, ...ACCESS_CONTEXT });

type Reported = {
  type: string;
  subject: string;
  userId: string | null;
  subscriptionId: string | null;
  receipt: string | null;
};

async function reportedPayments(): Promise<Reported[]> {
  await relay();
  return test.rows<Reported>(
    `select type, subject, data ->> 'userId' as "userId", data -> 'payment' ->> 'subscriptionId' as "subscriptionId",
       data -> 'payment' ->> 'receiptUrl' as receipt
     from outbound_event where type like 'payment.%' and position is not null order by position`,
  );
}

async function subscriptionId(): Promise<string> {
  const [row] = await test.rows<{ id: string }>("select id from subscription");
  return row?.id as string;
}

const unlinked = (type: string) => ({ type, userId: null, subscriptionId: null, receipt: null });

async function linked(type: string) {
  const id = await subscriptionId();
  const receipt = "https://invoice.stripe.com/i/1";
  return { type, subject: id, userId: "user_1", subscriptionId: id, receipt };
}

it("reports a payment of nobody known again once its subscription tells whose it is", async () => {
  await receivePayment("paid");
  expect(await reportedPayments()).toMatchObject([unlinked("payment.paid")]);
  await receive(ofSubscription(CREATED));
  expect(await reportedPayments()).toMatchObject([unlinked("payment.paid"), await linked("payment.paid")]);
  await receive(ofSubscription(UPDATED, { seats: 7 }));
  expect(await reportedPayments()).toHaveLength(2);
});

it("reports it as it is by then", async () => {
  await receivePayment("paid");
  await receivePayment("partly_refunded");
  expect(await reportedPayments()).toHaveLength(2);
  await receive(ofSubscription(CREATED));
  expect((await reportedPayments()).slice(2)).toEqual([await linked("payment.refunded")]);
});

it("doesn't report a payment again whose event has named its user, or another subscription's", async () => {
  await receivePayment("paid", { userId: "user_1" });
  await receivePayment("paid", { key: "2", subscriptionId: "sub_2" });
  expect(await reportedPayments()).toMatchObject([
    { userId: "user_1", subscriptionId: null },
    unlinked("payment.paid"),
  ]);
  await receive(ofSubscription(CREATED));
  expect(await reportedPayments()).toHaveLength(2);
});

it("reports it again although the two are stored at once, neither seeing the other", async () => {
  await receivePayment("paid");
  const late = await test.rows(
    "delete from outbound_event where type like 'payment.%' returning type, subject, data",
  );
  const [{ type, subject, data }] = late as [Record<string, unknown>];
  await inTransaction(test.database, LIMITS, async (transaction) => {
    // Written before the subscription is visible, and committed after that has been relayed.
    await transaction.run(
      {
        name: "late_event",
        text: "insert into outbound_event (type, subject, data) values ($1, $2, $3::text::json)",
      },
      [type, subject, JSON.stringify(data)],
    );
    await receive(ofSubscription(CREATED));
    await relay();
    await transaction.commitAfter([]);
  });
  expect(await reportedPayments()).toMatchObject([unlinked("payment.paid"), await linked("payment.paid")]);
});

it("leaves no receipt behind when the account is deleted", async () => {
  await receivePayment("paid");
  await relay();
  await receive(ofSubscription(CREATED));
  expect(await reportedPayments()).toHaveLength(2);
  const canceled = new Set([await subscriptionId()]);
  await deleteUserData(test.database, "user_1", { canceled, by: OPERATOR });
  expect(await reportedPayments()).toMatchObject([unlinked("payment.paid"), { userId: null, receipt: null }]);
});

it("forgets payments that stay without a subscription as long as their events are stored", async () => {
  await receivePayment("paid");
  await relay();
  const waiting = () => test.rows("select from outbound_unlinked_payment");
  await dropOutbound(test.database, { olderThanDays: 30, limit: 10 });
  expect(await waiting()).toHaveLength(1);
  await test.rows("update outbound_unlinked_payment set added_at = added_at - interval '31 days'");
  await dropOutbound(test.database, { olderThanDays: 30, limit: 10 });
  expect(await waiting()).toEqual([]);
});
