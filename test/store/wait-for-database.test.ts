import { afterEach, beforeEach, expect, it } from "vitest";
import { type Database, openDatabase } from "../../src/store/database.ts";
import { waitForDatabase } from "../../src/store/wait-for-database.ts";
import { emptyDatabase } from "../support/database.ts";

let database: Database;
let clean: () => Promise<void>;
beforeEach(async () => {
  const { url, drop } = await emptyDatabase();
  database = openDatabase({ url, prepared: true, maxConnections: 1, answerTimeoutMs: 30_000 });
  await setReadOnly("on");
  clean = async () => {
    await database.close();
    await drop();
  };
});
afterEach(() => clean());

/** For connections that are opened afterwards, as on a standby or where a host finds the disk full. */
async function setReadOnly(value: "on" | "off"): Promise<void> {
  const connection = await database.connection();
  const statement = `alter database %I set default_transaction_read_only = ${value}`;
  await connection.script("set default_transaction_read_only = off");
  await connection.script(`do $$ begin execute format('${statement}', current_database()); end $$`);
  connection.release({ healthy: false });
}

it("says that a database is read-only after waiting for it to take writes", async () => {
  await expect(waitForDatabase(database, 1)).rejects.toThrow(
    "the server that responds is read-only: it is a standby, its disk is full, or default_transaction_read_only is on",
  );
});

it("goes on as soon as a database takes writes, such as after a standby was promoted", async () => {
  const { promise: waiting, resolve } = Promise.withResolvers<Error>();
  const available = waitForDatabase(database, 60_000, (_, because) => resolve(because));
  expect((await waiting).message).toMatch("read-only");
  await setReadOnly("off");
  await available;
});
