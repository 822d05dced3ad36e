import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type Database, openDatabase } from "../../../src/store/database.ts";
import { INTERACTIVE_LIMITS, inOwnTransaction } from "../../../src/store/transaction.ts";
import { emptyDatabase, type TestDatabase } from "../../support/database.ts";

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

type Send = (database: Database) => Promise<unknown>[];

const READS: [string, Send][] = [
  ["reads", (database) => [database.run(PID, [1]), database.run(PID, [2])]],
  ["a read that runs alone", (database) => [database.run({ ...PID, name: "alone", runsAlone: true }, [1])]],
];
const WRITES: [string, Send][] = [
  [
    "a write",
    (database) => [database.run({ name: "no_update", text: "update pg_class set relname = '' where false" })],
  ],
  [
    "a transaction",
    (database) => [inOwnTransaction(database, INTERACTIVE_LIMITS, ({ run }) => run(PID, [1]))],
  ],
];

it.each(WRITES)(
  "reports as unknown what a standby may lack, its wait being canceled: %s",
  async (_, send) => {
    database.pool.once("acquire", (client) => client.emit("notice", { routine: "SyncRepWaitForLSN" }));
    for (const committed of await Promise.allSettled(send(database))) {
      expect(committed).toMatchObject({ status: "rejected", reason: { name: "DatabaseUnavailable" } });
    }
    await Promise.all(send(database));
  },
);

it("refuses a statement that has the name of another one", async () => {
  const opened = openDatabase({ url: test.url, prepared: true, maxConnections: 1, answerTimeoutMs: 5_000 });
  expect(await opened.run({ name: "same", text: "select 1 as n" })).toEqual([{ n: 1 }]);
  const other = opened.run({ name: "same", text: "select 2 as n" });
  await expect(other).rejects.toThrow('two statements are called "same"');
  await opened.close();
});

it.each([...READS, ...WRITES])(
  "rejects with DatabaseUnavailable where the connection breaks before anything is sent: %s",
  async (_, send) => {
    database.pool.once("acquire", (client) => void client.end());
    for (const unsent of await Promise.allSettled(send(database))) {
      expect(unsent).toMatchObject({ status: "rejected", reason: { name: "DatabaseUnavailable" } });
    }
    const [row] = await database.run<{ n: number }>(PID, [3]);
    expect(row?.n).toBe(3);
  },
);

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

/** How often PostgreSQL said that, on all connections of a database. */
function countMessages(opened: Database, message: string): () => number {
  let count = 0;
  opened.pool.on("connect", (client) => {
    const { connection } = client as unknown as { connection: NodeJS.EventEmitter };
    connection.on(message, () => {
      count += 1;
    });
  });
  return () => count;
}

const DIVIDE = { name: "divide_by", text: "select 10 / $1::int as n" };
const AT = { name: "at", text: "select $1::timestamptz as at, null::text as none, $2::jsonb as data" };

describe.each([true, false])("reads of one turn (prepared: %s)", (prepared) => {
  let opened: Database;
  let readyCount: () => number;
  let descriptionCount: () => number;
  beforeEach(async () => {
    opened = openDatabase({ url: test.url, prepared, maxConnections: 1, answerTimeoutMs: 5_000 });
    readyCount = countMessages(opened, "readyForQuery");
    descriptionCount = countMessages(opened, "rowDescription");
    await opened.run({ name: "warm_up", text: "select 1" });
  });
  afterEach(() => opened.close());

  it("end with one ready message, and ask for the columns of a prepared statement once", async () => {
    const at = new Date("2026-01-02T03:04:05.678Z");
    for (const n of [1, 2]) {
      const [ready, described] = [readyCount(), descriptionCount()];
      const results = await Promise.all([
        opened.run(DIVIDE, [n]),
        opened.run(AT, [at, { n }]),
        opened.run({ name: "empty", text: "select 1 as one where false" }),
        opened.run({ name: "nothing", text: "" }),
      ]);
      expect(results).toEqual([[{ n: 10 / n }], [{ at, none: null, data: { n } }], [], []]);
      // Code that waits for rows continues before the message that ends the pipeline has been read.
      await opened.run({ name: "warm_up", text: "select 1" });
      expect(readyCount() - ready).toBe(2);
      expect(descriptionCount() - described).toBe(prepared && n === 2 ? 0 : prepared ? 3 : 4);
    }
  });

  it("are each answered although several fail, also before they are prepared", async () => {
    for (const _ of ["first", "again"]) {
      const ready = readyCount();
      const outcomes = await Promise.allSettled([
        opened.run(DIVIDE, [1]),
        opened.run(DIVIDE, [0]),
        opened.run(AT, [null, 7]),
        opened.run({ name: "no_such_table", text: "select * from no_such_table" }),
        opened.run({ name: "not_a_number", text: "select $1::int as n" }, ["x"]),
        opened.run(DIVIDE, [5]),
      ]);
      expect(outcomes.map((outcome) => ("value" in outcome ? outcome.value : outcome.reason.code))).toEqual([
        [{ n: 10 }],
        "22012",
        [{ at: null, none: null, data: 7 }],
        "42P01",
        "22P02",
        [{ n: 2 }],
      ]);
      await opened.run({ name: "warm_up", text: "select 1" });
      // One for all, one each for the four behind the first that failed, and the last statement's.
      expect(readyCount() - ready).toBe(6);
    }
  });

  it("do not fail with a value that cannot be sent, nor with one that cannot be read", async () => {
    const circular: { self?: unknown } = {};
    circular.self = circular;
    opened.pool.on("acquire", (client) =>
      client.setTypeParser(20, () => {
        throw new Error("unreadable");
      }),
    );
    const outcomes = await Promise.allSettled([
      opened.run(DIVIDE, [1]),
      opened.run({ name: "text", text: "select $1::text" }, [circular]),
      opened.run({ name: "big", text: "select 1::bigint" }),
      opened.run(DIVIDE, [2]),
    ]);
    expect(outcomes).toMatchObject([
      { value: [{ n: 10 }] },
      { reason: { name: "DatabaseUnavailable", message: expect.stringContaining("circular") } },
      { reason: { name: "DatabaseUnavailable", message: "unreadable" } },
      { value: [{ n: 5 }] },
    ]);
  });

  it("are answered when all of them fail before they are sent", async () => {
    const circular: { self?: unknown } = {};
    circular.self = circular;
    const failing = { name: "text", text: "select $1::text" };
    await expect(opened.run(failing, [circular])).rejects.toThrow("circular");
    expect(await opened.run(DIVIDE, [5])).toEqual([{ n: 2 }]);
  });

  it("behind one that PostgreSQL cancels are run again", async () => {
    const outcomes = await Promise.allSettled([
      opened.run(DIVIDE, [1]),
      opened.run({ name: "cancel", text: "select pg_cancel_backend(pg_backend_pid()), pg_sleep(4)" }),
      opened.run(DIVIDE, [2]),
    ]);
    expect(outcomes).toMatchObject([
      { value: [{ n: 10 }] },
      { status: "rejected", reason: { name: "DatabaseUnavailable" } },
      { value: [{ n: 5 }] },
    ]);
  });
});

it("answers a read that runs alone while a slow read of its turn is running", async () => {
  const holder = await database.connection();
  await holder.script("select pg_advisory_lock(77)");
  let isAnswered = false;
  const slow = database.run({ name: "slow", text: "select pg_advisory_xact_lock_shared(77)" }).then(() => {
    isAnswered = true;
  });
  const [row] = await database.run<{ n: number }>({ ...PID, runsAlone: true }, [7]);
  expect([row?.n, isAnswered]).toEqual([7, false]);
  await holder.script("select pg_advisory_unlock(77)");
  holder.release({ healthy: true });
  await slow;
});

/** As the driver reads the errors of a server whose `lc_messages` is another language. */
function translateSeverities(opened: Database, severities: Record<string, string>): void {
  opened.pool.on("connect", (client) => {
    const { connection } = client as unknown as { connection: NodeJS.EventEmitter };
    connection.prependListener("errorMessage", (error: { severity: string }) => {
      error.severity = severities[error.severity] ?? error.severity;
    });
  });
}

describe.each([
  ["German", { ERROR: "FEHLER", FATAL: "FATAL" }],
  ["Chinese", { ERROR: "错误", FATAL: "致命错误" }],
])("messages in %s", (_, severities) => {
  let opened: Database;
  beforeEach(() => {
    opened = openDatabase({ url: test.url, prepared: true, maxConnections: 1, answerTimeoutMs: 30_000 });
    translateSeverities(opened, severities);
  });
  afterEach(() => opened.close());

  it("isolate a failing statement and keep the connection", async () => {
    const [before] = await opened.run<{ pid: number }>(PID, [0]);
    const outcomes = await Promise.allSettled([
      opened.run({ name: "no_such_table", text: "select * from no_such_table" }),
      opened.run<{ pid: number }>(PID, [1]),
    ]);
    expect(outcomes).toMatchObject([{ reason: { code: "42P01" } }, { value: [{ pid: before?.pid, n: 1 }] }]);
    expect(await opened.run(PID, [2])).toEqual([{ pid: before?.pid, n: 2 }]);
  });

  it("reject with DatabaseUnavailable where the session ends, and replace the connection", async () => {
    const terminate = { name: "end", text: "select pg_terminate_backend(pg_backend_pid())" };
    await expect(opened.run(terminate)).rejects.toMatchObject({ name: "DatabaseUnavailable" });
    const connection = await opened.connection();
    await expect(connection.run(terminate)).rejects.toMatchObject({ name: "DatabaseUnavailable" });
    connection.release({ healthy: false });
    expect(await opened.run(PID, [3])).toMatchObject([{ n: 3 }]);
  });
});
