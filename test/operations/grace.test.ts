import { beforeEach, expect, it, onTestFinished, vi } from "vitest";
import plans from "../../plans.config.ts";
import { remindOfGrace } from "../../src/billing/remind-of-grace.ts";
import { graceReminders } from "../../src/domain/notifications/grace-reminders.ts";
import { showAccess } from "../../src/operations/subscriptions/show-access.ts";
import { graceJob } from "../../src/runtime/account-jobs.ts";
import { createSubscription } from "../support/subscriptions.ts";
import { testDatabase } from "../support/test-database.ts";
import { createTestContext, session } from "./test-context.ts";

const SINCE = Date.UTC(2026, 4, 1);
const GRACE_DAYS = plans.plans.find(({ id }) => id === "pro")?.graceDays as number;

const test = testDatabase(3);
beforeEach(async () => {
  await test.rows("delete from subscription");
  await test.rows("delete from notification");
});

const pastDue = (userId: string | null = "user_1", since = SINCE) =>
  createSubscription(test, userId, { status: "past_due", past_due_since: new Date(since).toISOString() });

const remindAt = (days: number) =>
  remindOfGrace(
    { database: test.database, plans },
    { now: new Date(SINCE + days * 86_400_000), isStopping: () => false },
  );
const sent = async () =>
  (await test.rows<{ kind: string }>("select kind from notification order by id")).map(({ kind }) => kind);

it("reminds in the middle of the grace period and a day before its end, once each", async () => {
  await pastDue();
  await remindAt(GRACE_DAYS / 2 - 0.01);
  expect(await sent()).toEqual([]);
  for (const days of [GRACE_DAYS / 2, GRACE_DAYS / 2 + 1]) await remindAt(days);
  expect(await sent()).toEqual(["grace_period_reminder"]);
  await Promise.all([1, 2, 3].map(() => remindAt(GRACE_DAYS - 1)));
  await remindAt(GRACE_DAYS - 0.5);
  expect(await sent()).toEqual(["grace_period_reminder", "grace_period_ending"]);
  const [row] = await test.rows<{ ends: string }>(
    "select details->>'endsAt' as ends from notification limit 1",
  );
  expect(new Date(row?.ends as string).getTime()).toBe(SINCE + GRACE_DAYS * 86_400_000);
});

it("sends nothing after the end, and no late reminder that the next one replaces", async () => {
  await pastDue("user_1");
  await remindAt(GRACE_DAYS + 1);
  expect(await sent()).toEqual([]);
  await remindAt(GRACE_DAYS - 0.9);
  expect(await sent()).toEqual(["grace_period_ending"]);
});

it("stops reminders after payment, and starts again with the next failed renewal", async () => {
  const id = await pastDue();
  await remindAt(GRACE_DAYS / 2);
  await test.rows("update subscription set status = 'active', past_due_since = null where id = $1", [id]);
  await remindAt(GRACE_DAYS - 1);
  expect(await sent()).toEqual(["grace_period_reminder"]);
  await test.rows(
    "update subscription set status = 'past_due', past_due_since = $2::timestamptz where id = $1",
    [id, new Date(SINCE + 30 * 86_400_000).toISOString()],
  );
  await remindAt(30 + GRACE_DAYS / 2);
  expect(await sent()).toEqual(["grace_period_reminder", "grace_period_reminder"]);
});

it("reminds of each subscription that has a user", async () => {
  await pastDue("user_1");
  await remindAt(GRACE_DAYS / 2);
  // With the account deleted, nobody is left to be reminded of the second one.
  await pastDue(null);
  await pastDue("user_2");
  await remindAt(GRACE_DAYS / 2);
  expect(await test.rows("select user_id from notification order by id")).toEqual([
    { user_id: "user_1" },
    { user_id: "user_2" },
  ]);
});

it("reminds of all in one run, however many they are", async () => {
  await test.rows(
    `insert into subscription (id, user_id, provider, provider_subscription_id, plan_id, seats, status, past_due_since,
       cancel_at_period_end, out_of_order)
     select gen_random_uuid(), 'user_1', 'provider-a', 'sub_' || n, 'pro', 1, 'past_due', $1::timestamptz, false, false
     from generate_series(1, 501) as n`,
    [new Date(SINCE).toISOString()],
  );
  await remindAt(GRACE_DAYS / 2);
  expect(await sent()).toHaveLength(501);
});

it("reminds nobody whose subscription seems active until it is compared", async () => {
  await pastDue();
  await test.rows("update subscription set status = 'active', out_of_order = true");
  await remindAt(GRACE_DAYS / 2);
  expect(await sent()).toEqual([]);
});

it("reminds nobody whose access ends before the grace period does, whether or not they pay", async () => {
  const id = await pastDue();
  const endsAfter = async (days: number, isScheduled: boolean) => {
    await test.rows(
      "update subscription set cancel_at_period_end = $2, current_period_end = $3::timestamptz where id = $1",
      [id, isScheduled, new Date(SINCE + days * 86_400_000).toISOString()],
    );
    await remindAt(GRACE_DAYS / 2);
    return sent();
  };
  expect(await endsAfter(GRACE_DAYS - 0.1, true)).toEqual([]);
  expect(await endsAfter(GRACE_DAYS - 0.1, false)).toEqual(["grace_period_reminder"]);
  await test.rows("delete from grace_reminder");
  expect(await endsAfter(GRACE_DAYS, true)).toHaveLength(2);
});

it.each([
  ["refunded", "afterRefund"],
  ["disputed", "afterDispute"],
] as const)("reminds nobody whose access has ended as the last payment was %s", async (status, rule) => {
  const subscriptionId = `sub_${status}`;
  await createSubscription(test, "user_1", {
    provider_subscription_id: subscriptionId,
    status: "past_due",
    past_due_since: new Date(SINCE).toISOString(),
  });
  await test.rows(
    `insert into payment (provider, provider_payment_id, provider_subscription_id, amount, currency, state, status, occurred_at)
     values ('provider-a', $1, $2, 2000, 'EUR', 'paid', $3, '2026-04-01')`,
    [`in_${status}`, subscriptionId, status],
  );
  await remindAt(GRACE_DAYS / 2);
  expect(await sent()).toEqual([]);
  const keeping = plans.plans.map((plan) => ({ ...plan, [rule]: "keep_access" as const }));
  await remindOfGrace(
    { database: test.database, plans: { plans: keeping } },
    { now: new Date(SINCE + (GRACE_DAYS / 2) * 86_400_000), isStopping: () => false },
  );
  expect(await sent()).toEqual(["grace_period_reminder"]);
});

it("leaves out reminders that would come together", () => {
  expect(graceReminders(0)).toEqual([]);
  expect(graceReminders(1)).toEqual([]);
  expect(graceReminders(2).map(({ stage }) => stage)).toEqual(["last_day"]);
  expect(graceReminders(7).map(({ stage }) => stage)).toEqual(["middle", "last_day"]);
});

it("gives access during the grace period and ends it afterwards", async () => {
  await pastDue("user_1", Date.now() - 86_400_000);
  await pastDue("user_2", Date.now() - (GRACE_DAYS + 1) * 86_400_000);
  const { call } = createTestContext(test);
  const [during, after] = await Promise.all([
    call(showAccess, session("user_1")),
    call(showAccess, session("user_2")),
  ]);
  expect(during.items).toMatchObject([
    { hasAccess: true, reason: "grace", until: expect.any(Date), price: { amount: 2000, interval: "month" } },
  ]);
  expect(after.items).toMatchObject([{ hasAccess: false, reason: "grace_over", until: null }]);
});

it("reminds of an end, and records one that has come, in one run of the job", async () => {
  await pastDue("user_1", Date.now() - (GRACE_DAYS - 0.5) * 86_400_000);
  const over = await pastDue("user_2", Date.now() - (GRACE_DAYS + 0.5) * 86_400_000);
  await test.rows("update subscription set created_at = past_due_since where id = $1", [over]);
  const lease = { name: "job:grace-reminders", token: "" };
  await graceJob({ plans }, test).run({ lease, isStopping: () => false });
  expect(await sent()).toEqual(["grace_period_ending"]);
  const ended = "select subscription_id as id from grace_reminder where stage = 'over'";
  expect(await test.rows(ended)).toEqual([{ id: over }]);
});

it("neither reminds of nor records an end that has come by the clock of this server alone", async () => {
  await pastDue("user_1", Date.now());
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 2 * GRACE_DAYS * 86_400_000 });
  onTestFinished(() => void vi.useRealTimers());
  const lease = { name: "job:grace-reminders", token: "" };
  await graceJob({ plans }, test).run({ lease, isStopping: () => false });
  expect(await test.rows("select stage from grace_reminder")).toEqual([]);
});
