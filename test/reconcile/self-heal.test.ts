import { randomUUID } from "node:crypto";
import { beforeEach, describe, expect, it } from "vitest";
import { OPERATOR } from "../../src/domain/callers/caller.ts";
import type { PaymentApi, WaitingChange } from "../../src/domain/providers/payment-api.ts";
import { dismissReview } from "../../src/reconcile/dismiss-review.ts";
import { healFlagged, isHealDue, type SelfHealReport } from "../../src/reconcile/self-heal.ts";
import type { Runtime } from "../../src/runtime/runtime.ts";
import { acquireLease } from "../../src/store/leases.ts";
import { countFlagged, requestHeals, startDueHeals } from "../../src/store/reconciliation/heals.ts";
import { eventually } from "../support/eventually.ts";
import { startTestRuntime } from "../support/runtime.ts";
import { stripeContext, takeTurn } from "../support/stripe-context.ts";
import { STRIPE_KEY } from "../support/stripe-server.ts";
import { createSubscription } from "../support/subscriptions.ts";

const context = stripeContext();
const { eventOf, receive, truth, stored, audit } = context;

/** One run of the job; `null` when none is due or the other process holds the lease. */
async function heal(by: Runtime = context.runtime): Promise<SelfHealReport | null> {
  return (await isHealDue(by)) ? takeTurn(by, "self-heal", (turn) => healFlagged(by, turn)) : null;
}

const at = (secondsAgo: number) => new Date(Date.now() - secondsAgo * 1000);

/** A newer event, then an older one that contradicts it. */
async function receiveOutOfOrder(subscriptionId = "sub_1", userId = "user_1", by?: Runtime): Promise<void> {
  const ids = { subscriptionId, userId, customerId: `cus_of_${subscriptionId}` };
  await receive(eventOf("customer.subscription.created", { ...ids, occurredAt: at(100) }), by);
  await receive(eventOf("customer.subscription.updated", { ...ids, seats: 3, occurredAt: at(20) }), by);
  await receive(eventOf("customer.subscription.updated", { ...ids, seats: 2, occurredAt: at(50) }), by);
}

/** Lets every postponed comparison become due. */
const makeDue = () => context.test.rows("update subscription_heal set next_attempt_at = clock_timestamp()");

const fetches = () => context.stripe.calls.filter((call) => call.startsWith("GET /v1/subscriptions/"));

describe("a flagged subscription", () => {
  it("is fetched, corrected and unflagged, with an audit row", async () => {
    await receiveOutOfOrder();
    expect(await stored()).toMatchObject([{ seats: 2, out_of_order: true }]);
    truth({ seats: 3 });
    expect(await heal()).toEqual({ corrected: 1, postponed: 0, settled: 0 });
    expect(await stored()).toMatchObject([{ seats: 3, out_of_order: false }]);
    const changes = { seats: [2, 3], outOfOrder: [true, false] };
    expect(await audit()).toEqual([{ changes, by: "server", user_id: null }]);
    expect(await context.test.rows("select * from subscription_heal")).toEqual([]);
  });

  it("is fetched once for any number of flagging events and processes", async () => {
    await receiveOutOfOrder();
    await receive(eventOf("customer.subscription.updated", { seats: 4, occurredAt: at(60) }));
    truth({ seats: 3 });
    await Promise.all([heal(), heal(context.other), heal()]);
    expect(fetches()).toHaveLength(1);
    expect(await audit()).toHaveLength(1);
  });

  it("stays flagged when the provider does not know it, and is fetched again only after its next event", async () => {
    await receiveOutOfOrder();
    expect(await heal()).toEqual({ corrected: 0, postponed: 0, settled: 1 });
    await makeDue();
    expect(await heal()).toBeNull();
    expect(fetches()).toHaveLength(1);
    expect(await stored()).toMatchObject([{ out_of_order: true }]);
    expect(await countFlagged(context.test.database)).toEqual([
      { provider: "provider-a", flagged: 1, settled: 1 },
    ]);

    await receive(eventOf("customer.subscription.updated", { seats: 5, occurredAt: at(10) }));
    truth({ seats: 5 });
    expect(await heal()).toEqual({ corrected: 1, postponed: 0, settled: 0 });
  });

  it("is tried again later when its correction fails", async () => {
    await receiveOutOfOrder();
    truth({ seats: 3 });
    context.refuseChangesOf("user_1");
    expect(await heal()).toEqual({ corrected: 0, postponed: 1, settled: 0 });
    expect(await context.test.rows("select last_problem from subscription_heal")).toEqual([
      { last_problem: 'withSubscriptionChange of plugin "refusing" failed' },
    ]);
  });

  it.each([500, 401])("is tried again with growing waits while the provider returns %i", async (status) => {
    await receiveOutOfOrder();
    truth({ seats: 3 });
    context.stripe.interfere(async () => ({ status }));
    const waits: number[] = [];
    for (let attempt = 1; attempt <= 3; attempt += 1) {
      expect(await heal()).toMatchObject({ postponed: 1 });
      const [row] = await context.test.rows<{ attempts: number; wait: number }>(
        `select attempts, extract(epoch from next_attempt_at - clock_timestamp())::float8 as wait
         from subscription_heal where last_problem <> ''`,
      );
      expect(row?.attempts).toBe(attempt);
      waits.push(row?.wait ?? 0);
      expect(await heal(context.other)).toBeNull();
      await makeDue();
    }
    expect(waits[2]).toBeGreaterThan(waits[0] as number);
    context.stripe.interfere(null);
    expect(await heal()).toMatchObject({ corrected: 1 });
    expect(await stored()).toMatchObject([{ seats: 3, out_of_order: false }]);
  });

  it("is taken over from a crashed process once its lease has expired", async () => {
    await receiveOutOfOrder();
    truth({ seats: 3 });
    await acquireLease(context.test.database, "job:self-heal", { seconds: 60 });
    expect(await heal()).toBeNull();
    await context.test.rows("update lease set held_until = clock_timestamp()");
    expect(await heal()).toMatchObject({ corrected: 1 });
  });

  it("is compared again after attempts that ended the process, with growing waits", async () => {
    await receiveOutOfOrder();
    truth({ seats: 3 });
    const retries = { firstRetrySeconds: 60, maxRetrySeconds: 200 };
    const waits: number[] = [];
    for (let attempt = 1; attempt <= 3; attempt += 1) {
      await takeTurn(context.runtime, "self-heal", ({ lease }) =>
        startDueHeals(context.test.database, "provider-a", { ...retries, limit: 5 }, lease),
      );
      const [row] = await context.test.rows<{ wait: number }>(
        "select extract(epoch from next_attempt_at - clock_timestamp())::float8 as wait from subscription_heal",
      );
      waits.push(row?.wait ?? 0);
      expect(await heal()).toBeNull();
      await makeDue();
    }
    // Each had decreased a little when it was read.
    expect(waits.map((wait) => Math.ceil(wait / 20) * 20)).toEqual([60, 120, 200]);
    expect(await heal()).toMatchObject({ corrected: 1 });
  });

  it("is left to the process that has taken the lease over", async () => {
    await receiveOutOfOrder();
    truth({ seats: 3 });
    const lost = { name: "job:self-heal", token: randomUUID() };
    await acquireLease(context.test.database, lost.name, { seconds: 60 });
    expect(await healFlagged(context.runtime, { lease: lost, isStopping: () => false })).toEqual({
      corrected: 0,
      postponed: 0,
      settled: 0,
    });
    expect(fetches()).toEqual([]);
  });

  it("is fetched while the provider of another slot does not answer", async () => {
    const { intake, payments } = context.runtime;
    const stripe = payments["provider-a"] as PaymentApi;
    const { promise: answer, resolve: give } = Promise.withResolvers<null>();
    let isAsked = false;
    const silent: PaymentApi = {
      ...stripe,
      fetchSubscription: () => {
        isAsked = true;
        return answer;
      },
    };
    const prompt: PaymentApi = { ...stripe, fetchSubscription: async () => null };
    const tools = { intake, payments: { ...payments, "provider-a": silent, "provider-b": prompt } };
    await createSubscription(context.test, null, { out_of_order: true });
    const healing = takeTurn(context.runtime, "self-heal", (turn) => healFlagged(tools, turn));
    await eventually(async () => isAsked, true);
    await createSubscription(context.test, null, { provider: "provider-b", out_of_order: true });
    const settled = async () =>
      (await countFlagged(context.test.database)).find(({ provider }) => provider === "provider-b")?.settled;
    await eventually(settled, 1).finally(() => give(null));
    expect(await healing).toEqual({ corrected: 0, postponed: 0, settled: 2 });
  });

  it("is compared at least every 18 minutes, however often that has failed", async () => {
    await receiveOutOfOrder();
    truth({ seats: 3 });
    context.stripe.interfere(async () => ({ status: 500 }));
    await heal();
    await context.test.rows("update subscription_heal set attempts = 5000, next_attempt_at = now()");
    expect(await heal()).toMatchObject({ postponed: 1 });
    expect(
      await context.test.rows(
        "select next_attempt_at <= clock_timestamp() + interval '18 minutes' as soon from subscription_heal",
      ),
    ).toEqual([{ soon: true }]);
  });

  it("is not fetched from a slot without a provider, or before an event has named its id", async () => {
    await createSubscription(context.test, null, { provider: "provider-b", out_of_order: true });
    const requestedThere = await createSubscription(context.test, null, { provider: "provider-b" });
    await requestHeals(context.test.database, [requestedThere], { inSeconds: 0 });
    await createSubscription(context.test, null, { provider_subscription_id: null, out_of_order: true });
    expect(await heal()).toBeNull();
    expect(context.stripe.calls).toEqual([]);
  });
});

describe("a grace period", () => {
  const pastDueSince = () =>
    context.test.rows("select status, past_due_since::text as since from subscription").then(([row]) => row);
  const update = (status: "active" | "past_due", secondsAgo: number) =>
    receive(eventOf("customer.subscription.updated", { status, occurredAt: at(secondsAgo) }));

  beforeEach(async () => {
    await receive(eventOf("customer.subscription.created", { occurredAt: at(900) }));
    await update("past_due", 600);
  });

  it("keeps its start when a late event says that the subscription is active", async () => {
    const before = await pastDueSince();
    await update("active", 800);
    expect(await stored()).toMatchObject([{ status: "active", out_of_order: true }]);
    truth({ status: "past_due" });
    expect(await heal()).toMatchObject({ corrected: 1 });
    expect(await pastDueSince()).toEqual(before);
  });

  it("keeps its start when the next event repeats, before the comparison, that it is past due", async () => {
    const before = await pastDueSince();
    await update("active", 800);
    await update("past_due", 500);
    expect(await pastDueSince()).toEqual(before);
  });

  it("keeps its start when an event from before the last comparison says that the subscription is active", async () => {
    const before = await pastDueSince();
    await update("active", 800);
    truth({ status: "past_due" });
    expect(await heal()).toMatchObject({ corrected: 1 });
    await update("active", 500);
    expect(await stored()).toMatchObject([{ status: "active", out_of_order: true }]);
    expect(await heal()).toMatchObject({ corrected: 1 });
    expect(await pastDueSince()).toEqual(before);
  });

  it("starts now when an event from before the last comparison says that the subscription is past due", async () => {
    await update("active", 800);
    truth({ status: "active" });
    expect(await heal()).toMatchObject({ corrected: 1 });
    await update("past_due", 500);
    const sinceComparison =
      "select past_due_since > clock_timestamp() - interval '400 seconds' as is_now from subscription";
    expect(await context.test.rows(sinceComparison)).toEqual([{ is_now: true }]);
  });

  it.each([
    ["a newer event says that the subscription is active", () => update("active", 400)],
    [
      "the provider says that it is active",
      async () => {
        truth({ status: "active" });
        expect(await heal()).toMatchObject({ corrected: 1 });
      },
    ],
    [
      "the operator accepts it as active",
      async () => {
        const [{ id }] = (await context.test.rows("select id from subscription")) as [{ id: string }];
        await dismissReview(context.runtime.intake, { id, by: OPERATOR, reason: "paid" });
      },
    ],
  ])("ends, also after a late event, when %s", async (_, settle) => {
    const before = await pastDueSince();
    await update("active", 800);
    await settle();
    expect(await pastDueSince()).toEqual({ status: "active", since: null });
    const nextFailure = new Date(Date.now() + 1_000);
    await receive(eventOf("customer.subscription.updated", { status: "past_due", occurredAt: nextFailure }));
    expect(await pastDueSince()).toMatchObject({ status: "past_due" });
    expect(await pastDueSince()).not.toEqual(before);
  });
});

const requested = () => context.test.rows<{ requested: boolean }>("select requested from subscription_heal");

describe("a subscription whose price is in no plan", () => {
  const UNKNOWN = { priceId: "price_legacy", seats: 4 };

  it("is compared when an event could not be applied, without an effect of that event", async () => {
    await receive(eventOf("customer.subscription.created", { occurredAt: at(100) }));
    const failed = eventOf("customer.subscription.updated", { ...UNKNOWN, planId: null, occurredAt: at(50) });
    expect(await receive(failed)).toMatchObject({ outcome: "failed" });
    expect(await stored()).toMatchObject([{ plan_id: "pro", seats: 1, out_of_order: false }]);
    await eventually(requested, [{ requested: true }]);
    await makeDue();
    truth({ priceId: "price_team_monthly", seats: 6 });
    expect(await heal()).toMatchObject({ corrected: 1 });
    expect(await stored()).toMatchObject([{ plan_id: "team", seats: 6, out_of_order: false }]);
    expect(await requested()).toEqual([]);
  });

  it.each([null, "pro"])(
    "is flagged with the reason, and compared again later (metadata: %s)",
    async (planId) => {
      await context.test.rows(`update "user" set role = 'admin' where id = 'user_9'`);
      await receive(eventOf("customer.subscription.created", { occurredAt: at(100) }));
      await receive(eventOf("customer.subscription.updated", { ...UNKNOWN, planId, occurredAt: at(50) }));
      if (planId === null) await eventually(requested, [{ requested: true }]);
      await makeDue();
      truth({ ...UNKNOWN, planId });
      expect(await heal()).toMatchObject({ postponed: 1 });
      const reason = 'no plan has the price "price_legacy"';
      expect(await context.test.rows("select last_problem from subscription_heal")).toEqual([
        { last_problem: reason },
      ]);
      expect(await stored()).toMatchObject([{ plan_id: "pro", out_of_order: true }]);
      await makeDue();
      expect(await heal()).toMatchObject({ postponed: 1 });
      const notified = await context.test.rows(
        "select user_id, details->>'price' as price from notification where kind = 'price_unknown'",
      );
      expect(notified).toEqual([{ user_id: "user_9", price: "price_legacy" }]);
      await makeDue();
      truth({ priceId: "price_team_monthly", seats: 6, planId });
      expect(await heal()).toMatchObject({ corrected: 1 });
      expect(await stored()).toMatchObject([{ plan_id: "team", seats: 6, out_of_order: false }]);
    },
  );
});

it("compares a subscription that a payment of its checkout, reported after its end, has made active", async () => {
  await receive(eventOf("customer.subscription.created", { occurredAt: at(100) }));
  await receive(eventOf("customer.subscription.deleted", { occurredAt: at(50) }));
  const eventType = "checkout.session.async_payment_succeeded";
  await receive(eventOf("checkout.session.completed", { eventType, occurredAt: at(20) }));
  expect(await stored()).toMatchObject([{ status: "active", out_of_order: false }]);
  await eventually(requested, [{ requested: true }]);
  await makeDue();
  truth({}, "customer.subscription.deleted");
  context.stripe.subscriptions.set("sub_1", {
    ...context.stripe.subscriptions.get("sub_1"),
    status: "canceled",
  });
  expect(await heal()).toMatchObject({ corrected: 1 });
  expect(await stored()).toMatchObject([{ status: "canceled", out_of_order: false }]);
});

describe("a checkout that names no subscription", () => {
  const purchase = () =>
    receive(eventOf("checkout.session.completed", { subscriptionId: null, occurredAt: at(20) }));

  it("takes over the one that its customer has at the provider", async () => {
    await purchase();
    await eventually(requested, [{ requested: true }]);
    await makeDue();
    truth({ seats: 3 });
    truth({ subscriptionId: "sub_ended", status: "canceled" });
    expect(await heal()).toMatchObject({ corrected: 1 });
    expect(
      await context.test.rows("select user_id, provider_subscription_id as id, seats from subscription"),
    ).toEqual([{ user_id: "user_1", id: "sub_1", seats: 3 }]);
    expect(await audit()).toMatchObject([{ by: "server", changes: { seats: [1, 3] } }]);
    expect(await requested()).toEqual([]);
  });

  it("is looked up again while the provider lists none, and left to its next event after eight times", async () => {
    await purchase();
    await eventually(requested, [{ requested: true }]);
    for (let n = 1; n < 8; n += 1) {
      await makeDue();
      expect(await heal()).toMatchObject({ postponed: 1 });
    }
    await makeDue();
    expect(await heal()).toMatchObject({ settled: 1 });
    await makeDue();
    expect(await heal()).toBeNull();
    // As its next event does.
    await context.test.rows("update subscription set updated_at = clock_timestamp()");
    expect(await heal()).toMatchObject({ postponed: 1 });
  });

  it("is looked up also where it is flagged", async () => {
    await purchase();
    await eventually(requested, [{ requested: true }]);
    await context.test.rows("update subscription set out_of_order = true");
    await makeDue();
    truth({ seats: 3 });
    // Then it is compared as well.
    expect(await heal()).toEqual({ corrected: 2, postponed: 0, settled: 0 });
    expect(await stored()).toMatchObject([{ user_id: "user_1", seats: 3, out_of_order: false }]);
  });

  it("is not looked up once an event has named its id", async () => {
    await purchase();
    await eventually(requested, [{ requested: true }]);
    await receive(eventOf("customer.subscription.created", { occurredAt: at(10) }));
    await makeDue();
    truth();
    expect(await heal()).toMatchObject({ corrected: 1 });
    expect(await stored()).toHaveLength(1);
  });

  it("keeps what events say that arrive while the provider lists it", async () => {
    await purchase();
    await eventually(requested, [{ requested: true }]);
    await makeDue();
    truth();
    const listed = [...context.stripe.subscriptions.values()];
    context.stripe.interfere(async ({ path }) => {
      if (path !== "/v1/subscriptions") return undefined;
      await receive(eventOf("customer.subscription.created", { occurredAt: at(10) }));
      await receive(eventOf("customer.subscription.updated", { status: "past_due", occurredAt: at(5) }));
      return { status: 200, body: { object: "list", data: listed, has_more: false } };
    });
    expect(await heal()).toMatchObject({ corrected: 1 });
    expect(await stored()).toMatchObject([{ status: "past_due", out_of_order: false }]);
  });
});

it("spaces the fetches of all processes 200 ms apart", async () => {
  for (let n = 0; n < 6; n += 1) await receiveOutOfOrder(`sub_${n}`, `user_${n}`);
  for (let n = 0; n < 6; n += 1)
    truth({ subscriptionId: `sub_${n}`, customerId: `cus_of_sub_${n}`, seats: 3 });
  const [before] = await context.test.rows<{ at: number }>(
    "select extract(epoch from clock_timestamp())::float8 as at",
  );
  await Promise.all([heal(), heal(context.other)]);
  expect(fetches()).toHaveLength(6);
  const [pace] = await context.test.rows<{ at: number }>(
    "select extract(epoch from next_fetch_at)::float8 as at from heal_pace",
  );
  expect((pace?.at ?? 0) - (before?.at ?? 0)).toBeGreaterThanOrEqual(6 * 0.2);
});

it("waits for a fetch that another process has reserved", async () => {
  await receiveOutOfOrder();
  truth({ seats: 3 });
  const reserve = `insert into heal_pace values ('provider-a', clock_timestamp() + interval '2 seconds')
    on conflict (provider) do update set next_fetch_at = excluded.next_fetch_at returning next_fetch_at::text as until`;
  const [reserved] = await context.test.rows<{ until: string }>(reserve);
  let isEarly: unknown;
  context.stripe.interfere(async () => {
    // Timers may end a little early.
    const text = "select clock_timestamp() < $1::timestamptz - interval '10 ms' as early";
    [isEarly] = await context.test.rows(text, [reserved?.until]);
    return undefined;
  });
  expect(await heal()).toMatchObject({ corrected: 1 });
  expect(isEarly).toEqual({ early: false });
});

it("does not wait for a fetch that was reserved while the database's clock was ahead", async () => {
  await receiveOutOfOrder();
  truth({ seats: 3 });
  await context.test.rows(
    `insert into heal_pace (provider, next_fetch_at) values ('provider-a', now() + interval '1 day')
     on conflict (provider) do update set next_fetch_at = excluded.next_fetch_at`,
  );
  expect(await heal()).toMatchObject({ corrected: 1 });
});

it("does not wait for an attempt that was scheduled while the database's clock was ahead", async () => {
  await receiveOutOfOrder();
  truth({ seats: 3 });
  await context.test.rows(
    `insert into subscription_heal (subscription_id, attempts, next_attempt_at)
     select id, 1, now() + interval '1 day' from subscription`,
  );
  expect(await heal()).toMatchObject({ corrected: 1 });
});

it("is not requested by the intake while SELF_HEAL is off", async () => {
  const runtime = await startTestRuntime(context.test.url, {
    PROVIDER_A_API_KEY: STRIPE_KEY,
    PROVIDER_A_API_URL: context.stripe.url,
    SELF_HEAL: "off",
  });
  await receiveOutOfOrder("sub_1", "user_1", runtime);
  await runtime.close();
  expect(await stored()).toMatchObject([{ seats: 2, out_of_order: true }]);
  expect(await context.test.rows("select * from subscription_heal")).toEqual([]);
});

describe("a change for the period's end whose response was lost", () => {
  const end = new Date(Date.now() + 86_400_000);
  const atEnd = { priceId: "price_team_monthly", seats: 8, at: end };
  const shown = () =>
    context.test.rows(
      `select plan_id as "planId", price_id as "priceId", seats, takes_effect_at as at from scheduled_change`,
    );

  async function request(): Promise<void> {
    const [{ id }] = (await context.test.rows("select id from subscription")) as [{ id: string }];
    await requestHeals(context.test.database, [id], { inSeconds: 0 });
  }

  /** One round of the job, at a provider where this change waits. */
  async function healWhere(
    waiting: WaitingChange | null,
    meanwhile = async (): Promise<void> => {},
  ): Promise<SelfHealReport | null> {
    const { intake, payments } = context.runtime;
    const stripe = payments["provider-a"] as PaymentApi;
    const fetchScheduledChange = async () => {
      await meanwhile();
      return waiting;
    };
    const api: PaymentApi = { ...stripe, fetchScheduledChange };
    const tools = { intake, payments: { ...payments, "provider-a": api } };
    return takeTurn(context.runtime, "self-heal", ({ lease }) =>
      healFlagged(tools, { lease, isStopping: () => true }),
    );
  }

  async function requestAndHealWhere(
    ...provider: Parameters<typeof healWhere>
  ): ReturnType<typeof healWhere> {
    await request();
    return healWhere(...provider);
  }

  beforeEach(async () => {
    await receive(eventOf("customer.subscription.created"));
    truth();
  });

  it("is shown if the provider has accepted it, and no longer once it has withdrawn it", async () => {
    expect(await requestAndHealWhere(atEnd)).toEqual({ corrected: 1, postponed: 0, settled: 0 });
    expect(await shown()).toEqual([{ planId: "team", ...atEnd }]);
    await requestAndHealWhere(null);
    expect(await shown()).toEqual([]);
  });

  it("is not shown at a price that no plan has", async () => {
    await requestAndHealWhere(atEnd);
    await requestAndHealWhere({ ...atEnd, priceId: "price_of_nobody" });
    expect(await shown()).toEqual([]);
  });

  it.each([
    [
      "made",
      "insert into scheduled_change select id, 'pro', 5, now() + interval '1 day', $1 from subscription",
    ],
    ["replaced", "update scheduled_change set price_id = $1"],
    ["withdrawn", "delete from scheduled_change where $1 <> ''"],
  ])("gives way to one that is %s meanwhile", async (made, statement) => {
    if (made !== "made") await requestAndHealWhere(atEnd);
    const waiting = { ...atEnd, seats: 9 };
    await requestAndHealWhere(waiting, async () => {
      await context.test.rows(statement, ["price_pro_yearly"]);
    });
    const expected = made === "withdrawn" ? [] : [{ priceId: "price_pro_yearly" }];
    expect(await shown()).toMatchObject(expected);
    expect(await shown()).toHaveLength(expected.length);
  });

  it("is looked for again where it was requested while a comparison was under way", async () => {
    await requestAndHealWhere(null, request);
    expect(await shown()).toEqual([]);
    await makeDue();
    expect(await healWhere(atEnd)).toMatchObject({ corrected: 1 });
    expect(await shown()).toEqual([{ planId: "team", ...atEnd }]);
  });
});
