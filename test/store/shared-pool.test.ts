import { drizzle } from "drizzle-orm/node-postgres";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Database, openDatabase } from "../../src/store/database.ts";
import { sharedPool } from "../../src/store/shared-pool.ts";
import { emptyDatabase, type TestDatabase } from "../support/database.ts";
import { eventually } from "../support/eventually.ts";

const CONNECTIONS = 4;
const MAX_TRANSACTIONS = 2;

let test: TestDatabase;
let database: Database;
const failures: unknown[] = [];
beforeAll(async () => {
  test = await emptyDatabase();
  await test.rows("create table note (text text unique)");
  database = openDatabase({
    url: test.url,
    prepared: true,
    maxConnections: CONNECTIONS,
    answerTimeoutMs: 2_000,
  });
});
afterAll(async () => {
  await database.close();
  await test.drop();
});

const shared = () =>
  drizzle({
    client: sharedPool(database, {
      maxTransactions: MAX_TRANSACTIONS,
      failed: (error) => void failures.push(error),
    }),
  });

it("limits transactions to a share of the connections", async () => {
  const db = shared();
  let most = 0;
  let inUse = 0;
  let go = () => {};
  const gate = new Promise<void>((opens) => {
    go = opens;
  });
  const transactions = Array.from({ length: 10 }, (_, n) =>
    db.transaction(async (tx) => {
      inUse += 1;
      most = Math.max(most, inUse);
      await gate;
      await tx.execute(`insert into note values ('held ${n}')`);
      inUse -= 1;
    }),
  );
  await eventually(async () => inUse, MAX_TRANSACTIONS);
  for (let n = 0; n < 20; n += 1) await database.run({ name: "one", text: "select 1" });
  go();
  await Promise.all(transactions);
  // None of the share has been given twice.
  await Promise.all(
    Array.from({ length: 10 }, () =>
      db.transaction(async (tx) => {
        inUse += 1;
        most = Math.max(most, inUse);
        await tx.execute("select 1");
        inUse -= 1;
      }),
    ),
  );
  expect(most).toBe(MAX_TRANSACTIONS);
  expect(await test.rows("select count(*)::int from note")).toEqual([{ count: 10 }]);
});

it("gives the share back where no connection can be opened", async () => {
  const url = "postgres://nobody@127.0.0.1:1/nothing";
  const nowhere = openDatabase({ url, prepared: true, maxConnections: 1, answerTimeoutMs: 2_000 });
  const pool = sharedPool(nowhere, { maxTransactions: 1, failed: () => {} });
  for (const _ of ["first", "second"])
    await expect(pool.connect()).rejects.toMatchObject({ name: "DatabaseUnavailable" });
  await nowhere.close();
});

it("replaces a connection whose server no longer takes writes, as after a failover", async () => {
  const one = openDatabase({ url: test.url, prepared: true, maxConnections: 1, answerTimeoutMs: 30_000 });
  const pid = () => one.run({ name: "pid", text: "select pg_backend_pid() as pid" });
  const before = await pid();
  const db = drizzle({ client: sharedPool(one, { maxTransactions: 1, failed: () => {} }) });
  const failed = db.transaction(async (tx) => {
    await tx.execute("set transaction read only");
    await tx.execute("insert into note values ('read only')");
  });
  await expect(failed).rejects.toThrow();
  expect(await pid()).not.toEqual(before);
  await one.close();
});

it("rolls back a failed transaction and reports its error", async () => {
  const db = shared();
  failures.length = 0;
  const twice = db.transaction(async (tx) => {
    await tx.execute("insert into note values ('twice')");
    await tx.execute("insert into note values ('twice')");
  });
  await expect(twice).rejects.toThrow();
  expect(failures).toMatchObject([{ code: "23505" }]);
  expect(await test.rows("select text from note where text = 'twice'")).toEqual([]);
});

it("discards a connection that breaks at any statement", async () => {
  const db = shared();
  const pool = sharedPool(database, { maxTransactions: MAX_TRANSACTIONS, failed: () => {} });
  for (let round = 0; round < CONNECTIONS * 3; round += 1) {
    const broken = db.transaction(async (tx) => {
      await tx.execute("insert into note values ('broken')");
      await tx.execute("select pg_terminate_backend(pg_backend_pid())");
    });
    await expect(broken).rejects.toThrow();
    // As Drizzle does with `begin`: the caller does not release it.
    const client = await pool.connect();
    await expect(client.query("not begin")).rejects.toThrow();
    const hangs = db.transaction(async (tx) => {
      await tx.execute("insert into note values ('broken')");
      if (round === 0) await tx.execute("select pg_sleep(4)");
      else throw new Error("no");
    });
    await expect(hangs).rejects.toThrow();
  }
  await db.transaction((tx) => tx.execute("insert into note values ('works')"));
  expect(await test.rows("select text from note where text in ('broken', 'works')")).toEqual([
    { text: "works" },
  ]);
});
