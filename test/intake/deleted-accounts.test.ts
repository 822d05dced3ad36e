import { describe, expect, it, vi } from "vitest";
import { redactDeleted } from "../../src/accounts/redact-deleted.ts";
import { OPERATOR } from "../../src/domain/callers/caller.ts";
import { type Plan, priceIdsIn } from "../../src/domain/plans/plan.ts";
import type { Slot } from "../../src/domain/slot.ts";
import { deleteUserData, findRunning } from "../../src/store/accounts/account-deletion.ts";
import { fixtureDelivery, loadFixture, signedDelivery } from "../fixtures/fixture.ts";
import { type PaymentFacts, type PaymentWord, paymentEvents } from "../fixtures/payments.ts";
import { findInAllTables } from "../operations/find-in-all-tables.ts";
import { eventually } from "../support/eventually.ts";
import { freshRuntime } from "../support/fresh-runtime.ts";
import { createSubscription } from "../support/subscriptions.ts";
import { SECRETS } from "../support/variables.ts";

const { test, runtime } = freshRuntime({
  users: 26,
  variables: { PROVIDER_B_ADAPTER: "polar", PROVIDER_C_ADAPTER: "lemon-squeezy" },
});

// Those of provider-c are claimed before they are applied.
it.each([
  { format: "stripe", slot: "provider-a", userId: "user_1" },
  { format: "lemon-squeezy", slot: "provider-c", userId: "user_2" },
] as const)(
  "a payment of a deleted account, whose subscription was never known, is recorded without its person: $format",
  async ({ format, slot, userId }) => {
    await deleteUserData(runtime.database, userId, { canceled: new Set(), by: OPERATOR });
    const about = { key: "late", subscriptionId: "4711", customerId: "815", userId };
    for (const { body } of paymentEvents(format, "paid", about, new Date()))
      await receive(slot, format, body);
    const [log] = await test.rows(
      `select count(*) > 0 as "isFilled", count(*) filter (where strpos(payload::text, $2) > 0)::int as naming
       from webhook_delivery where provider = $1`,
      [slot, userId],
    );
    expect(log).toEqual({ isFilled: true, naming: 0 });
    expect(await test.rows("select user_id, receipt_url from payment where provider = $1", [slot])).toEqual([
      { user_id: null, receipt_url: null },
    ]);
  },
);

it.each([
  { format: "stripe", slot: "provider-a", userId: "user_3" },
  { format: "lemon-squeezy", slot: "provider-c", userId: "user_4" },
] as const)(
  "so is one that waits while the account is being deleted: $format",
  async ({ format, slot, userId }) => {
    const about = { key: "meanwhile", subscriptionId: "4712", customerId: "816", userId };
    const [event] = paymentEvents(format, "paid", about, new Date());
    await whileDeleted(userId, () => receive(slot, format, event?.body as object));
    const stored = await test.rows(
      `select p.user_id, p.receipt_url, d.payload from payment p, webhook_delivery d
       where p.provider = $1 and p.provider_subscription_id = $2 and d.id = (select max(id) from webhook_delivery)`,
      [slot, about.subscriptionId],
    );
    expect(stored).toEqual([{ user_id: null, receipt_url: null, payload: null }]);
  },
);

it("a payment that names only the subscription of a deleted account is recorded without its person", async () => {
  await createSubscription(test, "user_6", { provider_subscription_id: "sub_left", status: "canceled" });
  await deleteUserData(runtime.database, "user_6", { canceled: new Set(), by: OPERATOR });
  await test.rows("truncate webhook_delivery");
  const about = { key: "after", subscriptionId: "sub_left", customerId: "cus_left" };
  for (const { body } of paymentEvents("stripe", "paid", about, new Date()))
    await receive("provider-a", "stripe", body);
  expect(
    await test.rows("select user_id, receipt_url from payment where provider_subscription_id = 'sub_left'"),
  ).toEqual([{ user_id: null, receipt_url: null }]);
  expect(await test.rows("select payload from webhook_delivery where event_type = 'invoice.paid'")).toEqual([
    { payload: null },
  ]);
});

it("what was bought with a single payment does not stop the deletion of its account, and loses its person", async () => {
  await createSubscription(test, "user_11", { provider_subscription_id: null, is_one_time: true });
  expect(await findRunning(runtime.database, "user_11")).toEqual([]);
  expect(await deleteUserData(runtime.database, "user_11", { canceled: new Set(), by: OPERATOR })).toEqual({
    outcome: "deleted",
  });
  expect(await test.rows("select user_id, status from subscription where is_one_time")).toEqual([
    { user_id: null, status: "active" },
  ]);
});

it("what began as one is charged for once its provider has named its subscription", async () => {
  const began = { provider_subscription_id: "sub_named_since", is_one_time: true };
  await createSubscription(test, "user_14", began);
  expect(await findRunning(runtime.database, "user_14")).toMatchObject([
    { providerSubscriptionId: "sub_named_since" },
  ]);
});

describe("an event without effects that names a deleted account is kept without its payload", () => {
  const events = {
    stripe: (userId: string) => ({
      id: `evt_${userId}`,
      type: "checkout.session.expired",
      data: { object: { metadata: { userId }, customer_details: { email: "late@example.com" } } },
    }),
    polar: (userId: string) => ({
      type: "customer.updated",
      data: { id: "cus_polar", external_id: userId, email: "late@example.com" },
    }),
  };

  it("when it comes later", async () => {
    await deleteUserData(runtime.database, "user_12", { canceled: new Set(), by: OPERATOR });
    await receive("provider-a", "stripe", events.stripe("user_12"), "ignored");
    await receive("provider-b", "polar", events.polar("user_12"), "ignored");
    expect(await findInAllTables(test, "late@example.com")).toEqual([]);
  });

  it("when it waits while the account is being deleted", async () => {
    await whileDeleted("user_13", () => receive("provider-a", "stripe", events.stripe("user_13"), "ignored"));
    expect(await findInAllTables(test, "late@example.com")).toEqual([]);
  });

  it("and cancels no subscription, as it pays for none", async () => {
    await deleteUserData(runtime.database, "user_11", { canceled: new Set(), by: OPERATOR });
    const withoutAmount = {
      meta: { event_name: "subscription_payment_success", custom_data: { userId: "user_11" } },
      data: {
        type: "subscription-invoices",
        id: "1",
        attributes: { subscription_id: 4713, customer_id: 817 },
      },
    };
    await receive("provider-c", "lemon-squeezy", withoutAmount, "ignored");
    expect(
      await test.rows("select from unwanted_subscription where provider_subscription_id = '4713'"),
    ).toEqual([]);
  });

  it("but that of somebody else is kept", async () => {
    await receive("provider-b", "polar", events.polar("user_14"), "ignored");
    expect(await findInAllTables(test, "late@example.com")).not.toEqual([]);
  });
});

// What is canceled for this reason is refunded too.
it("a subscription of a deleted account that was never known is to be canceled, unless it is over", async () => {
  await deleteUserData(runtime.database, "user_5", { canceled: new Set(), by: OPERATOR });
  const events = [
    { name: "customer.subscription.created", status: "active", subscriptionId: "sub_running" },
    { name: "customer.subscription.updated", status: "active", subscriptionId: "sub_running" },
    { name: "customer.subscription.updated", status: "past_due", subscriptionId: "sub_past_due" },
    { name: "customer.subscription.updated", status: "canceled", subscriptionId: "sub_canceled" },
    { name: "customer.subscription.deleted", status: "canceled", subscriptionId: "sub_ended" },
  ] as const;
  const eventIdOf = ({ name, subscriptionId }: (typeof events)[number]) => `${name} of ${subscriptionId}`;
  for (const event of events) {
    const { name, ...overrides } = event;
    const { rawBody, headers } = fixtureDelivery("stripe", name, {
      ...overrides,
      secret: SECRETS["provider-a"],
      nowSeconds: Math.floor(Date.now() / 1000),
      eventId: eventIdOf(event),
      userId: "user_5",
      planId: "pro",
    });
    const request = { rawBody, header: (name: string) => headers[name] };
    expect((await runtime.intake.receive("provider-a", request)).outcome).toBe("ignored");
  }
  expect(
    await test.rows(
      "select provider, provider_subscription_id as id, because from unwanted_subscription order by id",
    ),
  ).toEqual([
    { provider: "provider-a", id: "sub_past_due", because: "account_deleted" },
    { provider: "provider-a", id: "sub_running", because: "account_deleted" },
  ]);
  expect(
    await test.rows("select distinct payload::text from webhook_delivery where event_id = any ($1)", [
      events.map(eventIdOf),
    ]),
  ).toEqual([{ payload: null }]);
});

// Polar gives a customer the id of our user, whatever the customer buys.
it("a subscription to another product of the provider's account is left alone", async () => {
  await deleteUserData(runtime.database, "user_10", { canceled: new Set(), by: OPERATOR });
  const becauseAfter = async (subscriptionId: string, priceId: string) => {
    const about = { userId: null, planId: null, status: "active", subscriptionId, priceId } as const;
    const { body } = loadFixture("polar", "customer.subscription.updated", about);
    Object.assign((body.data as { customer: object }).customer, { external_id: "user_10" });
    await receive("provider-b", "polar", body, "ignored");
    return test.rows("select because from unwanted_subscription where provider_subscription_id = $1", [
      subscriptionId,
    ]);
  };
  expect(await becauseAfter("sub_of_another_product", "another_product")).toEqual([]);
  const [ourProduct = ""] = priceIdsIn("provider-b", runtime.intake.plans.plans[1] as Plan);
  expect(await becauseAfter("sub_of_ours", ourProduct)).toEqual([{ because: "account_deleted" }]);
});

it("a subscription of a deleted account is canceled again once it is resumed, but not for an earlier event", async () => {
  const subscriptionId = "sub_resumed";
  const id = await createSubscription(test, "user_7", {
    provider_subscription_id: subscriptionId,
    cancel_at_period_end: true,
  });
  await deleteUserData(runtime.database, "user_7", { canceled: new Set([id]), by: OPERATOR });
  const becauseAfter = async (minute: number, cancelAtPeriodEnd: boolean) => {
    const { rawBody, headers } = fixtureDelivery("stripe", "customer.subscription.updated", {
      secret: SECRETS["provider-a"],
      nowSeconds: Math.floor(Date.now() / 1000),
      eventId: `evt_resumed_${minute}`,
      occurredAt: new Date(Date.UTC(2026, 0, 1, 0, minute)),
      subscriptionId,
      userId: "user_7",
      planId: "pro",
      priceId: "price_pro_monthly",
      status: "active",
      cancelAtPeriodEnd,
    });
    const request = { rawBody, header: (name: string) => headers[name] };
    expect((await runtime.intake.receive("provider-a", request)).outcome).toBe("applied");
    return test.rows("select because from unwanted_subscription where provider_subscription_id = $1", [
      subscriptionId,
    ]);
  };
  expect(await becauseAfter(2, true)).toEqual([]);
  // From before it was canceled: whether it goes on, the comparison with the provider tells.
  expect(await becauseAfter(1, false)).toEqual([]);
  expect(await becauseAfter(3, false)).toEqual([{ because: "resumed" }]);
});

it("a subscription is not canceled as resumed while it has its person, or once ended", async () => {
  const [kept, ended] = ["sub_kept", "sub_over"];
  await createSubscription(test, "user_23", { provider_subscription_id: kept });
  const id = await createSubscription(test, "user_24", { provider_subscription_id: ended });
  await deleteUserData(runtime.database, "user_24", { canceled: new Set([id]), by: OPERATOR });
  for (const [name, subscriptionId, userId] of [
    ["customer.subscription.updated", kept, "user_23"],
    ["customer.subscription.deleted", ended, "user_24"],
  ] as const) {
    const status = name === "customer.subscription.deleted" ? "canceled" : "active";
    const about = { subscriptionId, userId, planId: "pro", priceId: "price_pro_monthly", status } as const;
    const { body } = loadFixture("stripe", name, { ...about, cancelAtPeriodEnd: false });
    await receive("provider-a", "stripe", body);
  }
  expect(
    await test.rows(
      "select provider_subscription_id from unwanted_subscription where provider_subscription_id = any ($1)",
      [[kept, ended]],
    ),
  ).toEqual([]);
});

it("a subscription that is paid for only after its account was deleted is to be canceled and refunded", async () => {
  const subscriptionId = "sub_incomplete";
  await createSubscription(test, "user_9", {
    provider_subscription_id: subscriptionId,
    status: "incomplete",
  });
  await deleteUserData(runtime.database, "user_9", { canceled: new Set(), by: OPERATOR });
  const { rawBody, headers } = fixtureDelivery("stripe", "customer.subscription.updated", {
    secret: SECRETS["provider-a"],
    nowSeconds: Math.floor(Date.now() / 1000),
    eventId: "evt_paid_at_last",
    subscriptionId,
    userId: "user_9",
    planId: "pro",
    priceId: "price_pro_monthly",
    status: "active",
    cancelAtPeriodEnd: false,
  });
  const request = { rawBody, header: (name: string) => headers[name] };
  expect((await runtime.intake.receive("provider-a", request)).outcome).toBe("applied");
  expect(
    await test.rows("select because from unwanted_subscription where provider_subscription_id = $1", [
      subscriptionId,
    ]),
  ).toEqual([{ because: "account_deleted" }]);
  expect(await test.rows("select payload from webhook_delivery where event_id = 'evt_paid_at_last'")).toEqual(
    [{ payload: null }],
  );
});

it("an event of a deleted account that fails keeps its payload, which the retry needs", async () => {
  const subscriptionId = "sub_of_bygone_plan";
  const id = await createSubscription(test, "user_20", {
    provider_subscription_id: subscriptionId,
    price_id: "price_old",
  });
  await deleteUserData(runtime.database, "user_20", { canceled: new Set([id]), by: OPERATOR });
  const { rawBody, headers } = fixtureDelivery("stripe", "customer.subscription.updated", {
    secret: SECRETS["provider-a"],
    nowSeconds: Math.floor(Date.now() / 1000),
    eventId: "evt_of_bygone_plan",
    subscriptionId,
    userId: "user_20",
    planId: "bygone",
    priceId: "price_bygone",
  });
  const request = { rawBody, header: (name: string) => headers[name] };
  expect((await runtime.intake.receive("provider-a", request)).outcome).toBe("failed");
  expect(
    await test.rows(
      "select last_reason, payload is not null as kept from webhook_delivery where event_id = 'evt_of_bygone_plan'",
    ),
  ).toEqual([{ last_reason: "plan_unknown", kept: true }]);
});

describe("a dispute, which names only the payment, keeps nothing of a deleted account", () => {
  async function happens(word: PaymentWord, about: PaymentFacts): Promise<void> {
    for (const { body } of paymentEvents("stripe", word, about, new Date())) {
      const { object } = body.data as { object: object };
      const evidence = { customer_email_address: "disputing@example.com" };
      const data = word === "paid" ? { object } : { object: { ...object, evidence } };
      await receive("provider-a", "stripe", { ...body, data });
    }
  }

  it("before or after the deletion", async () => {
    const about = {
      key: "disputed",
      subscriptionId: "sub_disputed",
      customerId: "cus_disputed",
      userId: "user_0",
    };
    await createSubscription(test, "user_0", {
      provider_subscription_id: "sub_disputed",
      status: "canceled",
    });
    await happens("paid", about);
    await happens("disputed", about);
    await deleteUserData(runtime.database, "user_0", { canceled: new Set(), by: OPERATOR });
    await redactDeleted(runtime, () => false);
    await happens("dispute_won", about);
    expect(await findInAllTables(test, "disputing@example.com")).toEqual([]);
  });

  it("when those of several accounts arrive at once", async () => {
    const accounts = ["user_21", "user_22"].map((userId) => ({
      key: `together_${userId}`,
      subscriptionId: `sub_together_${userId}`,
      customerId: `cus_together_${userId}`,
      userId,
    }));
    for (const about of accounts) {
      const { userId, subscriptionId } = about;
      await createSubscription(test, userId, {
        provider_subscription_id: subscriptionId,
        status: "canceled",
      });
      await happens("paid", about);
      await deleteUserData(runtime.database, userId, { canceled: new Set(), by: OPERATOR });
    }
    await redactDeleted(runtime, () => false);
    await Promise.all(accounts.map((about) => happens("disputed", about)));
    expect(await findInAllTables(test, "disputing@example.com")).toEqual([]);
  });

  it("that has paid for a subscription only after it", async () => {
    const about = {
      key: "paid_late",
      subscriptionId: "sub_paid_late",
      customerId: "cus_paid_late",
      userId: "user_8",
    };
    await deleteUserData(runtime.database, "user_8", { canceled: new Set(), by: OPERATOR });
    const { rawBody, headers } = fixtureDelivery("stripe", "customer.subscription.created", {
      ...about,
      secret: SECRETS["provider-a"],
      nowSeconds: Math.floor(Date.now() / 1000),
      eventId: "evt_paid_late",
      planId: "pro",
      status: "active",
    });
    const request = { rawBody, header: (name: string) => headers[name] };
    expect((await runtime.intake.receive("provider-a", request)).outcome).toBe("ignored");
    await happens("paid", about);
    await happens("disputed", about);
    expect(await findInAllTables(test, "disputing@example.com")).toEqual([]);
  });
});

it("a single payment keeps nothing of an account deleted since, which its late invoice does not bring back", async () => {
  const email = "once@example.com";
  const paid = {
    customer: null,
    invoice: "in_once",
    payment_intent: "pi_once",
    amount_total: 900,
    currency: "eur",
  };
  const invoice = {
    id: "in_once",
    amount_paid: 900,
    amount_due: 900,
    currency: "eur",
    customer_email: email,
  };
  const receipt = { ...invoice, hosted_invoice_url: "https://example.com/once" };
  const metadata = { userId: "user_15", planId: "pro" };
  const buyer = { customer_details: { email } };
  const happens = (type: string, object: object) =>
    receive("provider-a", "stripe", {
      id: `evt_once_${type}`,
      type,
      created: 1_772_366_400,
      data: { object },
    });
  await happens("checkout.session.completed", { mode: "payment", metadata, ...buyer, ...paid });
  await happens("invoice_payment.paid", { invoice: "in_once", payment: { payment_intent: "pi_once" } });
  await happens("invoice.payment_failed", receipt);
  await deleteUserData(runtime.database, "user_15", { canceled: new Set(), by: OPERATOR });
  await redactDeleted(runtime, () => false);
  await happens("invoice.paid", receipt);
  expect(await findInAllTables(test, email)).toEqual([]);
  expect(await findInAllTables(test, "https://example.com/once")).toEqual([]);
});

describe("an earlier single payment of a deleted account", () => {
  const metadata = { userId: "user_17", planId: "pro" };
  const still = { ...metadata, userId: "user_18" };
  const session = (name: string) => ({
    ...{ mode: "payment", metadata, customer: null, amount_total: 900, currency: "eur" },
    ...{ invoice: `in_${name}`, payment_intent: `pi_${name}` },
  });
  const happens = (type: string, name: string, object: object, expected?: "ignored") => {
    const event = { id: `evt_${type}_${name}`, type, created: 1_772_366_400, data: { object } };
    return receive("provider-a", "stripe", event, expected);
  };
  const receipt = "https://example.com/earlier";
  const invoice = {
    ...{ id: "in_earlier", amount_paid: 900, amount_due: 900, currency: "eur" },
    ...{ customer_email: "earlier@example.com", hosted_invoice_url: receipt },
  };

  it("is redacted too, where another one was stored as that of its purchase", async () => {
    for (const name of ["earlier", "later"]) {
      await happens("invoice.payment_failed", name, { ...invoice, id: `in_${name}` });
      await happens("checkout.session.completed", name, session(name));
    }
    // Earlier servers kept one purchase of a person, and no user of a payment where only the customer was named.
    await test.rows("delete from subscription where payment_id = 'in_earlier'");
    await test.rows("update payment set user_id = null where provider_payment_id = 'in_later'");
    await deleteUserData(runtime.database, "user_17", { canceled: new Set(), by: OPERATOR });
    await redactDeleted(runtime, () => false);
    for (const trace of [invoice.customer_email, receipt])
      expect(await findInAllTables(test, trace)).toEqual([]);
  });

  it("leaves no receipt where its invoice came before the deletion, and its checkout after it", async () => {
    const before = { ...invoice, id: "in_before", hosted_invoice_url: "https://example.com/before" };
    await happens("invoice.paid", "before", before);
    await deleteUserData(runtime.database, "user_19", { canceled: new Set(), by: OPERATOR });
    const gone = { ...metadata, userId: "user_19" };
    await happens(
      "checkout.session.completed",
      "before",
      { ...session("before"), metadata: gone },
      "ignored",
    );
    const rows = await test.rows("select receipt_url from payment where provider_payment_id = 'in_before'");
    expect(rows).toEqual([{ receipt_url: null }]);
  });

  it("gets no receipt again from an invoice that waits while the account is being deleted", async () => {
    await happens("checkout.session.completed", "waiting", { ...session("waiting"), metadata: still });
    const connection = await test.database.connection();
    await connection.script("begin; select from payment where provider_payment_id = 'in_waiting' for update");
    const received = happens("invoice.paid", "waiting", { ...invoice, id: "in_waiting" });
    await eventually(waiting, [{}]);
    await connection.script(
      `update payment set user_id = null, receipt_url = null where provider_payment_id = 'in_waiting';
       update subscription set user_id = null, customer_id = null where payment_id = 'in_waiting'; commit`,
    );
    connection.release({ healthy: true });
    await received;
    // Redaction, which waits for what was pending, takes the body.
    expect(await findInAllTables(test, receipt)).toEqual(["webhook_delivery.payload"]);
  });
});

it("a single payment for a plan made after the deletion is reported, and recorded without its person, as is its dispute", async () => {
  const errors = vi.spyOn(runtime.intake.log, "error");
  await deleteUserData(runtime.database, "user_16", { canceled: new Set(), by: OPERATOR });
  const buys = (intent: string, planId: string, userId = "user_16") => ({
    ...{ mode: "payment", customer: null, metadata: { userId, planId } },
    ...{ invoice: null, payment_intent: intent, amount_total: 900, currency: "eur" },
  });
  const events = {
    other: ["checkout.session.completed", buys("pi_other", "no_plan_of_ours")],
    ours: ["checkout.session.completed", buys("pi_ours", "pro")],
    free: ["checkout.session.completed", { ...buys("", "pro"), payment_intent: null, amount_total: 0 }],
    living: ["checkout.session.completed", buys("pi_living", "pro", "user_25")],
    dispute: [
      "charge.dispute.created",
      { id: "dp_ours", payment_intent: "pi_ours", amount: 900, evidence: { name: "Lost Buyer" } },
    ],
  } as const;
  for (const [id, [type, object]] of Object.entries(events))
    await receive(
      "provider-a",
      "stripe",
      { id, type, created: 1_772_366_400, data: { object } },
      id === "dispute" || id === "living" ? "applied" : "ignored",
    );
  expect(
    await test.rows(
      "select user_id, status from payment where provider_payment_id in ('pi_other', 'pi_ours')",
    ),
  ).toEqual([{ user_id: null, status: "disputed" }]);
  expect(errors.mock.calls).toEqual([
    [
      { slot: "provider-a", providerPaymentId: "pi_ours" },
      "a single payment for a plan names a deleted account: if paid since, refund it at the provider",
    ],
  ]);
  errors.mockRestore();
  expect(await findInAllTables(test, "Lost Buyer")).toEqual([]);
});

/** Lets an event arrive while its user's account is being deleted, and waits for it. */
/** Longer than an event waits for a moment: from then on it waits until the other transaction ends. */
const waiting = () =>
  test.rows(`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
    and clock_timestamp() - xact_start > interval '100 milliseconds'`);

async function whileDeleted(userId: string, arrive: () => Promise<void>): Promise<void> {
  const connection = await test.database.connection();
  await connection.script(`begin; select from "user" where id = '${userId}' for update`);
  const received = arrive();
  await eventually(waiting, [{}]);
  await connection.script(
    `insert into deleted_user (id) values ('${userId}'); delete from "user" where id = '${userId}'; commit`,
  );
  connection.release({ healthy: true });
  await received;
}

async function receive(
  slot: Slot,
  format: "stripe" | "lemon-squeezy" | "polar",
  body: object,
  expected: "applied" | "ignored" = "applied",
): Promise<void> {
  const signing = { secret: SECRETS[slot], nowSeconds: Math.floor(Date.now() / 1000) };
  const { rawBody, headers } = signedDelivery(format, body, signing);
  const send = async () =>
    (await runtime.intake.receive(slot, { rawBody, header: (name) => headers[name] })).outcome;
  let outcome = await send();
  // A lock that a slow machine holds for too long: the provider sends the event again.
  while (outcome === "unavailable") outcome = await send();
  expect(outcome).toBe(expected);
}
