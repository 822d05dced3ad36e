import { setTimeout as sleep } from "node:timers/promises";
import { beforeEach, expect, it } from "vitest";
import { createIntake } from "../../src/intake/create-intake.ts";
import type { Intake } from "../../src/intake/intake.ts";
import { type Database, DatabaseUnavailable } from "../../src/store/database.ts";
import { keyOf } from "../../src/store/deliveries/delivery-key.ts";
import { numberedEvent } from "../fixtures/numbered-event.ts";
import { eventually } from "../support/eventually.ts";
import { freshRuntime } from "../support/fresh-runtime.ts";

const { test, runtime } = freshRuntime({ users: 20 });
beforeEach(() =>
  test.rows("truncate webhook_delivery, webhook_attempt, subscription, reconciliation cascade"),
);

/** Of the transactions of a repeat: it is looked up, cannot be claimed, and is confirmed. */
const CONFIRMATION = 3;

it.each([
  // As after a PostgreSQL crash that lost the claim, which was not on disk yet.
  ["is gone", "delete from webhook_delivery", 1],
  ["has failed", "update webhook_delivery set status = 'failed', lease_until = null", 2],
])("treats a repeat as new when its pending delivery %s at confirmation", async (_, change, claimNo) => {
  await pendingElsewhere("gone", 0);
  const transactions: number[] = [];
  const intake = withEach(async (nth) => {
    transactions.push(nth);
    if (nth === CONFIRMATION) await test.rows(change);
  });
  expect(await receive(intake, "gone", 0)).toBe("applied");
  expect(await statuses()).toEqual([{ event_id: "gone-0", status: "successful", claim_no: claimNo }]);
  // Claimed again, and applied.
  expect(transactions).toHaveLength(CONFIRMATION + 2);
});

it("does not acknowledge a repeat whose pending delivery is gone at each confirmation", async () => {
  await pendingElsewhere("lost again", 0);
  const transactions: number[] = [];
  const intake = withEach(async (nth) => {
    transactions.push(nth);
    if (nth < CONFIRMATION) return;
    if ((nth - CONFIRMATION) % 2 === 0) await test.rows("delete from webhook_delivery");
    else await pendingElsewhere("lost again", 0);
  });
  expect(await receive(intake, "lost again", 0)).toBe("unavailable");
  expect(transactions).toHaveLength(CONFIRMATION + 4);
  expect(await statuses()).toEqual([]);
  expect(await receiveUntilAnswered("lost again", 0)).toBe("applied");
});

it("applies new events beside a repeat that cannot be confirmed", async () => {
  await pendingElsewhere("beside", 0);
  const release = await lockDelivery("beside-0");
  const outcomes = await Promise.all([
    receive(runtime.intake, "beside", 0),
    receive(runtime.intake, "beside", 1),
    receive(runtime.intake, "beside", 2),
  ]);
  expect(outcomes[0]).toBe("unavailable");
  // Also on a machine so busy that they could not be answered in time.
  await eventually(
    async () => (await statuses()).slice(1).map(({ status }) => status),
    [...["successful", "successful"]],
  );
  await release();
  expect(await receiveUntilAnswered("beside", 0)).toBe("duplicate");
});

it("does not delay other events while a repeat waits for the event that is being applied", async () => {
  await pendingElsewhere("applying", 0);
  // As the transaction that applies it does.
  const release = await lockDelivery("applying-0", "for no key update");
  expect(await receiveUntilAnswered("applying", 0)).toBe("duplicate");
  expect(["applied", "duplicate"]).toContain(await receiveUntilAnswered("applying", 1));
  await release();
});

it("answers a repeat of an applied event although its delivery is locked", async () => {
  expect(await receiveUntilAnswered("locked", 0)).toBe("applied");
  const release = await lockDelivery("locked-0");
  expect(await receiveUntilAnswered("locked", 0)).toBe("duplicate");
  await release();
});

it("applies an event again that is remembered as applied but gone, as after a failover", async () => {
  expect(await receiveUntilAnswered("lost", 0)).toBe("applied");
  await test.rows("truncate webhook_delivery, subscription cascade");
  expect(await receiveUntilAnswered("lost", 0)).toBe("applied");
  expect(await statuses()).toEqual([{ event_id: "lost-0", status: "successful", claim_no: 1 }]);
});

it("cannot say whether an event is a repeat while the database is away", async () => {
  expect(await receiveUntilAnswered("away", 0)).toBe("applied");
  const intake = withEach(async () => {
    throw new DatabaseUnavailable("away");
  });
  expect(await receive(intake, "away", 0)).toBe("unavailable");
});

it("acknowledges no repeat on a server that has become read-only", async () => {
  expect(await receiveUntilAnswered("standby", 1)).toBe("applied");
  const intake = withEach(async () => {}, "set default_transaction_read_only = on");
  expect(await receive(intake, "standby", 1)).toBe("unavailable");
});

it("remembers what was applied after a claim", async () => {
  await pendingElsewhere("claimed", 0);
  await test.rows("update webhook_delivery set lease_until = now() - interval '1 second'");
  expect(await receiveUntilAnswered("claimed", 0)).toBe("applied");
  expect(runtime.intake.recent.has(keyOf({ provider: "provider-a", eventId: "claimed-0" }))).toBe(true);
});

it("confirms a repeat where a visible commit may not have reached the standbys", async () => {
  expect(await receiveUntilAnswered("standby", 0)).toBe("applied");
  const names: string[] = [];
  const connection = async () => {
    const real = await runtime.database.connection();
    const run: typeof real.run = async (statement, values) => {
      names.push(statement.name);
      const rows = await real.run<Record<string, unknown>>(statement, values);
      return rows.map((row) => ({ ...row, isDurable: false, isReplicated: true })) as never;
    };
    return { ...real, run };
  };
  const intake = intakeOn({ ...runtime.database, connection });
  expect(await receive(intake, "standby", 0)).toBe("duplicate");
  const statements = ["known_deliveries", "claim_deliveries", "confirm_repeats"];
  expect(names.filter((name) => statements.includes(name))).toEqual(statements);
});

it("waits for the disk before it acknowledges a first delivery, one that was claimed, or a repeat", async () => {
  const synchronousCommit = new Map<string, unknown>();
  const connection = async () => {
    const real = await runtime.database.connection();
    let setting: unknown;
    const run: typeof real.run = (statement, values) => {
      if (statement.name === "transaction_settings") setting = values?.[0];
      else synchronousCommit.set(statement.name, setting);
      return real.run(statement, values);
    };
    return { ...real, run };
  };
  const intake = intakeOn({ ...runtime.database, connection });
  await receive(intake, "durable", 0);
  await pendingElsewhere("durable", 1);
  await receive(intake, "durable", 1);
  await test.rows("update webhook_delivery set lease_until = now() - interval '1 second'");
  await receive(intake, "durable", 1);
  await intake.idle();
  expect(Object.fromEntries(synchronousCommit)).toMatchObject({
    insert_first_deliveries: "on",
    fence_claims: "on",
    confirm_repeats: "on",
  });
});

async function receive(intake: Intake, run: string, n: number): Promise<string> {
  const { rawBody, headers } = numberedEvent(run, n);
  const request = { rawBody, header: (name: string) => headers[name] };
  return (await intake.receive("provider-a", request)).outcome;
}

/**
 * Sends again what a busy machine could not answer in time, as a provider does: after a while, as an overloaded
 * intake answers before the event loop turns, and would never get to its events.
 */
async function receiveUntilAnswered(run: string, n: number): Promise<string> {
  const giveUpAt = performance.now() + 60_000;
  for (;;) {
    const outcome = await receive(runtime.intake, run, n);
    if (outcome !== "unavailable" || performance.now() > giveUpAt) return outcome;
    await sleep(20);
  }
}

/** The delivery as another process has claimed it and not finished. */
async function pendingElsewhere(run: string, n: number): Promise<void> {
  const { rawBody, eventType } = numberedEvent(run, n);
  await test.rows(
    `insert into webhook_delivery (provider, event_id, event_type, format, status, claim_source, lease_until, payload)
     values ('provider-a', $1, $2, 'stripe', 'pending', 'delivery', clock_timestamp() + interval '1 hour', $3)`,
    [`${run}-${n}`, eventType, rawBody.toString()],
  );
}

async function lockDelivery(eventId: string, mode = "for update"): Promise<() => Promise<void>> {
  const connection = await test.database.connection();
  await connection.script("begin");
  await connection.run({ name: "lock", text: `select from webhook_delivery where event_id = $1 ${mode}` }, [
    eventId,
  ]);
  return async () => {
    await connection.script("rollback");
    connection.release({ healthy: true });
  };
}

/** The same intake, with something happening before its nth transaction. */
function withEach(before: (nth: number) => Promise<void>, setting = ""): Intake {
  let nth = 0;
  const database: Database = {
    ...runtime.database,
    connection: async () => {
      nth += 1;
      await before(nth);
      const connection = await runtime.database.connection();
      if (setting !== "") await connection.script(setting);
      // With the setting it is of no use to others.
      return { ...connection, release: () => connection.release({ healthy: setting === "" }) };
    },
  };
  return intakeOn(database);
}

/** It remembers what the runtime's has applied. */
function intakeOn(database: Database): Intake {
  const { reached: _, receive: _r, idle: _i, recent, ...options } = runtime.intake;
  const intake = createIntake({ ...options, database });
  intake.recent = recent;
  return intake;
}

function statuses() {
  return test.rows<{ event_id: string; status: string; claim_no: number }>(
    "select event_id, status, claim_no from webhook_delivery order by event_id",
  );
}
