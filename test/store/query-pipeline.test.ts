import { afterAll, beforeAll, expect, it } from "vitest";
import { type Database, openDatabase } from "../../src/store/database.ts";
import { emptyDatabase, type TestDatabase } from "../support/database.ts";

let test: TestDatabase;
let database: Database;
beforeAll(async () => {
  test = await emptyDatabase();
  database = openDatabase({ url: test.url, prepared: true, maxConnections: 3, answerTimeoutMs: 1_500 });
});
afterAll(async () => {
  await database.close();
  await test.drop();
});

const PID = { name: "pid", text: "select pg_backend_pid() as pid, $1::int as n" };

it("pipelines statements of one turn on one connection, sixteen at most", async () => {
  const rows = await Promise.all(
    Array.from({ length: 40 }, (_, n) => database.run<{ pid: number; n: number }>(PID, [n])),
  );
  expect(rows.map(([row]) => row?.n)).toEqual(Array.from({ length: 40 }, (_, n) => n));
  const pids = rows.map(([row]) => row?.pid);
  expect([pids.slice(0, 16), pids.slice(16, 32), pids.slice(32)].map((part) => new Set(part).size)).toEqual([
    1, 1, 1,
  ]);
  expect(new Set(pids).size).toBe(3);
});

it("isolates a failing statement and keeps the connection", async () => {
  const [before] = await database.run<{ pid: number }>(PID, [0]);
  const outcomes = await Promise.allSettled([
    database.run<{ n: number }>(PID, [1]),
    database.run({ name: "no_such_table", text: "select * from no_such_table" }),
    database.run({ name: "divide", text: "select 1 / $1::int as n" }, [0]),
    database.run<{ n: number }>(PID, [2]),
  ]);
  expect(outcomes.map((outcome) => outcome.status)).toEqual([
    "fulfilled",
    "rejected",
    "rejected",
    "fulfilled",
  ]);
  const pids = await Promise.all(
    Array.from({ length: 3 * 16 }, () => database.run<{ pid: number }>(PID, [0])),
  );
  expect(pids.map(([row]) => row?.pid)).toContain(before?.pid);
});

it("rejects with DatabaseUnavailable when a connection breaks, and replaces it", async () => {
  const outcomes = await Promise.allSettled([
    database.run(PID, [1]),
    database.run({ name: "end", text: "select pg_terminate_backend(pg_backend_pid())" }),
    database.run(PID, [2]),
  ]);
  expect(outcomes[0]?.status).toBe("fulfilled");
  for (const broken of outcomes.slice(1)) {
    expect(broken).toMatchObject({ status: "rejected", reason: { name: "DatabaseUnavailable" } });
  }
  const [row] = await database.run<{ n: number }>(PID, [3]);
  expect(row?.n).toBe(3);
});

it("gives up statements behind one that times out and keeps the pool usable", async () => {
  const outcomes = await Promise.allSettled([
    database.run({ name: "sleep", text: "select pg_sleep(4)" }),
    database.run(PID, [1]),
  ]);
  for (const late of outcomes) {
    expect(late).toMatchObject({ status: "rejected", reason: { name: "DatabaseUnavailable" } });
  }
  const rows = await Promise.all(Array.from({ length: 48 }, (_, n) => database.run<{ n: number }>(PID, [n])));
  expect(rows.map(([row]) => row?.n)).toEqual(Array.from({ length: 48 }, (_, n) => n));
});

it("does not delay reads behind a write that waits for a lock", async () => {
  await test.rows("create table waited_for (id int primary key, n int not null)");
  await test.rows("insert into waited_for values (1, 0)");
  const holder = await database.connection();
  await holder.script("begin; update waited_for set n = 1");
  const update = { name: "update_waited_for", text: "update waited_for set n = n + 1 where id = 1" };
  let isWritten = false;
  const write = database.run(update).then(() => {
    isWritten = true;
  });
  await Promise.all(Array.from({ length: 30 }, (_, n) => database.run(PID, [n])));
  expect(isWritten).toBe(false);
  await holder.script("commit");
  holder.release({ healthy: true });
  await write;
});
