import { setTimeout as sleep } from "node:timers/promises";
import "../fixtures/fifth-provider.ts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { OPERATOR } from "../../src/domain/callers/caller.ts";
import type { PaymentState } from "../../src/domain/payments/payment-state.ts";
import type { PaymentApi } from "../../src/domain/providers/payment-api.ts";
import { PaymentApiProblem } from "../../src/domain/providers/payment-api-problem.ts";
import { traitsOf, wireFormats } from "../../src/providers/registry.ts";
import { compareChanged } from "../../src/reconcile/compare-changed.ts";
import { comparePayment } from "../../src/reconcile/compare-payment.ts";
import { comparePayments } from "../../src/reconcile/compare-payments.ts";
import type { ReconcileTools } from "../../src/reconcile/reconcile-tools.ts";
import type { VerificationOptions } from "../../src/reconcile/verification.ts";
import { verify } from "../../src/reconcile/verify.ts";
import type { Runtime } from "../../src/runtime/runtime.ts";
import { deleteUserData } from "../../src/store/accounts/account-deletion.ts";
import { isLockTimeout } from "../../src/store/transaction.ts";
import { endpoint } from "../simulator/endpoint.ts";
import { API_KEY, control, order, press, simulator, type TestSimulator } from "../simulator/test-context.ts";
import { eventually } from "../support/eventually.ts";
import { startTestRuntime } from "../support/runtime.ts";
import { testDatabase } from "../support/test-database.ts";
import { SECRETS } from "../support/variables.ts";

/** Providers whose payments have a period of their own. */
const WITH_PERIOD = new Set(["stripe", "paddle", "acme-pay"]);

type Stored = {
  id: string;
  provider_payment_id: string;
  status: string;
  amount: string;
  last_event_id: string | null;
};

describe.each(wireFormats())("the payments of %s", (format) => {
  const test = testDatabase(3);
  let sim: TestSimulator;
  let runtime: Runtime;
  let isLosing = false;

  beforeAll(async () => {
    const hook = await endpoint(format, SECRETS["provider-a"]);
    sim = await simulator({ formats: { "provider-a": format }, deliverTo: () => hook.url, timeScale: 100 });
    runtime = await startTestRuntime(test.url, {
      PROVIDER_A_ADAPTER: format,
      PROVIDER_A_API_KEY: API_KEY,
      PROVIDER_A_API_URL: `${sim.url}/provider-a`,
    });
    hook.answer(async ({ rawBody, headers }) => {
      if (isLosing) return 200;
      const header = (name: string) => headers[name];
      for (;;) {
        const { outcome } = await runtime.intake.receive("provider-a", { rawBody, header });
        if (outcome !== "unavailable")
          return outcome === "applied" || outcome === "ignored" || outcome === "duplicate" ? 200 : 500;
        // Repeated later by the provider, it would come after its successors, which nothing corrects here. Not at
        // once: an overloaded intake answers before the event loop turns.
        await sleep(20);
      }
    });
    for (const user of ["user_0", "user_1"]) {
      const email = `${user}@example.com`;
      const { url } = await order(sim.url, format, { userId: user, email, seats: 2 });
      await press(url, { email, card: "4242 4242 4242 4242", action: "pay" });
    }
    await renew();
  });
  afterAll(async () => {
    await runtime.close();
    await sim.close();
  });

  const renew = () => sim.passTime("month");
  const api = () => runtime.payments["provider-a"] as PaymentApi;
  const run = (options: Partial<VerificationOptions> = {}, tools: ReconcileTools = runtime) =>
    verify(tools, {
      slots: ["provider-a"],
      sample: null,
      repair: false,
      notify: false,
      progressed: () => {},
      ...options,
    });
  /** With other answers of the provider's API. */
  const toolsWith = (answers: Partial<PaymentApi>): ReconcileTools => ({
    ...runtime,
    payments: { ...runtime.payments, "provider-a": { ...api(), ...answers } },
  });
  const payments = () =>
    test.rows<Stored>(
      "select id, provider_payment_id, status, amount, last_event_id from payment order by occurred_at, provider_payment_id",
    );
  const clean = { drift: [], repaired: 0, failed: [] };

  it("match after their events", async () => {
    const stored = await payments();
    expect(stored).toHaveLength(4);
    expect(stored.every(({ last_event_id }) => last_event_id !== null)).toBe(true);
    expect(await run()).toMatchObject({ checked: 6, ...clean });
    expect(await run({ sample: 1 })).toMatchObject({ checked: 3, ...clean });
  });

  it("are reported and repaired where they differ, without notifications", async () => {
    const [first, second, third] = (await payments()) as [Stored, Stored, Stored];
    const corrupt = (set: string, { id }: Stored) =>
      test.rows(`update payment set ${set} where id = $1`, [id]);
    await corrupt("amount = amount + 7, currency = 'XXX'", first);
    await corrupt("state = 'failed', status = 'failed'", second);
    await corrupt("refunded_amount = 3, status = 'partly_refunded'", third);
    if (WITH_PERIOD.has(format)) {
      await corrupt("period_end = period_end - interval '1 day'", first);
      await corrupt("period_start = period_start - interval '1 day'", third);
    }
    const report = await run();
    const identity = ({ id, provider_payment_id, last_event_id }: Stored) => ({
      kind: "payment",
      slot: "provider-a",
      id,
      providerId: provider_payment_id,
      lastEventId: last_event_id,
    });
    const amount = Number(first.amount);
    const expected = [
      { ...identity(first), field: "amount", ours: amount + 7, theirs: amount },
      { ...identity(first), field: "currency", ours: "XXX", theirs: expect.stringMatching(/^[A-Z]{3}$/) },
      { ...identity(second), field: "status", ours: "failed", theirs: "paid" },
      { ...identity(third), field: "status", ours: "partly_refunded", theirs: "paid" },
      { ...identity(third), field: "refundedAmount", ours: 3, theirs: 0 },
      ...(WITH_PERIOD.has(format)
        ? [
            expect.objectContaining({ ...identity(first), field: "periodEnd" }),
            expect.objectContaining({ ...identity(third), field: "periodStart" }),
          ]
        : []),
    ];
    expect(report.drift).toHaveLength(expected.length);
    expect(report.drift).toEqual(expect.arrayContaining(expected));
    const emitted = () =>
      test.rows("select type from outbound_event union all select seq::text from outbound_change_set");
    const notified = () => test.rows("select kind from notification");
    const before = [await emitted(), await notified()];
    expect(await run({ repair: true })).toMatchObject({ repaired: 3, failed: [] });
    expect([await emitted(), await notified()]).toEqual(before);
    expect(await run()).toMatchObject(clean);
    const audited = await test.rows<{ target_id: string; details: { changes: object } }>(
      "select target_id, details from audit_entry where action = 'payment.reconciled'",
    );
    expect(audited.map(({ target_id }) => target_id).sort()).toEqual(
      [first, second, third].map(({ id }) => id).sort(),
    );
    expect(audited).toContainEqual({
      target_id: second.id,
      details: { outcome: "corrected", changes: { status: ["failed", "paid"] } },
    });
  });

  it("are reported and recorded where they are missing", async () => {
    const before = await payments();
    isLosing = true;
    await renew();
    isLosing = false;
    expect(await payments()).toHaveLength(before.length);
    const report = await run({ repair: true });
    const missing = report.drift.filter(({ kind }) => kind === "payment");
    expect(missing).toHaveLength(2);
    for (const payment of missing)
      expect(payment).toMatchObject({ id: null, field: "status", ours: null, theirs: "paid" });
    expect(report.failed).toEqual([]);
    expect(await payments()).toHaveLength(before.length + 2);
    const storedPayments = await test.rows(
      `select distinct user_id from payment p where provider_payment_id = any ($1::text[])`,
      [missing.map(({ providerId }) => providerId)],
    );
    expect(storedPayments).toHaveLength(2);
    expect(await run()).toMatchObject(clean);
  });

  it("are reported where the provider has refunded one, and the repair emits events on request", async () => {
    const [subscription] = sim.subscriptions("provider-a");
    isLosing = true;
    await api().refundSubscription(subscription?.providerSubscriptionId as string);
    await sim.settle();
    isLosing = false;
    const report = await run({ repair: true, notify: true });
    const providerId = report.drift[0]?.providerId;
    expect(report.drift).toEqual([
      expect.objectContaining({ kind: "payment", field: "status", ours: "paid", theirs: "refunded" }),
      expect.objectContaining({ kind: "payment", field: "refundedAmount", ours: 0 }),
    ]);
    const refunded = await test.rows(
      "select data->'payment'->>'providerPaymentId' as id from outbound_event where type = 'payment.refunded'",
    );
    expect(refunded).toEqual([{ id: providerId }]);
    expect(await run()).toMatchObject(clean);
  });

  it("are not reported where only the list is out of date", async () => {
    const listPayments: PaymentApi["listPayments"] = async function* (selection) {
      for await (const payment of api().listPayments(selection)) {
        const { charge } = payment;
        yield { ...payment, charge: { ...charge, amount: charge.amount + 1 } };
      }
    };
    expect(await run({}, toolsWith({ listPayments }))).toMatchObject(clean);
  });

  it("are reported where the provider knows no such payment, and cannot be repaired", async () => {
    const id = format === "polar" ? "00000000-0000-4000-8000-0000000000ff" : "424242";
    await test.rows(
      `insert into payment (provider, provider_payment_id, amount, currency, state, status, occurred_at)
       values ('provider-a', $1, 100, 'EUR', 'paid', 'paid', now())`,
      [id],
    );
    const drift = [{ kind: "payment", providerId: id, field: "providerPaymentId", ours: id, theirs: null }];
    expect(await run()).toMatchObject({ drift, failed: [] });
    expect(await run({ repair: true })).toMatchObject({
      drift,
      repaired: 0,
      failed: [{ providerId: id }],
      isIncomplete: false,
    });
    await test.rows("delete from payment where provider_payment_id = $1", [id]);
  });

  it("are not asked for where they bought a plan for good or are not decided yet, and are in no list", async () => {
    await test.rows(
      `insert into payment (provider, provider_payment_id, provider_subscription_id, amount, currency, state, status, occurred_at)
       values ('provider-a', '424242', '424242', 100, 'EUR', 'paid', 'paid', now()),
         ('provider-a', '424243', null, 100, 'EUR', 'paid', null, now())`,
    );
    expect(await run()).toMatchObject(clean);
    await test.rows("delete from payment where provider_payment_id in ('424242', '424243')");
  });

  /** The provider's API, with payments in its list that are like the last one but for this. */
  function listing(others: Partial<PaymentState>[]): PaymentApi {
    const listPayments: PaymentApi["listPayments"] = async function* (selection) {
      let last: PaymentState | null = null;
      for await (const payment of api().listPayments(selection)) {
        last = payment;
        yield payment;
      }
      const { charge } = last as unknown as PaymentState;
      for (const [at, other] of others.entries())
        yield { ...(last as unknown as PaymentState), ...other, charge: { ...charge, id: `other ${at}` } };
    };
    return { ...api(), listPayments };
  }

  const of = (providerSubscriptionId: string | null, userId: string | null) => ({
    providerSubscriptionId,
    userId,
    customerId: null,
  });

  /** Where a comparison of changed subscriptions may record payments. */
  const comparing = { since: new Date(0), by: "server", isStopping: () => false } as const;

  it("are left alone where another product of the account sold them, or are undecided", async () => {
    const before = await payments();
    const other = listing([of("sub_of_another_product", null), of(null, null), { isUndecided: true }]);
    const tools = toolsWith(other);
    for (const repair of [false, true])
      expect(await run({ repair }, tools)).toMatchObject({ checked: 2 + before.length, ...clean });
    for (const dryRun of [true, false]) {
      const options = { ...comparing, dryRun };
      expect(await compareChanged(runtime.intake, "provider-a", other, options)).toMatchObject({
        payments: 0,
      });
    }
    expect(await payments()).toEqual(before);
  });

  it("are recorded by the comparison of changed subscriptions", async () => {
    const [lost] = (await payments()) as [Stored];
    await test.rows("delete from payment where id = $1", [lost.id]);
    const options = { ...comparing, dryRun: false };
    const compare = () => compareChanged(runtime.intake, "provider-a", api(), options);
    const dry = await compareChanged(runtime.intake, "provider-a", api(), { ...options, dryRun: true });
    expect(dry).toMatchObject({ payments: 1 });
    const stopping = { ...options, notify: true, failed: () => {}, isStopping: () => true };
    expect(await comparePayments(runtime.intake, "provider-a", api(), stopping)).toBe(0);
    const announced = async () =>
      (
        await test.rows(
          "select from outbound_event where type = 'payment.paid' and data->'payment'->>'providerPaymentId' = $1",
          [lost.provider_payment_id],
        )
      ).length;
    const before = await announced();
    expect(await compare()).toMatchObject({ payments: 1 });
    expect(await announced()).toBe(before + 1);
    expect(await compare()).toMatchObject({ payments: 0 });
    expect(await run()).toMatchObject(clean);
  });

  it("go on with the others where one cannot be recorded", async () => {
    const listed = listing([of(null, "user_0"), of(null, "user_0")]);
    // More than a bigint holds.
    const unstorable = ({ charge, ...state }: PaymentState): PaymentState => ({
      ...state,
      charge: charge.id === "other 0" ? { ...charge, amount: 1e30 } : charge,
    });
    const listPayments: PaymentApi["listPayments"] = async function* (selection) {
      for await (const payment of listed.listPayments(selection)) yield unstorable(payment);
    };
    const fetchPayment: PaymentApi["fetchPayment"] = async (id) => {
      for await (const payment of listPayments({ since: null, providerSubscriptionId: null }))
        if (payment.charge.id === id) return payment;
      return null;
    };
    const other = { ...api(), listPayments, fetchPayment };
    const recorded = () =>
      test.rows("select provider_payment_id from payment where provider_payment_id like 'other %'");
    const forget = () => test.rows("delete from payment where provider_payment_id like 'other %'");

    const options = { ...comparing, dryRun: false };
    const changed = await compareChanged(runtime.intake, "provider-a", other, options);
    expect([changed.payments, await recorded()]).toEqual([1, [{ provider_payment_id: "other 1" }]]);
    await forget();

    const tools = toolsWith(other);
    const report = await run({ repair: true }, tools);
    expect(report).toMatchObject({ repaired: 1, failed: [{ providerId: "other 0" }] });
    expect(await recorded()).toEqual([{ provider_payment_id: "other 1" }]);
    await forget();
  });

  it("go on with the others where the provider's answer about one is unreadable", async () => {
    const before = await payments();
    const [unreadable] = before as [Stored];
    await test.rows("update payment set state = 'failed', status = 'failed'");
    const fetchPayment: PaymentApi["fetchPayment"] = async (id) => {
      if (id === unreadable.provider_payment_id)
        throw new PaymentApiProblem("unreadable", `the payment ${id} is not as expected`);
      return api().fetchPayment(id);
    };
    const options = { ...comparing, dryRun: false };
    const other = { ...api(), fetchPayment };
    const changed = await compareChanged(runtime.intake, "provider-a", other, options);
    expect(changed.payments).toBe(before.length - 1);
    expect((await payments()).filter(({ status }) => status === "failed")).toMatchObject([
      { id: unreadable.id },
    ]);
    expect(await compareChanged(runtime.intake, "provider-a", api(), options)).toMatchObject({ payments: 1 });
  });

  it("stay disputed where the key may not read disputes, and are repaired otherwise", async () => {
    const [disputed] = (await payments()) as [Stored];
    const { id, provider_payment_id: name, amount } = disputed;
    const status = () =>
      test.rows("select status, amount from payment where provider_payment_id = $1", [name]);
    await test.rows(
      `insert into payment_reversal (provider, reversal_id, payment_name, kind, amount)
       values ('provider-a', 'a dispute', $1, 'dispute', 100)`,
      [name],
    );
    await test.rows("update payment set status = 'disputed' where id = $1", [id]);
    const unread = (state: PaymentState): PaymentState => ({ ...state, hasUnknownDisputes: true });
    const listPayments: PaymentApi["listPayments"] = async function* (selection) {
      for await (const state of api().listPayments(selection)) yield unread(state);
    };
    const fetchPayment: PaymentApi["fetchPayment"] = async (id) => {
      const state = await api().fetchPayment(id);
      return state && unread(state);
    };
    const other = { ...api(), listPayments, fetchPayment };
    const tools = toolsWith(other);
    expect(await run({ repair: true }, tools)).toMatchObject(clean);
    await test.rows("update payment set amount = amount + 1 where id = $1", [id]);
    expect(await run({ repair: true }, tools)).toMatchObject({ repaired: 1, failed: [] });
    expect(await status()).toEqual([{ status: "disputed", amount }]);
    // With a key that may, the provider's answer counts.
    expect(await run({ repair: true })).toMatchObject({ repaired: 1, failed: [] });
    expect(await status()).toEqual([{ status: disputed.status, amount }]);
    await test.rows("delete from payment_reversal where reversal_id = 'a dispute'");
  });

  it("are not counted as repaired where an event has corrected them meanwhile", async () => {
    const [first] = (await payments()) as [Stored];
    const settle = (status: string) =>
      test.rows("update payment set state = $2, status = $2 where id = $1", [first.id, status]);
    await settle("failed");
    let fetches = 0;
    const fetchPayment: PaymentApi["fetchPayment"] = async (id) => {
      fetches += 1;
      // The first one is verification's own, the second one the repair's.
      if (fetches === 2) await settle("paid");
      return api().fetchPayment(id);
    };
    const report = await run({ repair: true }, toolsWith({ fetchPayment }));
    expect(report.drift).toMatchObject([{ field: "status", ours: "failed", theirs: "paid" }]);
    expect(report).toMatchObject({ repaired: 0, failed: [] });
  });

  it("are compared again when an event is applied meanwhile", async () => {
    const [first] = (await payments()) as [Stored];
    await test.rows("update payment set state = 'failed', status = 'failed' where id = $1", [first.id]);
    let calls = 0;
    const stale = {
      fetchPayment: async (id: string) => {
        calls += 1;
        if (calls === 1) await test.rows("update payment set refunded_amount = 1 where id = $1", [first.id]);
        return api().fetchPayment(id);
      },
    };
    const options = { providerPaymentId: first.provider_payment_id, by: "server", notify: false } as const;
    expect(await comparePayment(runtime.intake, "provider-a", stale, options)).toBe("corrected");
    expect(calls).toBe(2);
    expect(await run()).toMatchObject(clean);
  });

  it("are corrected without their person while the account is being deleted", async () => {
    const [theirs] = await test.rows<Stored>(
      "select * from payment where user_id = 'user_0' and status = 'paid'",
    );
    const { id, provider_payment_id: providerPaymentId } = theirs as Stored;
    await test.rows("update payment set state = 'failed', status = 'failed' where id = $1", [id]);
    const connection = await test.database.connection();
    await connection.script(`begin; select from "user" where id = 'user_0' for update`);
    const options = { providerPaymentId, by: "server", notify: false } as const;
    const correct = (): Promise<string> =>
      comparePayment(runtime.intake, "provider-a", api(), options).catch((error) => {
        // On a busy machine the deletion may take longer.
        if (isLockTimeout(error)) return correct();
        throw error;
      });
    const corrected = correct();
    await eventually(
      () =>
        test.rows(
          "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
        ),
      [{}],
    );
    await connection.script(`update payment set receipt_url = null where user_id = 'user_0';
      insert into deleted_user (id) values ('user_0'); delete from "user" where id = 'user_0'; commit`);
    connection.release({ healthy: true });
    expect(await corrected).toBe("corrected");
    const stored = await test.rows("select status, user_id, receipt_url from payment where id = $1", [id]);
    expect(stored).toEqual([{ status: "paid", user_id: null, receipt_url: null }]);
  });

  it("are reported as missing where only their subscription, or only their user, is known", async () => {
    const [left] = await test.rows<{ id: string }>(
      "select provider_subscription_id as id from subscription where user_id is null",
    );
    const other = listing([of((left as { id: string }).id, null), of(null, "user_1")]);
    const tools = toolsWith(other);
    expect((await run({}, tools)).drift.map(({ id, providerId }) => [id, providerId])).toEqual([
      [null, "other 0"],
      [null, "other 1"],
    ]);
    const options = { ...comparing, dryRun: true };
    expect(await compareChanged(runtime.intake, "provider-a", other, options)).toMatchObject({ payments: 2 });
  });

  it("are reported as missing where only their customer is known, who has had two subscriptions", async () => {
    await test.rows(
      `insert into subscription (id, user_id, provider, provider_subscription_id, customer_id, plan_id, seats, status,
         cancel_at_period_end, out_of_order)
       select gen_random_uuid(), user_id, 'provider-a', id, customer, 'team', 1, 'canceled', false, false
       from (values ('had_1', 'own', 'user_1'), ('had_2', 'own', 'user_1'), ('had_3', 'shared', 'user_1'),
         ('had_4', 'shared', 'user_2')) as had (id, customer, user_id)`,
    );
    const ofCustomer = (customerId: string) => ({ ...of(null, null), customerId });
    const tools = toolsWith(listing([ofCustomer("own"), ofCustomer("shared")]));
    const { drift } = await run({}, tools);
    const ofPayments = drift.filter(({ kind }) => kind === "payment");
    expect(ofPayments.map(({ providerId }) => providerId)).toEqual(["other 0"]);
    await test.rows("delete from subscription where customer_id in ('own', 'shared')");
  });

  it("are corrected without their person when the account was deleted and no subscription of theirs is known", async () => {
    await test.rows("delete from subscription where user_id = 'user_1'");
    const theirs = await test.rows<Stored>("select * from payment where user_id = 'user_1'");
    expect(theirs).not.toEqual([]);
    await deleteUserData(runtime.database, "user_1", { canceled: new Set(), by: OPERATOR });
    const ids = theirs.map(({ id }) => id);
    await test.rows("update payment set state = 'failed', status = 'failed' where id = any ($1::uuid[])", [
      ids,
    ]);
    expect(await run({ repair: true })).toMatchObject({ repaired: theirs.length });
    const persons = await test.rows(
      "select distinct user_id, receipt_url from payment where id = any ($1::uuid[])",
      [ids],
    );
    expect(persons).toEqual([{ user_id: null, receipt_url: null }]);
  });

  const { listsEvents, losesEventsWhileDisabled } = traitsOf(format);
  it.runIf(!listsEvents || losesEventsWhileDisabled)(
    "are corrected by the comparison of changed subscriptions where a refund's event was lost, however old they are",
    async () => {
      const [old] = (await payments()) as [Stored];
      // The renewals, and the refund, are a month later.
      const since = new Date(Date.now() + 24 * 60 * 60 * 1000);
      isLosing = true;
      await control(sim.url, "/provider-a/refund", { payment: old.provider_payment_id });
      await sim.settle();
      const options = { ...comparing, since, dryRun: false };
      const compare = () => compareChanged(runtime.intake, "provider-a", api(), options);
      expect([await compare(), await compare()]).toMatchObject([{ payments: 1 }, { payments: 0 }]);
      expect(await payments()).toContainEqual(expect.objectContaining({ id: old.id, status: "refunded" }));
      expect(await run()).toMatchObject(clean);
    },
  );
});
