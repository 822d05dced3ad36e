import pg from "pg";
import { afterEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { DatabaseUnavailable, type Queryable } from "../../src/store/database.ts";
import { holdLease, withLease } from "../../src/store/hold-lease.ts";
import {
  acquireLease,
  deleteExpiredLeases,
  heldLease,
  keepLease,
  type Lease,
  releaseLease,
  renewLease,
} from "../../src/store/leases.ts";
import { eventually } from "../support/eventually.ts";
import { testDatabase } from "../support/test-database.ts";

const test = testDatabase(0);
afterEach(() => test.rows("truncate lease"));

const acquire = (seconds = 60) => acquireLease(test.database, "job:test", { seconds });
const expire = () => test.rows("update lease set held_until = clock_timestamp()");

/** How many statements wait for a lock. */
async function waitingCount(): Promise<number> {
  const waiting = await test.rows(
    "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
  );
  return waiting.length;
}

async function heldUntil(): Promise<number> {
  const [row] = await test.rows<{ held_until: Date }>("select held_until from lease");
  return row?.held_until.getTime() ?? 0;
}

describe("a lease", () => {
  it("is acquired by one of any number of requests at once", async () => {
    const acquired = await Promise.all(Array.from({ length: 8 }, () => acquire()));
    expect(acquired.filter((lease) => lease !== null)).toHaveLength(1);
  });

  it("is free again when it is released or its time is over", async () => {
    await releaseLease(test.database, (await acquire()) as Lease);
    expect(await acquire()).not.toBeNull();
    expect(await acquire()).toBeNull();
    await expire();
    expect(await acquire()).not.toBeNull();
  });

  it("is free again after its time even if the database's clock was ahead when it was acquired", async () => {
    await acquire();
    await test.rows("update lease set held_until = held_until + interval '1 hour'");
    expect(await acquire()).not.toBeNull();
    expect(await acquire()).toBeNull();
  });

  it("is neither renewed nor released by a holder that has lost it", async () => {
    const lost = (await acquire(0)) as Lease;
    const next = (await acquire()) as Lease;
    expect(await renewLease(test.database, lost, { seconds: 60 })).toBe(false);
    await releaseLease(test.database, lost);
    await expire();
    expect(await renewLease(test.database, next, { seconds: 60 })).toBe(true);
    expect(await acquire()).toBeNull();
  });

  it("lets only its holder write, and is not taken over before the commit", async () => {
    await test.rows("create table if not exists fenced (token uuid)");
    const write = {
      name: "fenced_write",
      text: `with ${heldLease("$1", "$2")} insert into fenced select $2::uuid from held`,
    };
    const lost = (await acquire(0)) as Lease;
    const holder = (await acquire()) as Lease;
    await test.database.run(write, [lost.name, lost.token]);
    expect(await test.rows("select token from fenced")).toEqual([]);

    const slow = new pg.Client({ connectionString: test.url });
    await slow.connect();
    await slow.query("begin");
    await slow.query(write.text, [holder.name, holder.token]);
    // As if its time had run out since: it cannot be updated while the write is open.
    const takeOver = test.rows(
      "update lease set token = gen_random_uuid() where name = 'job:test' returning (select count(*)::int from fenced)",
    );
    await eventually(waitingCount, 1);
    await slow.query("commit");
    await slow.end();
    await takeOver;
    expect(await test.rows("select token from fenced")).toEqual([{ token: holder.token }]);
  });

  it("is not taken over while a transaction keeps it", async () => {
    const holder = (await acquire()) as Lease;
    const transaction = await test.database.connection();
    await transaction.script("begin");
    expect(await keepLease(transaction, holder)).toBe(true);
    const takeOver = test.rows("update lease set token = gen_random_uuid()");
    await eventually(waitingCount, 1);
    await transaction.script("commit");
    transaction.release({ healthy: true });
    await takeOver;
    expect(await keepLease(test.database, holder)).toBe(false);
  });

  it("is deleted when its holder crashed long ago", async () => {
    await acquire();
    await deleteExpiredLeases(test.database);
    expect(await acquire()).toBeNull();
    await test.rows("update lease set held_until = clock_timestamp() - interval '2 hours'");
    await deleteExpiredLeases(test.database);
    expect(await test.rows("select name from lease")).toEqual([]);
  });
});

describe("a held lease", () => {
  it("is renewed until it is released", async () => {
    const lease = await holdLease(test.database, "job:test", { seconds: 3 });
    const first = await heldUntil();
    await eventually(async () => (await heldUntil()) > first, true);
    expect(lease?.isLost()).toBe(false);
    await lease?.release();
    expect(await test.rows("select name from lease")).toEqual([]);
  });

  it("is lost once another process has taken it over", async () => {
    const lease = await holdLease(test.database, "job:test", { seconds: 3 });
    await test.rows("update lease set token = gen_random_uuid()");
    await eventually(async () => lease?.isLost(), true);
    await lease?.release();
    expect(await test.rows("select name from lease")).toEqual([{ name: "job:test" }]);
  });

  it("is lost when its time runs out without the database", async () => {
    let isGone = false;
    const database: Queryable = {
      run: async (statement, values) => {
        if (isGone) throw new DatabaseUnavailable("gone");
        return test.database.run(statement, values);
      },
    };
    const lease = await holdLease(database, "job:test", { seconds: 1 });
    isGone = true;
    await eventually(async () => lease?.isLost(), true);
    await lease?.release();
  });

  it("is lost when its time runs out while the answer that it is held is on its way", async () => {
    let nowMs = 0;
    const clock = vi.spyOn(performance, "now").mockImplementation(() => nowMs);
    onTestFinished(() => clock.mockRestore());
    const slow: Queryable = {
      run: async <Row>(...statement: Parameters<Queryable["run"]>) => {
        const rows = await test.database.run<Row>(...statement);
        nowMs += 1_000;
        return rows;
      },
    };
    const lease = await holdLease(slow, "job:test", { seconds: 1 });
    expect(lease?.isLost()).toBe(true);
    await lease?.release();
  });

  it("is released when the work fails, and refused to others meanwhile", async () => {
    const run = (work: () => Promise<string>) => withLease(test.database, "job:test", { seconds: 60 }, work);
    const failing = run(async () => {
      expect(await run(async () => "second")).toBeNull();
      throw new Error("failed");
    });
    await expect(failing).rejects.toThrow("failed");
    expect(await run(async () => "third")).toBe("third");
  });
});
