import { afterAll, beforeAll, expect, it } from "vitest";
import { type Connection, type Database, openDatabase, type Statement } from "../../src/store/database.ts";
import { inTransaction, type TransactionOptions } from "../../src/store/transaction.ts";
import { emptyDatabase, type TestDatabase } from "../support/database.ts";

const LIMITS: TransactionOptions = {
  synchronousCommit: "on",
  lockTimeoutMs: 1_000,
  statementTimeoutMs: 10_000,
  idleTimeoutMs: 10_000,
};

let test: TestDatabase;
beforeAll(async () => {
  test = await emptyDatabase();
  await test.rows("create table number (n int primary key)");
});
afterAll(() => test.drop());

const INSERT = { name: "insert_number", text: "insert into number values ($1::int)" };
const DIVIDE = { name: "divide", text: "select 1 / 0" };

/** Where commits wait for a standby, and what a later question after that is answered with. */
function replicated(asked: (connection: Connection) => Promise<unknown[]>): Database {
  return {
    ...test.database,
    connection: async () => {
      const connection = await test.database.connection();
      return {
        ...connection,
        run: async <Row>(statement: Statement, values?: readonly unknown[]) => {
          if (statement.name === "replication") return (await asked(connection)) as Row[];
          const rows = await connection.run<Row>(statement, values);
          return statement.name === "transaction_settings" ? [{ is_synchronous: true } as Row] : rows;
        },
      };
    },
  };
}

it.each<[string, (connection: Connection) => Promise<unknown[]>, object]>([
  ["it cannot be confirmed that a standby has it", ({ run }) => run(DIVIDE), { cause: { code: "22012" } }],
  ["replication was switched off meanwhile", async () => [{ is_synchronous: false }], {}],
])("reports a commit as unknown when %s", async (_, asked, error) => {
  await test.rows("delete from number");
  const committed = inTransaction(replicated(asked), LIMITS, (transaction) =>
    transaction.commitAfter([transaction.run(INSERT, [1])]),
  );
  await expect(committed).rejects.toMatchObject({ name: "DatabaseUnavailable", ...error });
  expect(await test.rows("select n from number")).toEqual([{ n: 1 }]);
});

it("reports a commit as done that a standby has", async () => {
  const database = replicated(async () => [{ is_synchronous: true }]);
  await inTransaction(database, LIMITS, (transaction) =>
    transaction.commitAfter([transaction.run(INSERT, [10])]),
  );
});

it("reads what is committed meanwhile, whatever level is the default of the connection", async () => {
  const database = openDatabase({
    url: test.url,
    prepared: true,
    maxConnections: 1,
    answerTimeoutMs: 30_000,
  });
  const connection = await database.connection();
  // As behind a pooler, where the role's default stays.
  await connection.script("set default_transaction_isolation = 'serializable'");
  connection.release({ healthy: true });
  const level = { name: "level", text: "select current_setting('transaction_isolation') as level" };
  expect(await inTransaction(database, LIMITS, ({ run }) => run(level))).toEqual([
    { level: "read committed" },
  ]);
  await database.close();
});

it("throws the error of a statement that its work has sent on another connection", async () => {
  const failed = inTransaction(test.database, LIMITS, async () => test.database.run(DIVIDE));
  await expect(failed).rejects.toMatchObject({ code: "22012" });
});

it("throws the first error of a statement, not what the failed transaction answers to those behind it", async () => {
  const failed = inTransaction(test.database, LIMITS, async (transaction) => {
    await transaction.run(DIVIDE).catch(() => {});
    await transaction.run(INSERT, [2]);
  });
  await expect(failed).rejects.toMatchObject({ code: "22012" });
});

it("throws what its work makes of the error of a statement", async () => {
  const failed = inTransaction(test.database, LIMITS, (transaction) =>
    transaction.run(DIVIDE).catch((cause) => {
      throw new Error("a hook has failed", { cause });
    }),
  );
  await expect(failed).rejects.toThrow("a hook has failed");
});

it("replaces a connection whose server no longer takes writes, as after a failover", async () => {
  const database = openDatabase({
    url: test.url,
    prepared: true,
    maxConnections: 1,
    answerTimeoutMs: 30_000,
  });
  const pid = () => database.run({ name: "pid", text: "select pg_backend_pid() as pid" });
  const before = await pid();
  const failed = inTransaction(database, LIMITS, async (transaction) => {
    await transaction.run({ name: "read_only", text: "set transaction read only" });
    await transaction.commitAfter([transaction.run(INSERT, [3])]);
  });
  await expect(failed).rejects.toMatchObject({ name: "DatabaseUnavailable", cause: { code: "25006" } });
  expect(await pid()).not.toEqual(before);
  await database.close();
});
