import { afterEach, beforeEach, expect, it } from "vitest";
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
