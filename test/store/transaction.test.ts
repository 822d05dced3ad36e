import { afterAll, beforeAll, expect, it } from "vitest";
import type { Database, Statement } from "../../src/store/database.ts";
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

it("reports a commit as unknown when it cannot be confirmed that a standby has it", async () => {
  const database: Database = {
    ...test.database,
    connection: async () => {
      const connection = await test.database.connection();
      return {
        ...connection,
        run: async <Row>(statement: Statement, values?: readonly unknown[]) => {
          if (statement.name === "replication") return connection.run<Row>(DIVIDE);
          const rows = await connection.run<Row>(statement, values);
          // As where commits wait for a standby.
          return statement.name === "transaction_settings" ? [{ is_synchronous: true } as Row] : rows;
        },
      };
    },
  };
  const committed = inTransaction(database, LIMITS, (transaction) =>
    transaction.commitAfter([transaction.run(INSERT, [1])]),
  );
  await expect(committed).rejects.toMatchObject({ name: "DatabaseUnavailable", cause: { code: "22012" } });
  expect(await test.rows("select n from number")).toEqual([{ n: 1 }]);
});

it("throws the error of a statement that its work has sent on another connection", async () => {
  const failed = inTransaction(test.database, LIMITS, async () => test.database.run(DIVIDE));
  await expect(failed).rejects.toMatchObject({ code: "22012" });
});
