import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { OPERATOR } from "../../src/domain/callers/caller.ts";
import type { Changes } from "../../src/domain/subscriptions/changes.ts";
import { replay } from "../../src/intake/claims/replay.ts";
import { retryDue } from "../../src/intake/claims/retry.ts";
import type { ReceiveResult } from "../../src/intake/intake.ts";
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
import { eventually } from "../support/eventually.ts";
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
  await test.rows("truncate webhook_attempt, webhook_delivery");
  await test.rows("delete from subscription");
});

const END = "2031-02-03T04:05:06.000Z";

const event = subscriptionEvents(
  {
    planId: "team",
    priceId: "price_team_monthly",
    currentPeriodEnd: new Date(END),
    cancelAtPeriodEnd: false,
  },
  { status: "active", seats: 5 },
);

async function send(delivery: ReturnType<typeof event>, to = server) {
  return deliverWebhook(to.url, "provider-a", delivery);
}

async function play(...story: [kind: string, given?: FixtureOverrides][]): Promise<void> {
  for (const [kind, overrides] of story) expect((await send(event(kind, overrides))).status).toBe(200);
}

function receive({ rawBody, headers }: ReturnType<typeof event>): Promise<ReceiveResult> {
  return runtime.intake.receive("provider-a", { rawBody, header: (name) => headers[name] });
}

type Row = { subscription_id: string | null; changes: Changes | null };

/** Of all attempts: those that have changed something in the order in which they did, and then the others. */
const attempts = () =>
  test.rows<Row>(
    `select subscription_id, changes from webhook_attempts
     order by changed_at nulls last, delivery_id, claim_no`,
  );
const changes = async () => (await attempts()).map((row) => row.changes);

describe("changes recorded with an attempt", () => {
  it("records each changed field with its old and new value, null for a new subscription", async () => {
    await play(
      [CREATED, { status: "trialing" }],
      [UPDATED, { status: "past_due", seats: 7 }],
      [UPDATED, { status: "past_due", seats: 7, planId: "pro", priceId: "price_pro_monthly" }],
      [
        UPDATED,
        {
          status: "past_due",
          seats: 7,
          planId: "pro",
          priceId: "price_pro_monthly",
          cancelAtPeriodEnd: true,
          currentPeriodEnd: minute(1e6),
        },
      ],
      [
        DELETED,
        {
          planId: "pro",
          priceId: "price_pro_monthly",
          seats: 7,
          cancelAtPeriodEnd: true,
          currentPeriodEnd: minute(1e6),
        },
      ],
    );
    expect(await changes()).toEqual([
      {
        planId: [null, "team"],
        seats: [null, 5],
        status: [null, "trialing"],
        currentPeriodEnd: [null, END],
        providerSubscriptionId: [null, "sub"],
      },
      { status: ["trialing", "past_due"], seats: [5, 7] },
      { planId: ["team", "pro"] },
      { cancelAtPeriodEnd: [false, true], currentPeriodEnd: [END, minute(1e6).toISOString()] },
      { status: ["past_due", "canceled"] },
    ]);
    const [{ id } = { id: "" }] = await test.rows<{ id: string }>("select id from subscription");
    expect((await attempts()).map((row) => row.subscription_id)).toEqual(Array(5).fill(id));
  });

  it("records a new provider subscription id and the out-of-order mark", async () => {
    const early = event(UPDATED, { seats: 3 });
    await play([CHECKOUT, { subscriptionId: null }], [CREATED]);
    await send(early);
    const [, idChange, late] = await changes();
    expect(idChange).toMatchObject({ providerSubscriptionId: [null, "sub"] });
    expect(late).toEqual({ seats: [5, 3], outOfOrder: [false, true] });
  });

  it("records nothing for an event that changes nothing, is ignored or fails", async () => {
    await play([CREATED], [UPDATED], [UPDATED, { eventType: "invoice.drafted", seats: 9 }]);
    expect((await send(event(UPDATED, { subscriptionId: "x", userId: "nobody" }))).status).toBe(500);
    const [first, ...others] = await attempts();
    expect(first?.changes).not.toBeNull();
    expect(others).toHaveLength(3);
    for (const attempt of others) expect([attempt.subscription_id, attempt.changes]).toEqual([null, null]);
  });

  it("does not name the user", async () => {
    await play(
      [CREATED],
      [UPDATED, { userId: "user_2", customerId: "cus_2" }],
      [UPDATED, { seats: 6, userId: "user_2" }],
    );
    expect(await changes()).toEqual([expect.any(Object), { seats: [5, 6] }, null]);
    const [row] = await test.rows<{ text: string }>(
      "select string_agg(a::text, ' ') as text from webhook_attempts a",
    );
    expect(row?.text).toContain("sub");
    expect(row?.text).not.toMatch(/user_|cus/);
  });

  it("records changes of users who have deleted the account", async () => {
    await play([CREATED, { userId: "user_9" }]);
    await test.rows("update subscription set user_id = null, customer_id = null");
    await test.rows(`delete from "user" where id = 'user_9'`);
    await test.rows("insert into deleted_user (id) values ('user_9')");
    await play(
      [UPDATED, { userId: "user_9", seats: 6 }],
      [CREATED, { userId: "user_9", subscriptionId: "another" }],
    );
    const rows = await attempts();
    expect(rows.map((row) => row.changes)).toEqual([expect.any(Object), { seats: [5, 6] }, null]);
    expect(JSON.stringify(rows)).not.toContain("user_9");
  });
});

describe("recorded changes", () => {
  it("are written once when a delivery is repeated, on one process or two", async () => {
    const created = event(CREATED);
    await Promise.all([server, otherServer, server, otherServer].map((receiver) => send(created, receiver)));
    await send(created);
    await send(created, otherServer);
    expect(await attempts()).toHaveLength(1);
  });

  it("are written once per replay, beside the first delivery's", async () => {
    await play([CREATED], [UPDATED, { seats: 8 }]);
    const deliveries = await test.rows<{ id: string }>("select id from webhook_delivery order by id");
    const replayOf = (n: number) =>
      replay(runtime.intake, deliveries[n]?.id as string, { force: true, by: OPERATOR });
    expect([await replayOf(1), await replayOf(0)]).toEqual([{ outcome: "applied" }, { outcome: "applied" }]);
    expect(await changes()).toEqual([
      expect.objectContaining({ seats: [null, 5] }),
      { seats: [5, 8] },
      { seats: [8, 5], outOfOrder: [false, true] },
      null,
    ]);
  });
});

describe("events that are applied together", () => {
  it("record their changes in arrival order", async () => {
    await play([CREATED]);
    const blocker = await test.database.connection();
    const seats = Array.from({ length: 12 }, (_, n) => 6 + ((n * 7) % 13));
    let outcomes: Promise<ReceiveResult[]>;
    try {
      await blocker.script("begin; select from subscription for update");
      const first = receive(event(UPDATED, { seats: 300 }));
      await waitingForLock();
      // All of these wait behind it, and are applied in one group.
      outcomes = Promise.all([first, ...seats.map((seat) => receive(event(UPDATED, { seats: seat })))]);
      await blocker.script("commit");
    } finally {
      blocker.release({ healthy: true });
    }
    expect((await outcomes).map(({ outcome }) => outcome)).toEqual(Array(13).fill("applied"));
    const [, alone, ...together] = await attempts();
    expect(alone?.changes).toEqual({ seats: [5, 300] });
    expect(await test.rows("select count(distinct changed_at)::int as times from webhook_attempts")).toEqual([
      { times: seats.length + 2 },
    ]);
    expect(together.map((row) => row.changes)).toEqual(
      seats.map((after, n) => ({ seats: [seats[n - 1] ?? 300, after] })),
    );
    const transactions = await test.rows(
      "select distinct xmin::text from webhook_delivery where first_changes -> 'seats' ->> 0 is not null",
    );
    expect(transactions).toHaveLength(1);
  });

  it("record a consistent history across processes", async () => {
    await play([CREATED, { seats: 1 }]);
    const responses = await Promise.all(
      Array.from({ length: 60 }, (_, n) =>
        send(event(UPDATED, { seats: n + 2 }), n % 2 ? server : otherServer),
      ),
    );
    expect(responses.map(({ status }) => status)).toEqual(Array(60).fill(200));
    let seats: number | null = null;
    for (const change of await changes()) {
      expect(change?.seats?.[0]).toBe(seats);
      seats = change?.seats?.[1] ?? null;
    }
    expect(await test.rows("select seats from subscription")).toEqual([{ seats }]);
  });
});

async function waitingForLock(): Promise<void> {
  await eventually(
    () =>
      test.rows(
        "select count(*)::int as count from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
      ),
    [{ count: 1 }],
  );
}

describe("a change and its record", () => {
  it("are rolled back together when the record cannot be written", async () => {
    await test.rows(
      "alter table webhook_attempt add constraint refused check (changes ->> 'seats' <> '[null,77]')",
    );
    await test.rows(
      "alter table webhook_delivery add constraint refused check (first_changes ->> 'seats' <> '[null,77]')",
    );
    const spoilt = event(CREATED, { seats: 77 });
    const fine = event(CREATED, { subscriptionId: "fine", customerId: "fine", userId: "user_3" });
    try {
      const [failed, applied] = await Promise.all([send(spoilt), send(fine)]);
      expect([failed.status, applied.status]).toEqual([500, 200]);
      expect(await test.rows("select provider_subscription_id as name from subscription")).toEqual([
        { name: "fine" },
      ]);
      expect(await changes()).toEqual([expect.objectContaining({ seats: [null, 5] }), null]);
    } finally {
      await test.rows("alter table webhook_attempt drop constraint refused");
      await test.rows("alter table webhook_delivery drop constraint refused");
    }
    expect((await send(spoilt)).status).toBe(200);
    expect((await changes()).at(1)).toMatchObject({ seats: [null, 77] });
  });

  it("are rolled back together when the change cannot be written", async () => {
    await play([CREATED]);
    await test.rows("alter table subscription add constraint refused check (seats <> 78)");
    try {
      expect((await send(event(UPDATED, { seats: 78 }))).status).toBe(500);
    } finally {
      await test.rows("alter table subscription drop constraint refused");
    }
    expect(await changes()).toEqual([expect.any(Object), null]);
    await test.rows("update webhook_delivery set next_attempt_at = now() where status = 'failed'");
    await retryDue(runtime.intake);
    // A server's own pass may have been first, and be at it still.
    await eventually(async () => (await changes()).slice(1), [{ seats: [5, 78] }, null]);
  });

  it("are rolled back together when the connection breaks before the commit", async () => {
    await play([CREATED]);
    const cut = await startTestRuntime(test.url);
    try {
      cut.intake.reached = async (milestone) => {
        if (milestone === "effects written") throw new Error("cut off");
      };
      const [row] = await test.rows<{ id: string }>("select id from webhook_delivery");
      await test.rows("update subscription set seats = 2");
      await replay(cut.intake, row?.id as string, { force: true, by: OPERATOR });
    } finally {
      await cut.close();
    }
    expect(await test.rows("select seats from subscription")).toEqual([{ seats: 2 }]);
    expect((await attempts()).filter((row) => row.changes !== null)).toHaveLength(1);
  });
});
