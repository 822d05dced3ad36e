import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { OPERATOR } from "../../src/domain/callers/caller.ts";
import { replay } from "../../src/intake/claims/replay.ts";
import { retryDue } from "../../src/intake/claims/retry.ts";
import type { Runtime } from "../../src/runtime/runtime.ts";
import type { FixtureOverrides } from "../fixtures/overrides.ts";
import {
  CHECKOUT,
  CREATED,
  DELETED,
  minute,
  subscriptionEvents,
  UPDATED,
} from "../fixtures/subscription-events.ts";
import { freshServer } from "../support/fresh-server.ts";
import { deliverWebhook } from "../support/http.ts";
import { startTestRuntime } from "../support/runtime.ts";
import { startTestServer, type TestServer } from "../support/server.ts";

const { test, server } = freshServer({ users: 20 });
let otherServer: TestServer;
let runtime: Runtime;
beforeAll(async () => {
  otherServer = await startTestServer(test.url);
  runtime = await startTestRuntime(test.url);
});
afterAll(async () => {
  await otherServer.close();
  await runtime.close();
});
beforeEach(async () => {
  await test.rows("delete from notification");
  await test.rows("delete from subscription");
});

const event = subscriptionEvents({ planId: "pro", priceId: "price_pro_monthly" }, { status: "active" });

const TEAM: FixtureOverrides = { planId: "team", priceId: "price_team_monthly" };

async function send(delivery: ReturnType<typeof event>, to = server) {
  return deliverWebhook(to.url, "provider-a", delivery);
}

async function play(...story: [kind: string, given?: FixtureOverrides][]): Promise<void> {
  for (const [kind, overrides] of story) expect((await send(event(kind, overrides))).status).toBe(200);
}

type Row = { user_id: string; kind: string; details: Record<string, string> };

const rows = () => test.rows<Row>("select user_id, kind, details from notification order by id");
const kinds = async () => (await rows()).map(({ kind }) => kind.replace("subscription_", ""));

describe("notifications of a subscription's user", () => {
  it("report activation, plan change, past due and cancellation", async () => {
    await play(
      [CHECKOUT],
      [CREATED],
      [UPDATED, TEAM],
      [UPDATED, { ...TEAM, status: "past_due" }],
      [UPDATED, TEAM],
      [DELETED, TEAM],
    );
    const [subscription] = await test.rows<{ id: string }>("select id from subscription");
    const subscriptionId = subscription?.id;
    const user_id = "user_1";
    expect(await rows()).toEqual([
      { user_id, kind: "subscription_activated", details: { subscriptionId, planId: "pro" } },
      { user_id, kind: "subscription_plan_changed", details: { subscriptionId, from: "pro", to: "team" } },
      { user_id, kind: "subscription_past_due", details: { subscriptionId, planId: "team" } },
      { user_id, kind: "subscription_activated", details: { subscriptionId, planId: "team" } },
      { user_id, kind: "subscription_canceled", details: { subscriptionId, planId: "team" } },
    ]);
  });

  it("report a trial once, but no renewal, seat change, pause or continued past due", async () => {
    await play(
      [CREATED, { status: "trialing" }],
      [UPDATED],
      [UPDATED, { seats: 7 }],
      [UPDATED, { currentPeriodEnd: minute(1e6), cancelAtPeriodEnd: true }],
      [UPDATED, { status: "paused" }],
      [UPDATED],
    );
    expect(await kinds()).toEqual(["activated"]);
    await play([UPDATED, { status: "past_due" }], [UPDATED, { status: "past_due", seats: 8 }]);
    expect(await kinds()).toEqual(["activated", "past_due"]);
  });

  it("report once that the provider has given up on a failed payment, and that it was paid after all", async () => {
    await play(
      [CREATED],
      [UPDATED, { status: "past_due" }],
      [UPDATED, { status: "unpaid" }],
      [UPDATED, { status: "unpaid", seats: 8 }],
      [UPDATED],
    );
    expect(await kinds()).toEqual(["activated", "past_due", "unpaid", "activated"]);
  });

  it("report a plan change and past due together, and a restart on another plan as an activation", async () => {
    await play([CREATED], [UPDATED, { ...TEAM, status: "past_due" }], [DELETED, TEAM], [UPDATED]);
    expect(await kinds()).toEqual(["activated", "plan_changed", "past_due", "canceled", "activated"]);
  });

  it("report the end of an unknown subscription, but not an abandoned checkout", async () => {
    await play([CREATED, { status: "incomplete" }], [DELETED]);
    expect(await kinds()).toEqual([]);
    await play([DELETED, { subscriptionId: "another", customerId: "cus_2" }]);
    expect(await kinds()).toEqual(["canceled"]);
  });

  it("are sent once when a later event names the subscription of a checkout", async () => {
    await play([CHECKOUT, { subscriptionId: null }]);
    expect(await kinds()).toEqual([]);
    await play([CREATED], [UPDATED]);
    expect(await kinds()).toEqual(["activated"]);
  });

  it("start over when the subscription moves to another user", async () => {
    await play([CREATED], [UPDATED, { userId: "user_2" }]);
    expect((await rows()).map(({ user_id, kind }) => [user_id, kind])).toEqual([
      ["user_1", "subscription_activated"],
      ["user_2", "subscription_activated"],
    ]);
  });

  it("stop once the account is deleted", async () => {
    await play([CREATED, { userId: "user_9" }]);
    await test.rows(`delete from "user" where id = 'user_9'`);
    await test.rows("insert into deleted_user (id) values ('user_9')");
    await play(
      [UPDATED, { ...TEAM, userId: null }],
      [DELETED, { userId: "user_9" }],
      [CREATED, { userId: "user_9" }],
    );
    expect(await rows()).toEqual([]);
  });
});

describe("a repeated or late event", () => {
  it("does not notify again, on one process or two, in sequence or at once", async () => {
    const created = event(CREATED);
    const responses = await Promise.all(
      [server, otherServer, server, otherServer].map((receiver) => send(created, receiver)),
    );
    expect(responses.map(({ status }) => status)).toContain(200);
    await send(created);
    await send(created, otherServer);
    expect(await kinds()).toEqual(["activated"]);
  });

  it("does not notify again when it is replayed", async () => {
    await play([CREATED], [UPDATED, TEAM], [UPDATED, { ...TEAM, status: "past_due" }]);
    const kindsBefore = await kinds();
    const logged = await test.rows<{ id: string }>(
      "select id from webhook_delivery order by id desc limit 3",
    );
    for (const { id } of logged) {
      expect(await replay(runtime.intake, id, { force: true, by: OPERATOR })).toEqual({ outcome: "applied" });
    }
    expect(await kinds()).toEqual(kindsBefore);
  });

  it("does not notify again out of order, with or without a provider time", async () => {
    const early = event(CREATED, { status: "incomplete" });
    await play([UPDATED]);
    await send(early);
    await play([CHECKOUT], [UPDATED]);
    expect(await kinds()).toEqual(["activated"]);

    const occurredAt = minute(0);
    const facts = { occurredAt, subscriptionId: "sub_2", customerId: "cus_2", userId: "user_2" };
    await play([UPDATED, facts], [CREATED, { ...facts, status: "incomplete" }], [CHECKOUT, facts]);
    expect(await kinds()).toEqual(["activated", "activated"]);
  });

  it("does not notify again when it is older than the end", async () => {
    const created = event(CREATED);
    const changed = event(UPDATED, TEAM);
    await play([DELETED, TEAM]);
    await send(created);
    await send(changed);
    expect(await kinds()).toEqual(["canceled"]);
  });

  it("notifies when it reports something new", async () => {
    const checkout = event(CHECKOUT);
    await play([CREATED, { status: "incomplete" }]);
    await send(checkout);
    expect(await kinds()).toEqual(["activated"]);
  });
});

describe("a notification and its change", () => {
  it("are written once when the event fails at first and is retried", async () => {
    const failing = event(CREATED, { userId: "user_late" });
    expect((await send(failing)).status).toBe(500);
    expect(await rows()).toEqual([]);
    await test.rows(`insert into "user" (id, name, email) values ('user_late', 'Late', 'late@example.com')`);
    await test.rows("update webhook_delivery set next_attempt_at = now() where status = 'failed'");
    await retryDue(runtime.intake);
    await retryDue(runtime.intake);
    expect((await rows()).map(({ user_id, kind }) => [user_id, kind])).toEqual([
      ["user_late", "subscription_activated"],
    ]);
  });

  it("are rolled back together when the notification cannot be written", async () => {
    await test.rows("alter table notification add constraint refused check (details ->> 'planId' <> 'team')");
    const spoilt = event(CREATED, TEAM);
    const fine = event(CREATED, { subscriptionId: "fine", customerId: "fine", userId: "user_3" });
    const [failed, applied] = await Promise.all([send(spoilt), send(fine)]);
    expect([failed.status, applied.status]).toEqual([500, 200]);
    expect(await test.rows("select provider_subscription_id as name from subscription")).toEqual([
      { name: "fine" },
    ]);
    await test.rows("alter table notification drop constraint refused");
    expect((await send(spoilt)).status).toBe(200);
    expect(await kinds()).toEqual(["activated", "activated"]);
  });

  it("belong to the same user when many subscriptions change at once", async () => {
    const people = Array.from({ length: 15 }, (_, n) => `user_${n}`).filter((id) => id !== "user_9");
    await Promise.all(
      people.flatMap((userId, n) =>
        [CREATED, CHECKOUT].map((kind) =>
          send(
            event(kind, { userId, subscriptionId: `many_${n}`, customerId: `many_${n}` }),
            n % 2 ? server : otherServer,
          ),
        ),
      ),
    );
    const notified = await rows();
    expect(notified.map(({ user_id }) => user_id).sort()).toEqual(people.sort());
    for (const { user_id, details } of notified) {
      const [subscription] = await test.rows("select user_id from subscription where id = $1", [
        details.subscriptionId,
      ]);
      expect(subscription).toEqual({ user_id });
    }
  });

  it("reach administrators who may sign in, once, when a subscription is switched to a price that no plan has", async () => {
    await test.rows(
      `update "user" set role = 'admin', banned = id = 'user_5' where id in ('user_3', 'user_4', 'user_5')`,
    );
    try {
      await send(event(CREATED));
      const switched = { priceId: "price_of_no_plan" };
      await send(event(UPDATED, switched));
      await send(event(UPDATED, { ...switched, seats: 2 }));
      const unknownUsers = async () =>
        test.rows("select user_id, details from notification where kind = 'price_unknown' order by id");
      const [{ id }] = (await test.rows("select id from subscription")) as [{ id: string }];
      const details = {
        subscriptionId: id,
        provider: "provider-a",
        subscription: "sub",
        price: "price_of_no_plan",
      };
      const once = [
        { user_id: "user_3", details },
        { user_id: "user_4", details },
      ];
      expect((await unknownUsers()).sort(byUser)).toEqual(once);
      expect(await test.rows("select plan_id, out_of_order from subscription")).toEqual([
        { plan_id: "pro", out_of_order: true },
      ]);
      const another = { ...details, price: "price_of_none" };
      await send(event(UPDATED, { priceId: "price_of_none" }));
      expect((await unknownUsers()).slice(2).sort(byUser)).toEqual([
        { user_id: "user_3", details: another },
        { user_id: "user_4", details: another },
      ]);
    } finally {
      await test.rows(`update "user" set role = 'user', banned = false`);
    }
  });

  it("do not fail the event when its user is deleted at the same time", async () => {
    const leaving = await test.database.connection();
    try {
      await leaving.script("begin");
      await leaving.script(
        `insert into deleted_user (id) values ('user_17'); delete from "user" where id = 'user_17'`,
      );
      const answer = send(event(CREATED, { userId: "user_17" }));
      const waiting = await waitingForLock();
      expect(waiting).toBe(true);
      await leaving.script("commit");
      expect(await answer).toMatchObject({ status: 200, body: { received: true, ignored: true } });
    } finally {
      leaving.release({ healthy: true });
    }
    expect(await rows()).toEqual([]);
  });
});

function byUser(a: Record<string, unknown>, b: Record<string, unknown>): number {
  return String(a.user_id) < String(b.user_id) ? -1 : 1;
}

async function waitingForLock(): Promise<boolean> {
  const giveUpAt = performance.now() + 30_000;
  while (performance.now() < giveUpAt) {
    const [row] = await test.rows<{ count: number }>(
      "select count(*)::int as count from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
    );
    if ((row?.count ?? 0) > 0) return true;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  return false;
}
