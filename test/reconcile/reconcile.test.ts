import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { OPERATOR } from "../../src/domain/callers/caller.ts";
import type { PaymentApi } from "../../src/domain/providers/payment-api.ts";
import { PaymentApiProblem } from "../../src/domain/providers/payment-api-problem.ts";
import { SLOTS, type Slot } from "../../src/domain/slot.ts";
import { deleteAccount } from "../../src/operations/users/delete-account.ts";
import { createPaymentApi } from "../../src/providers/create-payment-api.ts";
import { type ReconcileOptions, type ReconcileReport, reconcile } from "../../src/reconcile/reconcile.ts";
import { reconcileNightly } from "../../src/reconcile/reconcile-nightly.ts";
import { acquireLease } from "../../src/store/leases.ts";
import { findInAllTables } from "../operations/find-in-all-tables.ts";
import { createTestContext, session } from "../operations/test-context.ts";
import { eventually } from "../support/eventually.ts";
import { stripeContext, takeTurn } from "../support/stripe-context.ts";
import { STRIPE_KEY } from "../support/stripe-server.ts";

const context = stripeContext();
const { eventOf, receive, truth, stored, audit, notified: notifiedKinds } = context;
let { test, stripe, runtime, other } = context;
beforeAll(() => {
  ({ test, stripe, runtime, other } = context);
});

const PERIOD = new Date("2037-03-01T00:00:00Z");

function run(options: Partial<ReconcileOptions> = {}, by = runtime): Promise<ReconcileReport> {
  return reconcile(by, {
    slots: SLOTS,
    subscription: null,
    extent: "out of order",
    since: new Date(Date.now() - 7 * 86_400_000),
    dryRun: false,
    by: OPERATOR,
    isStopping: () => false,
    ...options,
  });
}

describe("a subscription that differs from its provider's", () => {
  beforeEach(async () => {
    await receive(eventOf("customer.subscription.created"));
    await test.rows("update subscription set out_of_order = true");
  });

  it("is corrected in every field, unflagged, notified and recorded with its old values", async () => {
    truth({
      priceId: "price_team_monthly",
      seats: 7,
      status: "past_due",
      currentPeriodEnd: PERIOD,
      cancelAtPeriodEnd: true,
    });
    const report = await run();
    expect(await stored()).toEqual([
      {
        plan_id: "team",
        seats: 7,
        status: "past_due",
        current_period_end: PERIOD,
        cancel_at_period_end: true,
        out_of_order: false,
        user_id: "user_1",
      },
    ]);
    const changes = {
      planId: ["pro", "team"],
      seats: [1, 7],
      status: ["active", "past_due"],
      currentPeriodEnd: ["2037-01-01T00:00:00.000Z", PERIOD.toISOString()],
      cancelAtPeriodEnd: [false, true],
      outOfOrder: [true, false],
    };
    expect(await audit()).toEqual([{ changes, by: "operator", user_id: null }]);
    expect(report).toMatchObject({ compared: 1, corrected: [{ slot: "provider-a", changes }], left: [] });
    expect(await notifiedKinds()).toEqual([
      "subscription_activated",
      "subscription_plan_changed",
      "subscription_past_due",
    ]);
    expect(await run({ extent: "all" })).toMatchObject({ compared: 1, corrected: [] });
    expect(await audit()).toHaveLength(1);
  });

  it.each([
    ["corrected", "past_due"],
    ["confirmed", "active"],
  ] as const)("is flagged by an event from before it was %s", async (_, status) => {
    truth({ status });
    await run();
    await receive(eventOf("customer.subscription.updated", { status: "paused" }));
    expect(await stored()).toMatchObject([{ status: "paused", out_of_order: true }]);
  });

  it("is ended when it has ended at the provider", async () => {
    truth({ status: "canceled" }, "customer.subscription.deleted");
    await run();
    expect(await stored()).toMatchObject([{ status: "canceled", out_of_order: false }]);
  });

  it("is unchanged by a dry run, which reports the same", async () => {
    truth({ seats: 3 });
    const before = await stored();
    const dry = await run({ dryRun: true });
    expect(await stored()).toEqual(before);
    expect([await audit(), await notifiedKinds()]).toEqual([[], ["subscription_activated"]]);
    expect((await run()).corrected).toEqual(dry.corrected);
  });

  it("is reported and unchanged when the provider does not know it or its price is not configured", async () => {
    const before = await stored();
    expect((await run()).left).toMatchObject([{ reason: "the provider knows no subscription by this id" }]);
    truth({ priceId: "price_of_a_stranger", planId: null });
    expect((await run()).left).toMatchObject([
      {
        providerSubscriptionId: "sub_1",
        reason: 'no plan has the price "price_of_a_stranger"',
      },
    ]);
    expect(await stored()).toEqual(before);
    expect(await audit()).toEqual([]);
  });

  it("is fetched again when an event arrives meanwhile, instead of being overwritten with older data", async () => {
    truth({ seats: 2 });
    let calls = 0;
    stripe.interfere(async ({ path }) => {
      if (path !== "/v1/subscriptions/sub_1") return undefined;
      calls += 1;
      if (calls > 1) return undefined;
      const old = stripe.subscriptions.get("sub_1") as object;
      truth({ seats: 4 });
      await receive(eventOf("customer.subscription.updated", { seats: 4, status: "past_due" }));
      return { status: 200, body: old };
    });
    truth({ seats: 2 });
    const report = await run();
    expect(calls).toBe(2);
    expect(await stored()).toMatchObject([{ seats: 4, status: "active", out_of_order: false }]);
    expect(report.corrected).toMatchObject([{ changes: { status: ["past_due", "active"] } }]);
    expect(report.corrected[0]?.changes).not.toHaveProperty("seats");
  });

  it("stays compared up to the latest request, when an earlier one is answered after it", async () => {
    truth();
    await run({ extent: "all" });
    const comparedAt = () => test.rows("select compared_at_micros from subscription");
    let afterTheLater: unknown;
    let calls = 0;
    stripe.interfere(async ({ path }) => {
      if (path !== "/v1/subscriptions/sub_1") return undefined;
      calls += 1;
      if (calls > 1) return undefined;
      const askedAt = Date.now();
      await eventually(async () => Date.now() > askedAt, true);
      await run({ extent: "all" }, other);
      afterTheLater = await comparedAt();
      return undefined;
    });
    await run({ extent: "all" });
    expect(calls).toBe(2);
    expect(await comparedAt()).toEqual(afterTheLater);
  });

  it("takes events again once it is compared after a comparison by a server whose clock was ahead", async () => {
    await test.rows("update subscription set compared_at_micros = 4e15");
    truth();
    await run({ extent: "all" });
    const occurredAt = new Date(Date.now() + 60_000);
    await receive(eventOf("customer.subscription.updated", { seats: 4, occurredAt }));
    expect(await stored()).toMatchObject([{ seats: 4, out_of_order: false }]);
  });

  it("is corrected once by simultaneous runs", async () => {
    truth({ seats: 5 });
    const reports = await Promise.all([run(), run({}, other)]);
    expect(await stored()).toMatchObject([{ seats: 5 }]);
    expect(reports.flatMap(({ corrected }) => corrected)).toHaveLength(1);
    expect(await audit()).toHaveLength(1);
  });

  it("is found by its own id and by the provider's", async () => {
    truth({ seats: 2 });
    const [row] = await test.rows<{ id: string }>("select id from subscription");
    expect(await run({ subscription: "sub_1", dryRun: true })).toMatchObject({ compared: 1 });
    expect(await run({ subscription: row?.id as string })).toMatchObject({
      corrected: [{ slot: "provider-a" }],
    });
    for (const unknown of [
      { subscription: "sub_2" },
      { subscription: "sub_1", slots: ["provider-b"] as const },
    ])
      await expect(run(unknown)).rejects.toMatchObject({ code: "not_found" });
  });

  it("corrects the subscription of a deleted user without a user", async () => {
    const tools = createTestContext(test, { cancelSubscription: async () => {} });
    await tools.call(deleteAccount, session("user_1"), { confirmation: "user_1@example.com" });
    truth({ seats: 3 });
    expect((await run()).corrected).toHaveLength(1);
    expect(await stored()).toMatchObject([{ seats: 3, user_id: null }]);
    // The audit log keeps only the id of the actor.
    expect(await findInAllTables(test, "user_1")).toEqual([
      "audit_entry.actor_id",
      "audit_entry.target_id",
      "deleted_user.id",
      "outbound_event.data",
    ]);
    expect(await findInAllTables(test, "cus_1")).toEqual([]);
  });

  it("is left for later when the provider is unreachable, which is reported once", async () => {
    stripe.interfere(async () => ({ status: 500 }));
    const before = await stored();
    const { slots, compared } = await run();
    expect([compared, await stored()]).toEqual([0, before]);
    expect(slots).toMatchObject([
      { slot: "provider-a", problem: expect.stringMatching(/^unreachable: provider-a \(Stripe\)/) },
      { slot: "provider-b", problem: "no payment provider is configured for provider-b" },
      { slot: "provider-c", problem: "no payment provider is configured for provider-c" },
    ]);
  });
});

it("asks a provider that cannot be reached about one subscription, not about each", async () => {
  for (const n of [1, 2, 3])
    await receive(
      eventOf("customer.subscription.created", {
        subscriptionId: `sub_${n}`,
        userId: `user_${n}`,
        customerId: `cus_${n}`,
      }),
    );
  await test.rows("update subscription set out_of_order = true");
  const asked = new Set<string>();
  stripe.interfere(async ({ path }) => {
    asked.add(path);
    return { status: 500 };
  });
  expect(await run({ since: null })).toMatchObject({ compared: 0, left: [] });
  expect(asked.size).toBe(1);
});

describe("a provider whose rate limit is used up", () => {
  /** With a client of its own: a long pause of the shared one would hold up the other tests. */
  const reconcileApart = (options: Partial<ReconcileOptions> = {}) => {
    const connection = {
      slot: "provider-a",
      format: "stripe",
      apiKey: STRIPE_KEY,
      apiUrl: stripe.url,
    } as const;
    const payments = { ...runtime.payments, "provider-a": createPaymentApi(connection) };
    return run(options, { ...runtime, payments });
  };
  const tooMany = (retryAfter: string) => ({ status: 429, headers: { "retry-after": retryAfter } });
  beforeEach(async () => {
    await receive(eventOf("customer.subscription.created"));
    await test.rows("update subscription set out_of_order = true");
    truth({ seats: 7 });
  });

  it("is given as much time as it asks for, then the run resumes", async () => {
    let refused = 0;
    // Longer than one call lasts, so that the run itself has to wait.
    stripe.interfere(async ({ path }) => {
      if (!path.startsWith("/v1/subscriptions/") || refused > 0) return undefined;
      refused += 1;
      return tooMany("10");
    });
    const report = await reconcileApart();
    expect(refused).toBe(1);
    expect(report).toMatchObject({ compared: 1, corrected: [{ changes: { seats: [1, 7] } }] });
    expect(report.slots[0]).toMatchObject({ slot: "provider-a", problem: null });
  });

  it("is not waited for by a server that is stopping", async () => {
    let refused = 0;
    stripe.interfere(async ({ path }) => {
      if (!path.startsWith("/v1/subscriptions/")) return undefined;
      refused += 1;
      return tooMany("100");
    });
    let asked = 0;
    // Once the wait has begun.
    const isStopping = () => refused > 0 && ++asked > 1;
    const report = await reconcileApart({ isStopping });
    expect(refused).toBe(1);
    expect(report.slots[0]?.problem).toMatch(/^unreachable: /);
  });

  it("is left for the next run when it asks for an hour", async () => {
    stripe.interfere(async () => tooMany("3600"));
    const report = await reconcileApart();
    expect(report.compared).toBe(0);
    expect(report.slots[0]?.problem).toMatch(/^unreachable: /);
  });
});

describe("missed events", () => {
  /** An event of the provider, lost unless the test receives it. */
  const sent = (body: ReturnType<typeof eventOf>) => {
    stripe.events.push(body);
    return body;
  };
  const log = () =>
    test.rows(`select d.event_id, d.status, a.source, d.payload::text as payload
      from webhook_delivery d join webhook_attempts a on a.delivery_id = d.id order by d.id`);

  it("are ingested once, unchanged and in order, a subscription's first event included", async () => {
    const created = sent(eventOf("customer.subscription.created"));
    const updated = sent(eventOf("customer.subscription.updated", { seats: 4 }));
    await receive(
      sent(eventOf("customer.subscription.created", { subscriptionId: "sub_2", userId: "user_2" })),
    );
    const report = await run();
    expect(report.slots[0]?.missed).toEqual({ listed: 3, missed: 2, applied: 2, ignored: 0, failed: 0 });
    expect(await stored()).toMatchObject([{ user_id: "user_2" }, { seats: 4, user_id: "user_1" }]);
    expect((await log()).slice(1)).toEqual([
      { event_id: created.id, status: "successful", source: "reconcile", payload: JSON.stringify(created) },
      { event_id: updated.id, status: "successful", source: "reconcile", payload: JSON.stringify(updated) },
    ]);
    expect((await run()).slots[0]?.missed).toMatchObject({ listed: 3, missed: 0 });
    expect(await receive(updated)).toMatchObject({ outcome: "duplicate" });
  });

  it("are ingested once by simultaneous runs and deliveries", async () => {
    const bodies = Array.from({ length: 120 }, (_, n) =>
      sent(
        eventOf("customer.subscription.created", {
          subscriptionId: `sub_many_${n}`,
          customerId: `cus_many_${n}`,
          userId: `user_${n % 10}`,
        }),
      ),
    );
    const [first, second] = await Promise.all([
      run(),
      run({}, other),
      ...bodies.slice(0, 30).map((body) => receive(body)),
    ]);
    const applied = [first, second].map(({ slots }) => slots[0]?.missed?.applied ?? 0);
    expect((applied[0] ?? 0) + (applied[1] ?? 0)).toBeLessThanOrEqual(120);
    expect(await stored()).toHaveLength(120);
    expect(
      await test.rows("select count(*)::int as n from webhook_attempts where outcome = 'successful'"),
    ).toEqual([{ n: 120 }]);
    expect(new Set(await notifiedKinds()).size).toBe(1);
    expect(await notifiedKinds()).toHaveLength(120);
  });

  it("are searched as far back as requested, and not for a single subscription", async () => {
    sent(eventOf("customer.subscription.created", { occurredAt: new Date(Date.now() - 3 * 86_400_000) }));
    const day = new Date(Date.now() - 86_400_000);
    expect((await run({ since: day })).slots[0]?.missed).toMatchObject({ listed: 0 });
    expect((await run({ since: null })).slots[0]?.missed).toBeNull();
    expect((await run()).slots[0]?.missed).toMatchObject({ applied: 1 });
  });

  it("are searched for a shorter period where the provider refuses a longer one", async () => {
    sent(eventOf("customer.subscription.created", { occurredAt: new Date(Date.now() - 86_400_000) }));
    const searched: number[] = [];
    const searchAt = (longestMs: number) => {
      const api = runtime.payments["provider-a"] as PaymentApi;
      const listEvents: PaymentApi["listEvents"] = (since) => {
        const backMs = Date.now() - since.getTime();
        searched.push(Math.round(backMs / 3_600_000));
        if (backMs > longestMs) throw new PaymentApiProblem("rejected", "too many events");
        return (api.listEvents as NonNullable<PaymentApi["listEvents"]>)(since);
      };
      return run({}, { ...runtime, payments: { ...runtime.payments, "provider-a": { ...api, listEvents } } });
    };
    const { slots } = await searchAt(2 * 86_400_000);
    expect(slots[0]).toMatchObject({ missed: { applied: 1 }, problem: null });
    expect(searched).toEqual([168, 84, 42]);
    searched.length = 0;
    const refused = await searchAt(60_000);
    expect(refused.slots[0]).toMatchObject({ missed: null, problem: "rejected: too many events" });
    // What is refused for less than an hour is refused for another reason. Other requests may still succeed.
    expect(searched).toEqual([168, 84, 42, 21, 11, 5, 3, 1, 1]);
    await test.rows("update subscription set out_of_order = true");
    truth();
    expect(await searchAt(60_000)).toMatchObject({ compared: 1 });
  });

  it("skips events without effect, and stores one that fails, for a retry", async () => {
    sent(eventOf("customer.subscription.updated", { eventType: "invoice.created" }));
    const failing = sent(eventOf("customer.subscription.created", { userId: "nobody" }));
    expect((await run()).slots[0]?.missed).toEqual({
      listed: 2,
      missed: 1,
      applied: 0,
      ignored: 0,
      failed: 1,
    });
    expect(await log()).toMatchObject([{ event_id: failing.id, status: "failed", source: "reconcile" }]);
  });

  it("are left to the next run, which says so, while the database is too slow for them", async () => {
    sent(eventOf("customer.subscription.created"));
    await test.rows(
      `create function too_slow() returns trigger language plpgsql as $$
       begin raise exception 'canceling statement due to statement timeout' using errcode = '57014'; end $$`,
    );
    await test.rows(
      "create trigger too_slow before insert on subscription for each row execute function too_slow()",
    );
    await expect(run()).rejects.toThrow("1 of 1 missed events could not be stored in time");
    await test.rows("drop trigger too_slow on subscription");
    expect((await run()).slots[0]?.missed).toMatchObject({ missed: 1, applied: 1 });
  });

  it("corrects subscriptions that the missed events leave out of order in the same run", async () => {
    const lost = sent(eventOf("customer.subscription.created", { seats: 1 }));
    await receive(sent(eventOf("customer.subscription.updated", { seats: 5, occurredAt: new Date() })));
    truth({ seats: 5 });
    expect(await run()).toMatchObject({ compared: 1, corrected: [{ changes: { seats: [1, 5] } }] });
    expect(await stored()).toMatchObject([{ seats: 5, out_of_order: false }]);
    expect(await log()).toHaveLength(2);
    expect((await log()).at(-1)).toMatchObject({ event_id: lost.id });
  });

  it("are only listed by a dry run", async () => {
    sent(eventOf("customer.subscription.created"));
    expect((await run({ dryRun: true })).slots[0]?.missed).toMatchObject({ missed: 1, applied: 0 });
    expect([await stored(), await log()]).toEqual([[], []]);
  });
});

describe("a provider that may have made no events", () => {
  const changedWhere = async (differences: Partial<PaymentApi>) => {
    const api = runtime.payments["provider-a"] as PaymentApi;
    const payments = { ...runtime.payments, "provider-a": { ...api, ...differences } };
    const { slots } = await run({}, { ...runtime, payments });
    return slots[0]?.changed;
  };

  it("has the subscriptions compared that have changed there, no other has", async () => {
    await receive(eventOf("customer.subscription.created"));
    const { traits } = runtime.payments["provider-a"] as PaymentApi;
    const losing = { ...traits, losesEventsWhileDisabled: true };
    for (const [seats, differences] of [
      [2, { listEvents: null }],
      [3, { traits: losing }],
    ] as const) {
      truth({ seats });
      expect(await changedWhere(differences)).toMatchObject({ corrected: 1 });
    }
    truth({ seats: 4 });
    expect(await changedWhere({ traits: { ...traits, losesEventsWhileDisabled: false } })).toBeNull();
  });
});

describe("the nightly comparison", () => {
  beforeEach(async () => {
    await receive(eventOf("customer.subscription.created"));
    truth({ seats: 2 });
  });
  const nightly = (by = runtime, isStopping = () => false) =>
    takeTurn(by, "nightly-comparison", (turn) => reconcileNightly(by, turn), isStopping);

  it("compares recently changed subscriptions once a night, on one process", async () => {
    const reports = await Promise.all([nightly(), nightly(other), nightly(), nightly(other)]);
    expect(reports.filter((report) => report !== null)).toMatchObject([{ compared: 1, corrected: [{}] }]);
    expect(await nightly()).toBeNull();
    await test.rows("update nightly_reconcile set night = night - 1");
    expect(await nightly()).toMatchObject({ compared: 1 });
  });

  it("goes on with the others when one cannot be corrected", async () => {
    for (const n of [2, 3, 4, 5]) {
      const ids = { subscriptionId: `sub_${n}`, userId: `user_${n}`, customerId: `cus_${n}` };
      await receive(eventOf("customer.subscription.created", ids));
      truth({ ...ids, seats: 2 });
    }
    context.refuseChangesOf("user_1", "user_3");
    const report = await nightly();
    expect(report?.corrected).toHaveLength(3);
    const reason = 'withSubscriptionChange of plugin "refusing" failed';
    expect(report?.left).toMatchObject([{ reason }, { reason }]);
    expect(await nightly()).toBeNull();
  });

  it("goes on with the others when the provider's state of one is unreadable", async () => {
    for (const n of [2, 3]) {
      const ids = { subscriptionId: `sub_${n}`, userId: `user_${n}`, customerId: `cus_${n}` };
      await receive(eventOf("customer.subscription.created", ids));
      truth({ ...ids, seats: 2 });
    }
    const [first] = await test.rows<{ id: string }>(
      "select provider_subscription_id as id from subscription order by id",
    );
    const unreadable = first?.id as string;
    stripe.subscriptions.set(unreadable, { ...stripe.subscriptions.get(unreadable), status: "elated" });
    const report = await nightly();
    expect(report?.corrected).toHaveLength(2);
    expect(report?.left).toMatchObject([
      { providerSubscriptionId: unreadable, reason: expect.stringContaining("status") },
    ]);
    expect(await nightly()).toBeNull();
  });

  it("requests a comparison of subscriptions for which a change waits: it may have been withdrawn", async () => {
    const requested = () => test.rows("select requested from subscription_heal");
    await nightly();
    expect(await requested()).toEqual([]);
    await test.rows("update nightly_reconcile set night = night - 1");
    await test.rows(
      `insert into scheduled_change (subscription_id, plan_id, seats, takes_effect_at)
       select id, 'team', 8, now() + interval '1 day' from subscription`,
    );
    await nightly();
    await eventually(requested, [{ requested: true }]);
  });

  it("is taken over from a stopped process, and from a crashed one once its lease has expired", async () => {
    expect(await nightly(runtime, () => true)).toMatchObject({ compared: 0 });
    await acquireLease(test.database, "job:nightly-comparison", { seconds: 60 });
    expect(await nightly(other)).toBeNull();
    await test.rows("update lease set held_until = clock_timestamp()");
    expect(await nightly(other)).toMatchObject({ compared: 1, corrected: [{}] });
  });

  it("is left to a process of an earlier release that is running it", async () => {
    const night = "((clock_timestamp() at time zone 'utc') - interval '3 hours')::date";
    await test.rows(
      `insert into nightly_reconcile (night, lease_until) values (${night}, clock_timestamp() + interval '1 minute')`,
    );
    expect(await nightly()).toBeNull();
    await test.rows("update nightly_reconcile set lease_until = clock_timestamp()");
    expect(await nightly()).toMatchObject({ compared: 1 });
  });

  it("compares each slot on a server with its key, whatever other servers have finished", async () => {
    const none = { "provider-a": null, "provider-b": null, "provider-c": null };
    const withKeyOf = (slot: Slot) => ({
      ...runtime,
      payments: { ...none, [slot]: runtime.payments["provider-a"] },
    });
    const [one, two] = [withKeyOf("provider-a"), withKeyOf("provider-b")];
    expect(await nightly(one)).toMatchObject({ slots: [{ slot: "provider-a" }], compared: 1 });
    expect(await nightly(two)).toMatchObject({ slots: [{ slot: "provider-b", problem: null }] });
    expect([await nightly(one), await nightly(two)]).toEqual([null, null]);
  });

  it("is not run again when a process of an earlier release has finished it", async () => {
    const night = "((clock_timestamp() at time zone 'utc') - interval '3 hours')::date";
    await test.rows(`insert into nightly_reconcile (night, finished_at) values (${night}, now())`);
    expect(await nightly()).toBeNull();
  });

  it("is tried again while a provider is unreachable", async () => {
    stripe.interfere(async () => ({ status: 500 }));
    expect(await nightly()).toMatchObject({ compared: 0 });
    stripe.interfere(null);
    expect(await nightly(other)).toMatchObject({ compared: 1, corrected: [{}] });
    expect(await nightly()).toBeNull();
  });

  it.each([
    ["compares", 1, 47, false],
    ["skips", 0, 49, false],
    ["compares", 1, 49, true],
  ])("%s one (%i) that has changed %i hours ago, flagged: %s", async (_, compared, hours, isFlagged) => {
    await test.rows(
      "update subscription set updated_at = now() - $1::int * interval '1 hour', out_of_order = $2",
      [hours, isFlagged],
    );
    expect(await nightly()).toMatchObject({ compared });
  });

  it("ingests events that were missed in the last week", async () => {
    const lost = { subscriptionId: "sub_2", userId: "user_2", customerId: "cus_2" };
    const occurredAt = new Date(Date.now() - 6 * 86_400_000);
    stripe.events.push(eventOf("customer.subscription.created", { ...lost, occurredAt }));
    expect((await nightly())?.slots[0]?.missed).toMatchObject({ missed: 1, applied: 1 });
  });
});

it("finds the selected subscriptions in tables larger than one batch", async () => {
  await test.rows(
    `insert into subscription (id, provider, provider_subscription_id, plan_id, seats, status, cancel_at_period_end,
       out_of_order, updated_at)
     select gen_random_uuid(), 'provider-b', 'sub_long_' || n, 'pro', 1, 'canceled', false, false, now() - interval '9 days'
     from generate_series(1, 12000) n`,
  );
  const found = async (options: Partial<ReconcileOptions>) => {
    const { left } = await run({ since: null, ...options });
    return { all: left.length, different: new Set(left.map(({ subscriptionId }) => subscriptionId)).size };
  };
  // None in the first two of the three steps in which the table is scanned.
  await test.rows(
    "update subscription set out_of_order = true where id in (select id from subscription order by id desc limit 3)",
  );
  for (const extent of ["recently changed", "all"] as const) {
    expect(await found({ extent })).toEqual({ all: 3, different: 3 });
    expect(await found({ extent, slots: ["provider-a"] })).toEqual({ all: 0, different: 0 });
  }
  await test.rows("update subscription set out_of_order = provider_subscription_id like '%0'");
  expect(await found({})).toEqual({ all: 1_200, different: 1_200 });
  expect(await found({ slots: ["provider-a"] })).toEqual({ all: 0, different: 0 });
});

it("compares ended subscriptions too that have changed lately, of all that have not ended", async () => {
  for (const [n, status, days] of [
    [1, "canceled", 1],
    [2, "canceled", 3],
    [3, "paused", 3],
  ] as const) {
    await receive(eventOf("customer.subscription.created", { subscriptionId: `sub_${n}` }));
    const set = "status = $2, updated_at = now() - $3::int * interval '1 day'";
    await test.rows(`update subscription set ${set} where provider_subscription_id = $1`, [
      `sub_${n}`,
      status,
      days,
    ]);
  }
  const { left } = await run({ since: null, extent: "all" });
  expect(left.map(({ providerSubscriptionId }) => providerSubscriptionId).sort()).toEqual(["sub_1", "sub_3"]);
});
