import { afterAll, beforeAll, expect, it } from "vitest";
import { type Database, openDatabase } from "../../../src/store/database.ts";
import { inTransaction, type TransactionOptions } from "../../../src/store/transaction.ts";
import { emptyDatabase, type TestDatabase } from "../../support/database.ts";

const LIMITS: TransactionOptions = {
  synchronousCommit: "on",
  lockTimeoutMs: 1_000,
  statementTimeoutMs: 10_000,
  idleTimeoutMs: 10_000,
};

const PID = { name: "pid", text: "select pg_backend_pid() as pid, $1::int as n" };
const INSERT = {
  name: "insert_number",
  text: "insert into number (n) select n from unnest($1::int[]) n returning n",
};
const NUMBERS = { name: "numbers", text: "select n from number order by n" };

let test: TestDatabase;
let readyCount = 0;

beforeAll(async () => {
  test = await emptyDatabase();
  await test.rows("create table number (n int primary key)");
});
afterAll(() => test.drop());

for (const prepared of [true, false]) {
  const open = (): Database => {
    const database = openDatabase({ url: test.url, prepared, maxConnections: 1, answerTimeoutMs: 5_000 });
    database.pool.on("connect", (client) => {
      const { connection } = client as unknown as { connection: NodeJS.EventEmitter };
      connection.on("readyForQuery", () => {
        readyCount += 1;
      });
    });
    return database;
  };
  const stored = async () =>
    (await test.rows<{ n: number }>("select n from number order by n")).map(({ n }) => n);

  it(`answers statements of one turn in order, with one ready message (prepared: ${prepared})`, async () => {
    await test.rows("truncate number");
    const database = open();
    try {
      // The connection's settings have a message of their own.
      const connection = await database.connection();
      await connection.script("select");
      connection.release({ healthy: true });
      for (const run of [1, 2]) {
        const before = readyCount;
        const [empty, inserted, selected, counted] = await inTransaction(
          database,
          LIMITS,
          async (transaction) => {
            const results = await Promise.all([
              transaction.run({ name: "none", text: "select 1 as one where false" }),
              transaction.run(INSERT, [[run, run + 10]]),
              transaction.run(NUMBERS),
              transaction.run<{ n: number }>(PID, [run]),
            ]);
            await transaction.commitAfter([transaction.run(INSERT, [[run + 100]])]);
            return results;
          },
        );
        expect(empty).toEqual([]);
        expect(inserted).toEqual([{ n: run }, { n: run + 10 }]);
        expect(selected).toHaveLength(run === 1 ? 2 : 5);
        expect(counted).toMatchObject([{ n: run }]);
        expect(readyCount - before).toBe(2);
      }
      expect(await stored()).toEqual([1, 2, 11, 12, 101, 102]);
    } finally {
      await database.close();
    }
  });

  it(`fails all statements of a turn with the error of one, and commits none (prepared: ${prepared})`, async () => {
    await test.rows("truncate number");
    const database = open();
    try {
      const outcomes: PromiseSettledResult<unknown>[] = [];
      const failed = inTransaction(database, LIMITS, async (transaction) => {
        const writes = [
          transaction.run(INSERT, [[1]]),
          transaction.run({ name: "divide", text: "select 1 / $1::int" }, [0]),
          transaction.run(NUMBERS),
        ];
        const committing = transaction.commitAfter(writes);
        outcomes.push(...(await Promise.allSettled([...writes, committing])));
        await committing;
      });
      await expect(failed).rejects.toMatchObject({ code: "22012" });
      for (const outcome of outcomes)
        expect(outcome).toMatchObject({ status: "rejected", reason: { code: "22012" } });
      expect(await stored()).toEqual([]);

      // Those that were skipped had not been prepared.
      await inTransaction(database, LIMITS, async (transaction) => {
        expect(await transaction.run(NUMBERS)).toEqual([]);
        await transaction.commitAfter([transaction.run(INSERT, [[2]])]);
      });
      expect(await stored()).toEqual([2]);
    } finally {
      await database.close();
    }
  });

  it(`discards unsent statements when the callback throws (prepared: ${prepared})`, async () => {
    await test.rows("truncate number");
    const database = open();
    try {
      const failed = inTransaction(database, LIMITS, (transaction) => {
        transaction.run(INSERT, [[1]]).catch(() => {});
        throw new Error("a defect");
      });
      await expect(failed).rejects.toThrow("a defect");
      await database.run(INSERT, [[2]]);
      expect(await stored()).toEqual([2]);
    } finally {
      await database.close();
    }
  });

  it(`commits nothing beside a value that cannot be sent (prepared: ${prepared})`, async () => {
    await test.rows("truncate number");
    const database = open();
    const circular: { self?: unknown } = {};
    circular.self = circular;
    try {
      const failed = inTransaction(database, LIMITS, (transaction) =>
        transaction.commitAfter([
          transaction.run(INSERT, [[1]]),
          transaction.run({ name: "text", text: "select $1::text" }, [circular]),
          transaction.run(INSERT, [[2]]),
        ]),
      );
      await expect(failed).rejects.toThrow("circular");
      expect(await stored()).toEqual([]);
      await database.run(INSERT, [[3]]);
      expect(await stored()).toEqual([3]);
    } finally {
      await database.close();
    }
  });
}
