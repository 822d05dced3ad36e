import pg from "pg";
import { expect, it } from "vitest";
import { readConfig } from "../../src/config/config.ts";
import { checkDatabase } from "../../src/doctor/check-database.ts";
import { checkIndexes } from "../../src/doctor/check-indexes.ts";
import type { Finding } from "../../src/doctor/finding.ts";
import { openDatabase } from "../../src/store/database.ts";
import { eventually } from "../support/eventually.ts";
import { testDatabase } from "../support/test-database.ts";
import { serverVariables } from "../support/variables.ts";

const test = testDatabase(1);

const indexes = async () => {
  const { findings } = await checkDatabase(readConfig(serverVariables(test.url)));
  return findings.filter(({ check }) => check === "indexes");
};

/** By a role that may not see what the owner is building. */
async function indexesAsStranger(): Promise<Finding | null> {
  const role = `stranger_${process.pid}`;
  await test.rows(`create role ${role} login password 'stranger'`);
  const url = new URL(test.url);
  url.username = role;
  url.password = "stranger";
  const database = openDatabase({ url: url.href, prepared: true, maxConnections: 1, answerTimeoutMs: 5_000 });
  try {
    return await checkIndexes(database);
  } finally {
    await database.close();
    await test.rows(`drop role ${role}`);
  }
}

it("warns of what an interrupted reindex has left, not of one that is running", async () => {
  expect(await indexes()).toEqual([]);
  const reader = new pg.Client({ connectionString: test.url });
  const owner = new pg.Client({ connectionString: test.url });
  await Promise.all([reader.connect(), owner.connect()]);
  // The former index is kept until this has ended.
  await reader.query(`begin; select from "user" limit 1`);
  const rebuilding = owner.query("reindex index concurrently user_email_key").catch((error: Error) => error);
  await eventually(
    () => test.rows("select to_regclass('user_email_key_ccold') is not null as kept"),
    [{ kept: true }],
  );
  expect(await indexes()).toEqual([]);
  expect(await indexesAsStranger()).toBeNull();
  await test.rows(
    "select pg_cancel_backend(pid) from pg_stat_progress_create_index where datname = current_database()",
  );
  expect(await rebuilding).toMatchObject({ message: expect.stringContaining("canceling statement") });
  await Promise.all([reader.end(), owner.end()]);
  const remedy = "drop index concurrently user_email_key_ccold";
  expect(await indexes()).toMatchObject([
    {
      state: "warning",
      detail: expect.stringContaining("no query can use user_email_key_ccold, which was interrupted"),
      remedy: `As the owner, one by one: ${remedy}.`,
    },
  ]);
  await test.rows(remedy);
  expect(await indexes()).toEqual([]);
});

it("advises to build an index anew that was not finished", async () => {
  await test.rows(`insert into "user" (id, name, email) values ('twin', 'User 0', 'twin@example.com')`);
  const failing = test.rows(`create unique index concurrently user_name_again on "user" (name)`);
  await expect(failing).rejects.toThrow("could not create unique index");
  expect(await indexes()).toMatchObject([
    { remedy: "As the owner, one by one: reindex index concurrently user_name_again." },
  ]);
});
