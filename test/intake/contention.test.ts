import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Slot } from "../../src/domain/slot.ts";
import type { ClaimedEvent } from "../../src/intake/claimed-event.ts";
import { applyGroup } from "../../src/intake/claims/apply.ts";
import { retryDue } from "../../src/intake/claims/retry.ts";
import { INTAKE_CONNECTIONS } from "../../src/intake/create-intake.ts";
import type { Connection } from "../../src/store/database.ts";
import { claimDeliveries } from "../../src/store/deliveries/deliveries.ts";
import { fixtureDelivery } from "../fixtures/fixture.ts";
import { numberedEvent } from "../fixtures/numbered-event.ts";
import { eventually } from "../support/eventually.ts";
import { freshRuntime } from "../support/fresh-runtime.ts";
import { SECRETS } from "../support/variables.ts";

const { test, runtime } = freshRuntime({ users: 20, variables: { PROVIDER_C_ADAPTER: "lemon-squeezy" } });
beforeEach(() => test.rows("truncate webhook_delivery, webhook_attempt, subscription cascade"));

type Delivery = { rawBody: Buffer; headers: Record<string, string> };

async function receive({ rawBody, headers }: Delivery, slot: Slot = "provider-a"): Promise<string> {
  const result = await runtime.intake.receive(slot, { rawBody, header: (name) => headers[name] });
  return result.outcome;
}

/**
 * Sends again what a busy machine could not answer in time, as a provider does: after a while, as an overloaded
 * intake answers before the event loop turns, and would never get to its events.
 */
async function receiveUntilAnswered(delivery: Delivery): Promise<string> {
  const giveUpAt = performance.now() + 60_000;
  for (;;) {
    const outcome = await receive(delivery);
    if (outcome !== "unavailable" || performance.now() > giveUpAt) return outcome;
    await sleep(20);
  }
}

function update(
  eventId: string,
  subscriptionId: string,
  userId: string | null,
  seats: number,
  customerId = subscriptionId,
): Delivery {
  return fixtureDelivery("stripe", "customer.subscription.updated", {
    secret: SECRETS["provider-a"],
    nowSeconds: Math.floor(Date.now() / 1000),
    eventId,
    subscriptionId,
    customerId,
    userId,
    planId: "team",
    seats,
  });
}

const releases: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const release of releases.splice(0)) await release();
});

async function holdLock(statement: string): Promise<Connection> {
  const connection = await test.database.connection();
  let isOver = false;
  const release = async () => {
    if (!isOver) connection.release({ healthy: false });
    isOver = true;
  };
  releases.push(release);
  await connection.script(`begin; ${statement}`);
  return { ...connection, release };
}

const lockOf = (name: string) =>
  `select from subscription where provider_subscription_id = '${name}' for update`;

describe("a locked subscription", () => {
  it("delays only its own events, which are applied in order afterwards", async () => {
    await Promise.all(Array.from({ length: 20 }, (_, n) => receive(numberedEvent("sub", n))));
    const { release } = await holdLock(lockOf("sub-0"));
    const own = [6, 7, 8].map((seats) => receive(update(`own-${seats}`, "sub-0", "user_0", seats)));
    let applied = 0;
    // Unavailable on a machine so busy that the lock is held for longer than an answer may take.
    for (const delivery of own) void delivery.then((outcome) => (applied += outcome === "applied" ? 1 : 0));
    for (let round = 0; round < 10; round += 1) {
      for (let n = 1; n < 20; n += 1) {
        const other = update(`other-${round}-${n}`, `sub-${n}`, `user_${n}`, 6 + round);
        expect(["applied", "duplicate"]).toContain(await receiveUntilAnswered(other));
      }
      if (round === 0) expect(applied).toBe(0);
    }
    await release({ healthy: false });
    const outcomes = await Promise.all(own);
    expect(outcomes.every((outcome) => outcome === "applied" || outcome === "unavailable")).toBe(true);
    await test.rows(
      "update webhook_delivery set lease_until = now() - interval '1 second' where status = 'pending'",
    );
    await retryDue(runtime.intake);
    expect(await test.rows("select status, count(*)::int from webhook_delivery group by 1")).toEqual([
      { status: "successful", count: 213 },
    ]);
  });

  it("does not hold up its group, whose other events are written together", async () => {
    await Promise.all([0, 1, 2].map((n) => receive(numberedEvent("sub", n))));
    const { release } = await holdLock(lockOf("sub-0"));
    const { reached } = runtime.intake;
    let transactions = 0;
    runtime.intake.reached = async (milestone) => {
      if (milestone === "effects written") transactions += 1;
    };
    const [own, ...others] = [0, 1, 2].map((n) =>
      receive(update(`grouped-${n}`, `sub-${n}`, `user_${n}`, 9)),
    );
    expect(await Promise.all(others)).toEqual(["applied", "applied"]);
    runtime.intake.reached = reached;
    // Had it waited for the lock until its time-out, it would have been written singly.
    expect(transactions).toBe(1);
    await release({ healthy: false });
    expect(["applied", "unavailable"]).toContain(await own);
  });

  it("is read after the other transaction's commit, so that its event is decided on the new state", async () => {
    await receive(numberedEvent("first", 0));
    const connection = await holdLock(lockOf("first-0"));
    // Without its id: the event of another subscription of the same user, which the checkout has left behind.
    const created = receive(update("adopts", "second-0", "user_0", 9));
    await eventually(
      () => test.rows("select status from webhook_delivery where event_id = 'adopts'"),
      [{ status: "pending" }],
    );
    await connection.script(
      `insert into subscription (id, user_id, provider, plan_id, seats, status, cancel_at_period_end, out_of_order)
       values (gen_random_uuid(), 'user_0', 'provider-a', 'team', 5, 'active', false, false)`,
    );
    await connection.script("commit");
    expect(await created).toBe("applied");
    expect(
      await test.rows(
        "select provider_subscription_id as name, seats from subscription where user_id = 'user_0' order by 1",
      ),
    ).toEqual([
      { name: "first-0", seats: 5 },
      { name: "second-0", seats: 9 },
    ]);
  });

  it("is waited for by the event of another one, which only the customer links to its owner", async () => {
    await receive(update("first", "known", "user_0", 5, "cus_0"));
    const { script } = await holdLock(lockOf("known"));
    const created = receive(update("second", "new", null, 6, "cus_0"));
    await eventually(
      () => test.rows("select status from webhook_delivery where event_id = 'second'"),
      [{ status: "pending" }],
    );
    await script("commit");
    expect(await created).toBe("applied");
    expect(
      await test.rows("select user_id from subscription where provider_subscription_id = 'new'"),
    ).toEqual([{ user_id: "user_0" }]);
  });
});

it("a redelivery does not wait for retention, which drops the bodies of old deliveries", async () => {
  const failing = update("failing", "failing", "nobody", 5);
  expect(await receive(failing)).toBe("failed");
  await holdLock("select from delivery_retention for update");
  expect(await receive(failing)).toBe("failed");
});

describe("copies of one event", () => {
  it("wait for the one that is being applied, and delay no other event", async () => {
    await receive(numberedEvent("copied", 0));
    const { release } = await holdLock(lockOf("copied-0"));
    const copy = update("copy", "copied-0", "user_0", 44);
    const copies = Array.from({ length: 2_000 }, () => receive(copy));
    const others = await Promise.all(
      Array.from({ length: 50 }, (_, n) =>
        receiveUntilAnswered(update(`beside-${n}`, `beside-${n}`, `user_${1 + (n % 19)}`, 5)),
      ),
    );
    expect(others).not.toContain("failed");
    expect(others).not.toContain("unavailable");
    expect(runtime.intake.deliveries.load().items).toBeLessThanOrEqual(1);
    await release({ healthy: false });
    const outcomes = new Set(await Promise.all(copies));
    // Unavailable on a machine so busy that the lock was held for longer than an answer may take.
    outcomes.delete("unavailable");
    expect([...outcomes].filter((outcome) => !["applied", "duplicate"].includes(outcome))).toEqual([]);
    expect(["applied", "duplicate"]).toContain(await receiveUntilAnswered(copy));
    // If the lock was held for longer than its time-out, the event is still pending, and applied by a retry.
    await eventually(async () => {
      await retryDue(runtime.intake);
      return test.rows(
        `select a.outcome from webhook_attempts a join webhook_delivery d on d.id = a.delivery_id
         where d.event_id = 'copy' and a.outcome = 'successful'`,
      );
    }, [{ outcome: "successful" }]);
  });

  it("get the result of the first when it fails", async () => {
    const copy = update("fails", "fails", "nobody", 5);
    expect(await Promise.all([receive(copy), receive(copy), receive(copy)])).toEqual([
      "failed",
      "failed",
      "failed",
    ]);
    expect(await test.rows("select claim_no from webhook_delivery")).toEqual([{ claim_no: 1 }]);
  });

  it("return 503 when it is unknown whether the first was applied", async () => {
    const { reached } = runtime.intake;
    let terminated = 0;
    runtime.intake.reached = async (milestone) => {
      if (milestone !== "effects written") return;
      // By its transaction: the session's state may still be "active", as the last statement is under way.
      const sessions = await test.rows(
        "select pg_terminate_backend(pid) from pg_stat_activity where xact_start is not null and pid <> pg_backend_pid() and backend_type = 'client backend' and datname = current_database()",
      );
      terminated += sessions.length;
    };
    const copy = numberedEvent("unknown", 0);
    const outcomes = await Promise.all([receive(copy), receive(copy)]);
    runtime.intake.reached = reached;
    expect(terminated).toBeGreaterThan(0);
    expect(outcomes).toEqual(["unavailable", "unavailable"]);
    expect(await receive(copy)).toBe("applied");
  });
});

it("retries due deliveries while claimed deliveries keep every group busy", async () => {
  for (let n = 0; n < 50; n += 1) await receive(update(`due-${n}`, `due-${n}`, "nobody", 5));
  await test.rows(`insert into "user" (id, name, email) values ('nobody', 'N', 'nobody@example.com')`);
  await test.rows("update webhook_delivery set next_attempt_at = clock_timestamp()");
  let over = false;
  let next = 0;
  const senders = Array.from({ length: 250 }, async () => {
    while (!over)
      if ((await receive(lemonSqueezyEvent(next++), "provider-c")) === "unavailable") await sleep(20);
  });
  await eventually(async () => runtime.intake.attempts.load().items > 100, true);
  const report = await retryDue(runtime.intake);
  over = true;
  await Promise.all(senders);
  expect(report).toMatchObject({ applied: 50, failed: 0 });
  await test.rows(`delete from "user" where id = 'nobody'`);
});

function lemonSqueezyEvent(n: number): Delivery {
  return fixtureDelivery("lemon-squeezy", "customer.subscription.created", {
    secret: SECRETS["provider-c"],
    nowSeconds: Math.floor(Date.now() / 1000),
    eventId: `busy-${n}`,
    subscriptionId: `busy-${n}`,
    userId: `user_${n % 20}`,
    planId: "team",
    seats: 5,
  });
}

describe("slow reads on every other connection", () => {
  it("do not delay deliveries, and time out", async () => {
    const slow = Array.from({ length: 30 }, (_, n) =>
      runtime.database.run({ name: `slow_${n}`, text: `select pg_sleep(20) /* insert ${n} */` }).then(
        () => "answered",
        (error: Error) => error.name,
      ),
    );
    await eventually(
      () =>
        test.rows(
          "select count(*)::int from pg_stat_activity where query like 'select pg_sleep%' and state = 'active' and datname = current_database()",
        ),
      [{ count: 10 }],
    );
    const outcomes = await Promise.all(
      Array.from({ length: 40 }, (_, n) => receive(numberedEvent("reads", n))),
    );
    expect(new Set(outcomes)).toEqual(new Set(["applied"]));
    expect(await runtime.isReady()).toBe(true);
    expect(new Set(await Promise.all(slow.slice(0, 10)))).toEqual(new Set(["DatabaseUnavailable"]));
    await Promise.all(slow);
  });

  it("report not ready when the intake's own connections are in use", async () => {
    const connections = await Promise.all(
      Array.from({ length: INTAKE_CONNECTIONS }, () => runtime.intake.database.connection()),
    );
    expect(await runtime.isReady()).toBe(false);
    for (const connection of connections) connection.release({ healthy: true });
    await eventually(() => runtime.isReady(), true);
  });
});

it.each([
  ["together", "again"],
  // It rolls the whole group back, which is then written one by one.
  ["beside one that the database refuses", "single"],
])(
  "applies later events of a subscription only after an earlier one that was delivered again: %s",
  async (_, kind) => {
    await test.rows("alter table subscription add constraint no_thirteen check (seats <> 13)");
    // Several rounds: the first one often passes by luck.
    for (let round = 0; round < 10; round += 1) {
      const name = `${kind}-${round}`;
      expect(await receiveUntilAnswered(update(name, name, name, 20))).toBe("failed");
      await test.rows(`insert into "user" (id, name, email) values ($1, 'N', $1 || '@example.com')`, [name]);
      const refused = kind === "single" ? [update(`refused-${round}`, `refused-${round}`, "user_1", 13)] : [];
      const events = [...refused, update(name, name, name, 21), update(`behind-${name}`, name, name, 22)];
      const outcomes = await Promise.all(events.map((event) => receiveUntilAnswered(event)));
      // A duplicate: the response that it was applied came too late.
      expect(["applied", "duplicate"]).toEqual(expect.arrayContaining(outcomes.slice(-2)));
    }
    expect(await test.rows("select distinct seats from subscription")).toEqual([{ seats: 22 }]);
    await test.rows("alter table subscription drop constraint no_thirteen");
    await test.rows(`delete from "user" where id like $1`, [`${kind}-%`]);
  },
);

describe("while one of a user's subscriptions is locked", () => {
  const updateOf = (subscriptionId: string, userId: string | null, seats: number) =>
    receive(
      fixtureDelivery("lemon-squeezy", "customer.subscription.updated", {
        secret: SECRETS["provider-c"],
        nowSeconds: Math.floor(Date.now() / 1000),
        eventId: `${subscriptionId}-${seats}`,
        subscriptionId,
        customerId: subscriptionId,
        userId,
        planId: "team",
        seats,
        occurredAt: new Date(Date.UTC(2026, 0, 1) + seats * 1000),
      }),
      "provider-c",
    );
  it("applies events to the other one, which they name", async () => {
    for (const name of ["free", "locked"]) {
      expect(await updateOf(name, "user_0", 5)).toBe("applied");
      expect(await receive(update(`first-${name}`, name, "user_0", 5))).toBe("applied");
    }
    const { script } = await holdLock(lockOf("locked"));
    // Written once, and claimed first.
    expect(await receive(update("second-free", "free", "user_0", 6))).toBe("applied");
    expect(await updateOf("free", "user_0", 6)).toBe("applied");
    expect(await test.rows("select seats from subscription where provider_subscription_id = 'free'")).toEqual(
      [{ seats: 6 }, { seats: 6 }],
    );
    await script("commit");
  });

  it("adds another one once it is free, with later events behind it", async () => {
    expect(await updateOf("locked", "user_0", 5)).toBe("applied");
    const { script } = await holdLock(lockOf("locked"));
    // The first names the user, whose subscription is locked. The second names only its own.
    const outcomes = Promise.all([updateOf("new", "user_0", 6), updateOf("new", null, 7)]);
    await eventually(
      () => test.rows("select count(*)::int from webhook_delivery where status = 'pending'"),
      [{ count: 2 }],
    );
    await sleep(100);
    await script("commit");
    await outcomes;
    await test.rows("update webhook_delivery set lease_until = now() where status = 'pending'");
    await retryDue(runtime.intake);
    expect(
      await test.rows(
        "select provider_subscription_id as name, seats, out_of_order from subscription order by 1",
      ),
    ).toEqual([
      { name: "locked", seats: 5, out_of_order: false },
      { name: "new", seats: 7, out_of_order: false },
    ]);
  });
});

it("does not mark another event successful when its delivery reuses the id of a lost claim", async () => {
  const event = numberedEvent("lost", 0);
  const delivery = {
    provider: "provider-a" as const,
    eventId: "lost-0",
    eventType: "customer.subscription.created",
    format: "stripe",
    occurredAtMicros: null,
    source: "delivery" as const,
    payload: event.rawBody,
  };
  const [claimed] = await claimDeliveries(runtime.intake.database, [delivery], 30);
  const claim = claimed?.claim as NonNullable<typeof claimed>["claim"];
  // As after a PostgreSQL crash that lost the row and the sequence's value.
  await test.rows("delete from webhook_delivery");
  await test.rows(
    `insert into webhook_delivery (id, provider, event_id, event_type, format, status, claim_source, lease_until, payload)
     overriding system value
     values ($1::bigint, 'provider-a', 'other-0', 'x', 'stripe', 'pending', 'delivery', now() + interval '1 hour', '{}')`,
    [claim?.id],
  );
  const reading = runtime.intake.adapters
    .of("stripe")
    .interpret(delivery.eventType, JSON.parse(event.rawBody.toString()));
  const stale: ClaimedEvent = {
    claim: claim as NonNullable<typeof claim>,
    slot: "provider-a",
    source: "delivery",
    reading: { event: reading },
    startedAtMs: performance.now(),
    bytes: 1,
  };
  expect(await applyGroup(runtime.intake, [stale])).toEqual([{ outcome: "lost" }]);
  expect(await test.rows("select event_id, status from webhook_delivery")).toEqual([
    { event_id: "other-0", status: "pending" },
  ]);
  expect(await test.rows("select from subscription")).toEqual([]);
});

it("stores the body and type of the redelivery that was applied, and its time", async () => {
  expect(await receive(update("changed", "changed", "nobody_else", 5))).toBe("failed");
  const second = fixtureDelivery("stripe", "customer.subscription.created", {
    secret: SECRETS["provider-a"],
    nowSeconds: Math.floor(Date.now() / 1000),
    eventId: "changed",
    subscriptionId: "changed",
    userId: "user_3",
    planId: "team",
    seats: 17,
    occurredAt: new Date("2026-01-02T03:04:05Z"),
  });
  expect(await receive(second)).toBe("applied");
  expect(
    await test.rows("select event_type, occurred_at, payload::text as payload from webhook_delivery"),
  ).toEqual([
    {
      event_type: "customer.subscription.created",
      occurred_at: new Date("2026-01-02T03:04:05Z"),
      payload: second.rawBody.toString(),
    },
  ]);
  expect(await test.rows("select claim_no, outcome from webhook_attempts order by 1")).toEqual([
    { claim_no: 1, outcome: "failed" },
    { claim_no: 2, outcome: "successful" },
  ]);
});

it.each([
  ["user", "user_2", { userId: "user_2", customerId: null }],
  // Whose user is known by another subscription.
  ["customer", "of-user-2", { userId: null, customerId: "of-user-2" }],
])("waits for another process that adds a subscription of the same %s", async (kind, id, names) => {
  expect(await receive(update(`first-${kind}`, "of-user-1", "user_1", 5))).toBe("applied");
  expect(await receive(update(`second-${kind}`, "of-user-2", "user_2", 5))).toBe("applied");
  await holdLock(`select pg_advisory_xact_lock(hashtextextended('provider-a ${kind} ${id}', 7016552814))`);
  const added = fixtureDelivery("stripe", "customer.subscription.created", {
    secret: SECRETS["provider-a"],
    nowSeconds: Math.floor(Date.now() / 1000),
    eventId: `added-by-${kind}`,
    subscriptionId: `added-by-${kind}`,
    planId: "team",
    ...names,
  });
  // In a group with an event of another one's subscription, which is locked by this process.
  const beside = update(`third-${kind}`, "of-user-1", "user_1", 6);
  const outcomes = await Promise.all([receive(beside), receive(added)]);
  expect(outcomes).toEqual(["applied", "unavailable"]);
});
