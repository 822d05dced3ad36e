import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { OPERATOR } from "../../src/domain/callers/caller.ts";
import type { PendingChange, WithSubscriptionChange } from "../../src/domain/outbound/subscription-hook.ts";
import { callHooks, HookFailed, withHooksOf } from "../../src/intake/call-hooks.ts";
import { compare } from "../../src/reconcile/compare.ts";
import type { Runtime } from "../../src/runtime/runtime.ts";
import { findReconcilable } from "../../src/store/reconciliation/reconciliations.ts";
import { INTERACTIVE_LIMITS, inTransaction } from "../../src/store/transaction.ts";
import type { FixtureOverrides } from "../fixtures/overrides.ts";
import { CREATED, subscriptionEvents, UPDATED } from "../fixtures/subscription-events.ts";
import { eventually } from "../support/eventually.ts";
import { startTestRuntime } from "../support/runtime.ts";
import { testDatabase } from "../support/test-database.ts";

const test = testDatabase();
beforeAll(async () => {
  await test.rows(
    "create table hook_note (id bigint generated always as identity, note text not null unique)",
  );
  await test.rows("create table subscription_note (note text unique)");
});

let runtime: Runtime;
let hook: WithSubscriptionChange;
let changes: PendingChange[];
beforeEach(async () => {
  await test.rows("truncate hook_note, webhook_attempt, webhook_delivery");
  await test.rows("delete from subscription");
  changes = [];
  hook = () => {};
  await start(60_000);
});
afterEach(() => runtime.close());

/** With the given time for a call, as a busy machine needs, or with the product's. */
async function start(hookTimeoutMs?: number): Promise<void> {
  runtime = await startTestRuntime(
    test.url,
    {},
    {
      hooks: [
        {
          name: "test",
          withSubscriptionChange: (change, tx) => {
            changes.push(change);
            return hook(change, tx);
          },
        },
      ],
      ...(hookTimeoutMs === undefined ? {} : { hookTimeoutMs }),
    },
  );
}

const FACTS = { planId: "team", priceId: "price_team_monthly", status: "active", seats: 5 } as const;
const event = subscriptionEvents(FACTS, {});

async function receive(kind: string, overrides: FixtureOverrides = {}) {
  const customerId = `cus_${overrides.subscriptionId ?? "sub"}`;
  const { rawBody, headers } = event(kind, { customerId, ...overrides });
  return runtime.intake.receive("provider-a", { rawBody, header: (name) => headers[name] });
}

const notes = async () =>
  (await test.rows<{ note: string }>("select note from hook_note order by id")).map(({ note }) => note);
const seats = async () =>
  (await test.rows<{ seats: number }>("select seats from subscription order by seats")).map(
    (row) => row.seats,
  );
const lastReasons = async () =>
  (
    await test.rows<{ reason: string }>(
      "select last_reason as reason from webhook_delivery where status = 'failed'",
    )
  ).map(({ reason }) => reason);

it("sends no statement without hooks, and gives each call of a hook 200 ms", async () => {
  const transaction = { run: () => Promise.reject(new Error("a statement was sent")) } as never;
  const calls = { writes: [new Promise(() => {})], limits: {} as never };
  const change = {} as PendingChange;
  await callHooks(transaction, withHooksOf([{ name: "routes alone" }]), [change], calls);
  expect(withHooksOf([{ name: "test", withSubscriptionChange: () => {} }])).toMatchObject({
    plugins: [{ name: "test" }],
    timeoutMs: 200,
  });
});

it("lets the calls of one transaction take the time of five, and those that no event waits for what they need", async () => {
  let nowMs = 0;
  let called = 0;
  const slow = () => {
    nowMs += 50_000;
    called += 1;
  };
  const hooks = withHooksOf([{ name: "slow", withSubscriptionChange: slow }], 60_000);
  const callFor = (isUnhurried: boolean) =>
    callHooks({ run: async () => [] } as never, hooks, Array<PendingChange>(9).fill({} as PendingChange), {
      writes: [],
      limits: { lockTimeoutMs: 1 } as never,
      isUnhurried,
    });
  const clock = vi.spyOn(performance, "now").mockImplementation(() => nowMs);
  try {
    await expect(callFor(false)).rejects.toThrow(HookFailed);
    expect(called).toBe(7);
    await callFor(true);
    expect(called).toBe(7 + 9);
  } finally {
    clock.mockRestore();
  }
});

it("lets a statement of a hook wait for a lock for less than its time, then restores the transaction's limits", async () => {
  const text =
    "select current_setting('statement_timeout') as statement, current_setting('lock_timeout') as lock";
  const seen: unknown[] = [];
  const withSubscriptionChange: WithSubscriptionChange = async (_, tx) => {
    seen.push(...(await tx.query(text)));
  };
  const hooks = withHooksOf([{ name: "test", withSubscriptionChange }], 40_000);
  const limits = { ...INTERACTIVE_LIMITS, statementTimeoutMs: 90_000, lockTimeoutMs: 50_000 };
  await inTransaction(test.database, limits, async (transaction) => {
    await callHooks(transaction, hooks, [{} as PendingChange], { writes: [], limits });
    seen.push(...(await transaction.run({ name: "", text })));
  });
  expect(seen).toEqual([
    { statement: "40s", lock: "30s" },
    { statement: "90s", lock: "50s" },
  ]);
});

describe("withSubscriptionChange", () => {
  it("receives each change with the state before it, and writes in its transaction", async () => {
    hook = async ({ type, before, subscription }, tx) => {
      const [row] = await tx.query<{ seats: number }>("select seats from subscription where id = $1", [
        subscription.id,
      ]);
      await tx.query("insert into hook_note (note) values ($1)", [
        `${type} ${before?.seats ?? "new"} -> ${subscription.seats}, stored ${row?.seats}`,
      ]);
    };
    await receive(CREATED);
    await receive(UPDATED, { seats: 7 });
    expect(await notes()).toEqual([
      "subscription.started new -> 5, stored 5",
      "subscription.changed 5 -> 7, stored 7",
    ]);
  });

  it("is called when nothing but the user changes", async () => {
    await receive(CREATED);
    await receive(UPDATED);
    await receive(UPDATED, { userId: "user_2" });
    expect(changes.at(-1)).toMatchObject({
      type: "subscription.changed",
      before: { userId: "user_1" },
      subscription: { userId: "user_2" },
    });
  });

  it("is not called for a repeat, nor for what changes nothing", async () => {
    const currentPeriodEnd = new Date(Date.UTC(2030, 0, 1));
    const created = { eventId: "evt_repeated", currentPeriodEnd };
    await receive(CREATED, created);
    expect(await receive(CREATED, created)).toMatchObject({ outcome: "duplicate" });
    expect(changes).toHaveLength(1);
    await receive(UPDATED, { currentPeriodEnd, seats: 6 });
    expect(await receive(UPDATED, { currentPeriodEnd, seats: 6 })).toMatchObject({ outcome: "applied" });
    expect(changes).toHaveLength(2);
  });

  it("fails only its own event when it throws, and the retry applies it", async () => {
    let isBroken = true;
    hook = async ({ subscription }, tx) => {
      await tx.query("insert into hook_note (note) values ($1)", [`seats ${subscription.seats}`]);
      if (isBroken && subscription.seats === 7) throw new Error("broken");
    };
    const ofUser = (n: number) => ({
      eventId: `evt_of_user_${n}`,
      subscriptionId: `sub_${n}`,
      userId: `user_${n}`,
      seats: n,
    });
    const group = [5, 6, 7, 8, 9].map((n) => receive(CREATED, ofUser(n)));
    const outcomes = (await Promise.all(group)).map(({ outcome }) => outcome);
    expect(outcomes).toEqual(["applied", "applied", "failed", "applied", "applied"]);
    expect(await seats()).toEqual([5, 6, 8, 9]);
    expect((await notes()).sort()).toEqual(["seats 5", "seats 6", "seats 8", "seats 9"]);
    expect(await lastReasons()).toEqual(["hook_failed"]);
    isBroken = false;
    expect(await receive(CREATED, ofUser(7))).toMatchObject({ outcome: "applied" });
    expect(await notes()).toContain("seats 7");
  });

  it("fails only its own event when its statement needs more memory or space than PostgreSQL has", async () => {
    hook = async ({ subscription }, tx) => {
      if (subscription.providerSubscriptionId === "sub-1")
        await tx.query("do $$ begin raise exception using errcode = 'out_of_memory'; end $$");
    };
    const group = [0, 1, 2].map((n) =>
      receive(CREATED, { subscriptionId: `sub-${n}`, userId: `user_${n}`, seats: n + 5 }),
    );
    const outcomes = (await Promise.all(group)).map(({ outcome }) => outcome);
    expect(outcomes).toEqual(["applied", "failed", "applied"]);
    expect([await seats(), await lastReasons()]).toEqual([[5, 7], ["hook_failed"]]);
  });

  it("delays later events of a subscription as well when it fails an earlier one for a moment", async () => {
    await receive(CREATED);
    let failures = 0;
    hook = ({ subscription }) => {
      if (subscription.seats !== 6 || failures === 2) return;
      // In the group, and alone: the third time the event has left its group.
      failures += 1;
      throw new Error("broken");
    };
    const group = [6, 7].map((n) => receive(UPDATED, { seats: n }));
    expect(await Promise.all(group)).toEqual([{ outcome: "applied" }, { outcome: "applied" }]);
    expect(failures).toBe(2);
    expect(await test.rows("select seats, out_of_order from subscription")).toEqual([
      { seats: 7, out_of_order: false },
    ]);
  });

  it("answers the events of a failed group one by one, each when it is done", async () => {
    const receiveAll = async () => {
      const ofSubscription = (n: number) =>
        receive(CREATED, { eventId: `evt_${n}`, subscriptionId: `sub-${n}`, userId: `user_${n}` });
      const answered = Promise.withResolvers<void>();
      hook = async ({ subscription }) => {
        if (subscription.providerSubscriptionId === "sub-0") throw new Error("broken");
        if (subscription.providerSubscriptionId === "sub-2") await answered.promise;
      };
      const results = [0, 1, 2].map(ofSubscription);
      await results[1];
      answered.resolve();
      return (await Promise.all(results)).map(({ outcome }) => outcome);
    };
    expect(await receiveAll()).toEqual(["failed", "applied", "applied"]);
    // Events that have failed before are claimed first.
    await test.rows("update webhook_delivery set status = 'failed'");
    await test.rows("delete from subscription");
    await runtime.close();
    await start(60_000);
    expect(await receiveAll()).toEqual(["failed", "applied", "applied"]);
  });

  const FAILURES: [string, WithSubscriptionChange][] = [
    [
      "catches the error of a statement",
      async (_, tx) => void (await tx.query("select 1 / 0").catch(() => {})),
    ],
    ["does not await a statement that fails", (_, tx) => void tx.query("select 1 / 0").catch(() => {})],
    ["ends the transaction", (_, tx) => tx.query("commit")],
    ["ends the transaction behind a comment", (_, tx) => tx.query("/* x */ -- y\n rollback")],
    ["sets a variable", (_, tx) => tx.query("set statement_timeout = 0")],
    [
      "sets a variable by a function",
      (_, tx) => tx.query("select set_config('statement_timeout', '0', false)"),
    ],
    ["drops prepared statements", (_, tx) => tx.query("deallocate all")],
    ["executes a prepared statement", (_, tx) => tx.query("execute commit")],
    ["passes a value that cannot be sent", (_, tx) => tx.query("select $1::json", [{ seats: 1n }])],
    [
      "repeats a key of its own table",
      (_, tx) => tx.query("insert into subscription_note values ('one'), ('one')"),
    ],
    ["copies from a client", (_, tx) => tx.query("copy hook_note (note) from stdin")],
    ["sends a statement with NUL", (_, tx) => tx.query("select 1 \0")],
  ];
  it.each(FAILURES)("fails the event when the hook %s", async (_, failing) => {
    hook = async (change, tx) => {
      await tx.query("insert into hook_note (note) values ($1)", [change.type]);
      await failing(change, tx);
    };
    expect(await receive(CREATED)).toMatchObject({ outcome: "failed" });
    expect([await notes(), await seats(), await lastReasons()]).toEqual([[], [], ["hook_failed"]]);
  });

  it("fails the event of a hook that does not end, whose later statements are refused", async () => {
    await runtime.close();
    await start();
    const late = Promise.withResolvers<string>();
    const hookEnd = Promise.withResolvers<void>();
    hook = async (_, tx) => {
      await hookEnd.promise;
      await tx
        .query("insert into hook_note (note) values ('late')")
        .catch((error) => late.resolve(error.message));
    };
    expect(await receive(CREATED)).toMatchObject({ outcome: "failed" });
    hookEnd.resolve();
    expect(await late.promise).toMatch(/time is over/);
    expect([await notes(), await seats()]).toEqual([[], []]);
  });

  it("fails only the event of a hook that computes for longer than the transaction may idle", async () => {
    await runtime.close();
    await start(1_000);
    let runs = 0;
    hook = ({ subscription }) => {
      if (subscription.providerSubscriptionId !== "sub-0") return;
      runs += 1;
      // The response must not wait for it several times.
      if (runs > 1) throw new Error("broken");
      const endsAt = performance.now() + 1_300;
      while (performance.now() < endsAt);
    };
    const users = [0, 1, 2];
    const results = await Promise.all(
      users.map((n) => receive(CREATED, { subscriptionId: `sub-${n}`, userId: `user_${n}` })),
    );
    expect(results.map(({ outcome }) => outcome)).toEqual(["failed", "applied", "applied"]);
    expect(await lastReasons()).toEqual(["hook_failed"]);
  });

  it("fails the event of a statement that does not end", async () => {
    await runtime.close();
    await start();
    hook = (_, tx) => tx.query("select pg_sleep(60)");
    expect(await receive(CREATED)).toMatchObject({ outcome: "failed" });
    hook = () => {};
    expect(await seats()).toEqual([]);
  });

  it("is answered as unavailable where its failure cannot be stored", async () => {
    await test.rows(
      "create function refuse_failure() returns trigger language plpgsql as $$ begin raise exception 'refused'; end $$",
    );
    await test.rows(
      `create trigger refuse_failure before update on webhook_delivery for each row
       when (new.status = 'failed') execute function refuse_failure()`,
    );
    hook = () => {
      throw new Error("no");
    };
    try {
      expect(await receive(CREATED)).toMatchObject({ outcome: "unavailable" });
    } finally {
      await test.rows("drop function refuse_failure cascade");
    }
    expect(await lastReasons()).toEqual([]);
  });

  it("does not take a lock that it waits for for the event's fault", async () => {
    await test.rows("insert into hook_note (note) values ('total')");
    hook = (_, tx) => tx.query("select from hook_note where note = 'total' for update");
    const connection = await test.database.connection();
    await connection.script("begin; select from hook_note where note = 'total' for update");
    const created = { eventId: "evt_behind_a_lock" };
    expect(await receive(CREATED, created)).toMatchObject({ outcome: "unavailable" });
    await connection.script("rollback");
    connection.release({ healthy: true });
    expect(await lastReasons()).toEqual([]);
    // Here, or by what still runs of the first delivery.
    await eventually(async () => {
      await receive(CREATED, created);
      return test.rows("select outcome from webhook_attempts");
    }, [{ outcome: "successful" }]);
  });

  it("runs again after a deadlock or serialization failure of its own", async () => {
    let runs = 0;
    hook = async (_, tx) => {
      runs += 1;
      if (runs === 1) await tx.query("do $$ begin raise exception using errcode = '40001'; end $$");
      await tx.query("insert into hook_note (note) values ($1)", [`run ${runs}`]);
    };
    expect(await receive(CREATED)).toMatchObject({ outcome: "applied" });
    expect(await notes()).toEqual(["run 2"]);
  });

  const CONTENDED: [string, string][] = [
    ["a serialization failure", "40001"],
    ["a deadlock", "40P01"],
    ["a lock that stays", "55P03"],
  ];
  it.each(CONTENDED)("fails the event once it has been released 30 times for %s", async (_, errcode) => {
    hook = (_, tx) => tx.query(`do $$ begin raise exception using errcode = '${errcode}'; end $$`);
    const created = { eventId: "evt_contended" };
    expect(await receive(CREATED, created)).toMatchObject({ outcome: "unavailable" });
    const becomesDue = (releases: number) =>
      test.rows(
        `update webhook_delivery set claim_no = $1, released_claim_no = $1, released_claims = $1,
           lease_until = clock_timestamp() - interval '1 second'`,
        [releases],
      );
    await becomesDue(29);
    expect(await receive(CREATED, created)).toMatchObject({ outcome: "unavailable" });
    expect(await lastReasons()).toEqual([]);
    await becomesDue(30);
    expect(await receive(CREATED, created)).toMatchObject({ outcome: "failed" });
    expect(await lastReasons()).toEqual(["hook_failed"]);
    const [delivery] = await test.rows(
      "select next_attempt_at > completed_at as waits, claim_no - released_claims as attempts from webhook_delivery",
    );
    expect(delivery).toEqual({ waits: true, attempts: 1 });
  });

  it("is called for a correction too", async () => {
    await receive(CREATED);
    const [row] = await test.rows<{ id: string }>("select id from subscription");
    const reconcilable = await findReconcilable(test.database, row?.id as string);
    const state = {
      kind: UPDATED,
      providerSubscriptionId: "sub",
      customerId: "cus_sub",
      userId: null,
      planId: null,
      items: [{ priceIds: ["price_team_monthly"], seats: 9 }],
      status: "active",
      currentPeriodEnd: null,
      cancelAtPeriodEnd: null,
      occurredAtMicros: null,
    };
    const api = { fetchSubscription: async () => state as never };
    hook = async ({ subscription }, tx) => {
      await tx.query("insert into hook_note (note) values ($1)", [`seats ${subscription.seats}`]);
    };
    const options = { by: OPERATOR, audit: "changes", dryRun: false, notify: false } as const;
    await compare(runtime.intake, api, reconcilable as never, options);
    expect([await notes(), await seats()]).toEqual([["seats 9"], [9]]);
  });

  it("is called in order for the changes of one group", async () => {
    hook = async ({ subscription }, tx) => {
      await sleep(1);
      await tx.query("insert into hook_note (note) values ($1)", [`seats ${subscription.seats}`]);
    };
    await Promise.all([receive(CREATED), receive(UPDATED, { seats: 6 }), receive(UPDATED, { seats: 7 })]);
    expect(await notes()).toEqual(["seats 5", "seats 6", "seats 7"]);
  });
});
