import { beforeEach, expect, it } from "vitest";
import { OPERATOR } from "../../src/domain/callers/caller.ts";
import { deleteUser } from "../../src/operations/users/delete-user.ts";
import type { OutboundMilestone } from "../../src/outbound/milestone.ts";
import { relayBatch, relayEvents } from "../../src/outbound/relay.ts";
import { compare } from "../../src/reconcile/compare.ts";
import { dismissReview } from "../../src/reconcile/dismiss-review.ts";
import { redactOutbound } from "../../src/store/outbound/redact-outbound.ts";
import { findReconcilable } from "../../src/store/reconciliation/reconciliations.ts";
import { findSubscription } from "../../src/store/subscriptions/subscription-list.ts";
import type { FixtureOverrides } from "../fixtures/overrides.ts";
import { CREATED, DELETED, minute, subscriptionEvents, UPDATED } from "../fixtures/subscription-events.ts";
import { createTestContext, session } from "../operations/test-context.ts";
import { eventually } from "../support/eventually.ts";
import { freshRuntime } from "../support/fresh-runtime.ts";
import { ACCESS_CONTEXT } from "./access-context.ts";

const { test, runtime } = freshRuntime({ users: 20 });
beforeEach(async () => {
  await test.rows("truncate webhook_attempt, webhook_delivery, outbound_change_set, outbound_event");
  await test.rows("delete from subscription");
});

const delivery = subscriptionEvents(
  { planId: "team", priceId: "price_team_monthly" },
  { status: "active", seats: 5 },
);

async function receive({ rawBody, headers }: ReturnType<typeof delivery>) {
  return runtime.intake.receive("provider-a", { rawBody, header: (name) => headers[name] });
}

async function play(...story: [kind: string, given?: FixtureOverrides][]): Promise<void> {
  for (const [kind, overrides] of story) {
    expect(await receive(delivery(kind, overrides))).toMatchObject({ outcome: "applied" });
  }
}

type Stored = {
  id: string;
  type: string;
  position: string;
  data: Record<string, unknown>;
  occurred_at: Date;
};

async function relayed(): Promise<Stored[]> {
  await relayEvents({ database: test.database, ...ACCESS_CONTEXT });
  return test.rows<Stored>(
    "select * from outbound_event where type <> 'entitlements.changed' order by position",
  );
}

async function types(): Promise<string[]> {
  return (await relayed()).map(({ type }) => type);
}

async function positions(): Promise<number[]> {
  await relayed();
  const rows = await test.rows<{ position: string }>("select position from outbound_event order by position");
  return rows.map(({ position }) => Number(position));
}

async function theSubscription() {
  const [row] = await test.rows<{ id: string }>("select id from subscription");
  return findSubscription(test.database, row?.id as string);
}

it("writes one event per change, of the first matching type", async () => {
  await play(
    [CREATED, { status: "incomplete" }],
    [UPDATED],
    [UPDATED, { seats: 7 }],
    [UPDATED, { seats: 7, status: "past_due" }],
    [UPDATED, { seats: 7, status: "unpaid" }],
    [UPDATED, { seats: 8, status: "active" }],
    [UPDATED, { seats: 8, status: "active" }],
    [DELETED],
  );
  expect(await types()).toEqual([
    "subscription.changed",
    "subscription.started",
    "subscription.changed",
    "subscription.past_due",
    "subscription.changed",
    "subscription.changed",
    "subscription.ended",
  ]);
});

it.each(["active", "trialing"] as const)(
  "writes subscription.started once, also when its creation arrives after it is %s",
  async (status) => {
    await play(
      [UPDATED, { status, occurredAt: minute(5) }],
      [CREATED, { status: "incomplete", occurredAt: minute(4) }],
      [UPDATED, { status, occurredAt: minute(6) }],
      [DELETED, { occurredAt: minute(7) }],
      [UPDATED, { status, occurredAt: minute(8) }],
    );
    const events = await relayed();
    expect(events.map(({ type, data }) => [type, (data.subscription as { status: string }).status])).toEqual([
      ["subscription.started", status],
      ["subscription.changed", "incomplete"],
      ["subscription.changed", status],
      ["subscription.ended", "canceled"],
      ["subscription.started", status],
    ]);
  },
);

it("writes one event per change when the changes are applied in one group", async () => {
  const group = [delivery(CREATED), delivery(UPDATED, { seats: 6 }), delivery(UPDATED, { seats: 7 })];
  await Promise.all(group.map(receive));
  const events = await relayed();
  expect(events.map(({ type, data }) => [type, (data.subscription as { seats: number }).seats])).toEqual([
    ["subscription.started", 5],
    ["subscription.changed", 6],
    ["subscription.changed", 7],
  ]);
});

it("shows the subscription as it is, with its user", async () => {
  await test.rows(`update "user" set external_id = 'customer-17' where id = 'user_1'`);
  await play([CREATED], [UPDATED, { seats: 6, currentPeriodEnd: minute(900_000) }]);
  const last = (await relayed()).at(-1);
  const subscription = await theSubscription();
  expect(last?.id).toMatch(/^evt_[0-9a-f]{24}$/);
  expect(last?.data).toEqual({
    userId: "user_1",
    externalId: "customer-17",
    subscription: JSON.parse(JSON.stringify(subscription)),
  });
  expect(last?.occurred_at).toEqual(subscription?.updatedAt);
});

it("writes an event when nothing but the user changes", async () => {
  await play([CREATED], [UPDATED], [UPDATED, { userId: "user_2" }]);
  const events = await relayed();
  expect(events.map(({ type, data }) => [type, data.userId]).slice(-2)).toEqual([
    ["subscription.changed", "user_1"],
    ["subscription.changed", "user_2"],
  ]);
});

it("writes nothing for a repeat, nor for an event that fails or changes nothing", async () => {
  const created = delivery(CREATED);
  await receive(created);
  await receive(created);
  expect(
    await receive(delivery(CREATED, { userId: "nobody", subscriptionId: "other", customerId: "x" })),
  ).toMatchObject({
    outcome: "failed",
  });
  const repeated = delivery(UPDATED);
  expect(await receive(repeated)).toMatchObject({ outcome: "applied" });
  const countBefore = (await types()).length;
  await play([UPDATED]);
  expect(await types()).toHaveLength(countBefore);
});

it("assigns positions without gaps, and continues after all events were deleted", async () => {
  await play([CREATED], [UPDATED, { seats: 6 }]);
  const before = await positions();
  expect(before).toEqual(before.map((_, index) => (before[0] as number) + index));
  await test.rows("truncate outbound_change_set, outbound_event");
  await play([UPDATED, { seats: 7 }]);
  expect(await positions()).toEqual([(before.at(-1) as number) + 1]);
});

it("relays an event that the previous release has written, as that release would", async () => {
  await play([CREATED]);
  const [expected] = (await relayed()) as [Stored];
  await test.rows("truncate outbound_change_set, outbound_event");
  await test.rows(
    `insert into outbound_event (type, subject, occurred_at, data, is_complete)
     values ('subscription.started', $1, $2::timestamptz, $3::text::json, true)`,
    [
      (expected.data.subscription as { id: string }).id,
      expected.occurred_at.toISOString(),
      JSON.stringify(expected.data),
    ],
  );
  const [event] = await relayed();
  expect(event?.data).toEqual(expected.data);
});

it("removes an event that reports no change, and none that is left to the next batch", async () => {
  const write = (type: string, data: object) =>
    test.rows("insert into outbound_event (type, subject, data) values ($1, 's', $2::text::json)", [
      type,
      JSON.stringify(data),
    ]);
  // Its user has been deleted since.
  await write("entitlements.changed", { userId: null, change: {} });
  await write("user.updated", { id: "user_3", externalId: null });
  const relay = { database: test.database, ...ACCESS_CONTEXT };
  expect(await relayBatch(relay, 1)).toEqual({ events: 0, isLast: false });
  expect(await types()).toEqual(["user.updated"]);
  expect(await test.rows("select type from outbound_event")).toHaveLength(1);
});

it("relays a change that a server of an earlier commit has written, before later ones", async () => {
  await play([CREATED, { currentPeriodEnd: minute(900_000) }]);
  const [expected] = (await relayed()) as [Stored];
  await test.rows("truncate outbound_change_set, outbound_event");
  await test.rows(
    `insert into outbound_change (occurred_at, created_at, current_period_end, subscription_id, seats, cancel_at_period_end,
       out_of_order, type, user_id, provider, provider_subscription_id, plan_id, status)
     select updated_at, created_at, current_period_end, id, seats, cancel_at_period_end, out_of_order,
       'subscription.started', user_id, provider, provider_subscription_id, plan_id, status from subscription`,
  );
  await play([UPDATED, { seats: 6 }]);
  const events = await relayed();
  expect(events.map(({ type }) => type)).toEqual(["subscription.started", "subscription.changed"]);
  expect(events[0]).toMatchObject({ data: expected.data, occurred_at: expected.occurred_at });
  expect(await test.rows("select from outbound_change")).toEqual([]);
});

it("relays each event once when several processes relay at once", async () => {
  await play([CREATED], [UPDATED, { seats: 6 }], [UPDATED, { seats: 7 }]);
  const counts = await Promise.all(
    [1, 2, 3].map(() => relayEvents({ database: test.database, ...ACCESS_CONTEXT })),
  );
  const events = await positions();
  expect(counts.reduce((sum, count) => sum + count, 0)).toBe(events.length);
  expect(new Set(events).size).toBe(events.length);
});

it("does not relay an event before its transaction has committed", async () => {
  await play([CREATED]);
  const connection = await test.database.connection();
  await connection.script(
    "begin; insert into outbound_event (type, subject, data) values ('user.updated', 'a', '{\"id\":\"x\"}')",
  );
  expect(await types()).toEqual(["subscription.started"]);
  await play([UPDATED, { seats: 9 }]);
  expect(await types()).toEqual(["subscription.started", "subscription.changed"]);
  await connection.script("commit");
  connection.release({ healthy: true });
  // Written before the change of seats, but committed after it.
  expect(await types()).toEqual(["subscription.started", "subscription.changed", "user.updated"]);
});

it("relays an event whose transaction outlives many others, without rereading relayed ones", async () => {
  const seqOf = async (condition: string) => {
    const [row] = await test.rows<{ seq: string }>(
      `select max(seq) as seq from outbound_event where ${condition}`,
    );
    return Number(row?.seq);
  };
  const relayedUntil = async () => {
    const [row] = await test.rows<{ from: string }>(`select relayed_up_to as "from" from outbound_relay`);
    return Number(row?.from);
  };
  await play([CREATED]);
  const connection = await test.database.connection();
  await connection.script(
    "begin; insert into outbound_event (type, subject, data) values ('user.updated', 'a', '{\"id\":\"x\"}')",
  );
  for (let seats = 11; seats < 16; seats += 1) {
    await play([UPDATED, { seats }]);
    await relayed();
  }
  await connection.script("commit");
  connection.release({ healthy: true });
  expect((await relayed()).at(-1)).toMatchObject({ type: "user.updated", position: expect.any(String) });
  const late = await seqOf("type = 'user.updated'");
  // Not until every transaction of the cluster has ended that was open before, those of other tests too.
  for (let round = 0; (await relayedUntil()) <= late; round += 1) {
    await play([UPDATED, { seats: 16 + (round % 2) }]);
    await relayed();
  }
  expect(await relayedUntil()).toBeLessThanOrEqual(await seqOf("position is not null"));
});

it("moves on in a restored dump whose cluster had given more transaction ids", async () => {
  const relayedUpTo = async () => {
    const [row] = await test.rows<{ seq: string }>(`select relayed_up_to as seq from outbound_relay`);
    return Number(row?.seq);
  };
  await play([CREATED]);
  await relayed();
  const restored = await relayedUpTo();
  await test.rows(
    "update outbound_relay set next_relayed_until = last_relayed, next_relayed_xid = '1000000000000'",
  );
  // Not until every transaction of the cluster has ended that was open before, those of other tests too.
  let seats = 6;
  const hasMovedOn = async () => {
    seats += 1;
    await play([UPDATED, { seats }]);
    await relayed();
    return (await relayedUpTo()) > restored;
  };
  await eventually(hasMovedOn, true);
});

it("writes an event for a correction with notifications, and none without", async () => {
  await play([CREATED]);
  const corrected = async (seats: number, notify: boolean) => {
    const subscription = await theSubscription();
    const reconcilable = await findReconcilable(test.database, subscription?.id as string);
    const state = {
      kind: UPDATED,
      providerSubscriptionId: "sub",
      customerId: "cus",
      userId: null,
      planId: null,
      items: [{ priceIds: ["price_team_monthly"], seats }],
      status: "active",
      currentPeriodEnd: null,
      cancelAtPeriodEnd: null,
      occurredAtMicros: null,
    };
    const api = { fetchSubscription: async () => state as never };
    return compare(runtime.intake, api, reconcilable as never, {
      by: OPERATOR,
      audit: "changes",
      dryRun: false,
      notify,
    });
  };
  expect(await corrected(6, true)).toMatchObject({ changes: { seats: [5, 6] } });
  expect(await corrected(7, false)).toMatchObject({ changes: { seats: [6, 7] } });
  expect(await types()).toEqual(["subscription.started", "subscription.changed"]);
});

it("writes an event when a review is dismissed", async () => {
  await play([CREATED]);
  await test.rows("update subscription set out_of_order = true");
  const { id } = (await theSubscription()) as { id: string };
  expect(await dismissReview(runtime.intake, { id, by: OPERATOR, reason: "checked" })).toBe(true);
  const last = (await relayed()).at(-1);
  expect(last).toMatchObject({ type: "subscription.changed", data: { subscription: { outOfOrder: false } } });
});

it("writes an event when a user is created, updated or deleted, by any statement", async () => {
  await test.rows(`insert into "user" (id, name, email) values ('new_user', 'New', 'new@example.com')`);
  await test.rows(`update "user" set name = 'Newer' where id = 'new_user'`);
  await test.rows(`update "user" set updated_at = now(), onboarded = true where id = 'new_user'`);
  await test.rows(`delete from "user" where id = 'new_user'`);
  expect((await relayed()).map(({ type, data }) => [type, data])).toEqual(
    ["user.created", "user.updated", "user.deleted"].map((type) => [
      type,
      { id: "new_user", externalId: null },
    ]),
  );
});

it("writes no event of users while an import has switched events off", async () => {
  const connection = await test.database.connection();
  await connection.script(
    `begin; set local tollgate.events = off; insert into "user" (id, name, email) values ('imported', 'I', 'i@example.com'); commit`,
  );
  await connection.script(`update "user" set name = 'J' where id = 'imported'`);
  connection.release({ healthy: true });
  expect(await types()).toEqual(["user.updated"]);
});

it("redacts the events of a deleted user, relayed or not", async () => {
  await test.rows(
    `insert into "user" (id, name, email, external_id) values ('leaving', 'L', 'l@example.com', 'crm-7')`,
  );
  await play([CREATED, { userId: "leaving" }]);
  await relayed();
  await play([UPDATED, { userId: "leaving", status: "canceled" }]);
  await test.rows(`update "user" set name = 'M' where id = 'leaving'`);
  const context = createTestContext(test);
  await context.call(deleteUser, session("user_0", "admin"), {
    userId: "leaving",
    confirmation: "l@example.com",
  });
  const events = await relayed();
  expect(events.map(({ type }) => type)).toEqual([
    "user.created",
    "subscription.started",
    "subscription.ended",
    "user.updated",
    "user.deleted",
  ]);
  for (const { type, data } of events) {
    // The event of the deletion itself names who it was.
    if (type === "user.deleted") expect(data).toEqual({ id: "leaving", externalId: "crm-7" });
    else if (type.startsWith("user.")) expect(data).toEqual({ id: "leaving", externalId: null });
    else expect(data).toMatchObject({ userId: null, externalId: null, subscription: { userId: null } });
  }
});

it("redacts the events of a user who is deleted while they are being relayed", async () => {
  await play([CREATED, { userId: "user_3" }]);
  const positioned = Promise.withResolvers<void>();
  const mayCommit = Promise.withResolvers<void>();
  const reached = async (milestone: OutboundMilestone) => {
    if (milestone !== "positions given") return;
    positioned.resolve();
    await mayCommit.promise;
  };
  const relaying = relayEvents({ database: test.database, ...ACCESS_CONTEXT, reached });
  await positioned.promise;
  const connection = await test.database.connection();
  await connection.script("begin");
  const redacting = redactOutbound(connection, "user_3");
  await eventually(
    async () =>
      (
        await test.rows(
          "select from pg_stat_activity where datname = current_database() and cardinality(pg_blocking_pids(pid)) > 0",
        )
      ).length,
    1,
  );
  mayCommit.resolve();
  await Promise.all([relaying, redacting]);
  await connection.script("commit");
  connection.release({ healthy: true });
  const events = await relayed();
  expect(events.map(({ type }) => type)).toEqual(["subscription.started"]);
  expect(JSON.stringify(events)).not.toContain("user_3");
});
