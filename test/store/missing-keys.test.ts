import { afterEach, beforeEach, expect, it } from "vitest";
import { openDatabase } from "../../src/store/database.ts";
import { missingKeys } from "../../src/store/missing-keys.ts";
import { freshDatabase, type TestDatabase } from "../support/database.ts";
import { startTestRuntime } from "../support/runtime.ts";

let test: TestDatabase;
beforeEach(async () => {
  test = await freshDatabase(0);
});
afterEach(() => test.drop());

/** A restore makes keys last, and foreign ones at the very end. */
async function breakOffRestore(): Promise<void> {
  await test.rows("alter table subscription drop constraint subscription_user_id_fkey");
  await test.rows("drop index webhook_delivery_once");
  await test.rows("drop index subscription_payment_once");
}

it("names the keys that a restore has not made before it was broken off", async () => {
  expect(await missingKeys(test.database)).toEqual([]);
  await breakOffRestore();
  expect(await missingKeys(test.database)).toEqual([
    "subscription_user_id_fkey",
    "subscription_payment_once",
    "webhook_delivery_once",
  ]);
});

it("looks for the keys at their tables, whatever else has their names", async () => {
  await test.rows("create schema app");
  await test.rows("create table app.webhook_delivery_once ()");
  await test.rows(`alter database ${new URL(test.url).pathname.slice(1)} set search_path = app, public`);
  const database = openDatabase({
    url: test.url,
    prepared: true,
    maxConnections: 1,
    answerTimeoutMs: 30_000,
  });
  expect(await missingKeys(database)).toEqual([]);
  await database.close();
});

it("leaves alone a database that a later release has changed", async () => {
  await breakOffRestore();
  await test.rows("insert into schema_migration (name) values ('9999_later.sql')");
  expect(await missingKeys(test.database)).toEqual([]);
});

it("refuses to start without a key that keeps events from being applied twice", async () => {
  await breakOffRestore();
  await expect(startTestRuntime(test.url)).rejects.toThrow(
    "DATABASE_URL: the database lacks subscription_user_id_fkey, subscription_payment_once, webhook_delivery_once: a backup was not restored to its end. Restore the backup again, into an empty database",
  );
});
