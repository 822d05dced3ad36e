import { randomBytes } from "node:crypto";
import { Socket } from "node:net";
import { expect, it, onTestFinished, vi } from "vitest";
import { readConfig } from "../../../src/config/config.ts";
import { checkDatabase } from "../../../src/doctor/check-database.ts";
import { requireSettings } from "../../../src/runtime/require-database.ts";
import type { Database } from "../../../src/store/database.ts";
import { isMigrated } from "../../../src/store/migrate.ts";
import { numberedEvent } from "../../fixtures/numbered-event.ts";
import { emptyDatabase, freshDatabase, type TestDatabase } from "../../support/database.ts";
import { deliverUntilAnswered, sendRequest } from "../../support/http.ts";
import { startTestRuntime } from "../../support/runtime.ts";
import { startTestServer } from "../../support/server.ts";
import { createServiceKey } from "../../support/service-keys.ts";
import { GENEROUS_LIMITS, serverVariables } from "../../support/variables.ts";

/** New connections to the database get these, as from `alter role`. */
async function setDefaults(test: TestDatabase, settings: Record<string, string>): Promise<void> {
  const name = new URL(test.url).pathname.slice(1);
  for (const [setting, value] of Object.entries(settings))
    await test.rows(`alter database ${name} set ${setting} = '${value}'`);
}

/** Whatever a role may set that changes what a statement means, or how its result is written. */
const HOSTILE = {
  datestyle: "German",
  intervalstyle: "sql_standard",
  timezone: "America/St_Johns",
  standard_conforming_strings: "off",
  escape_string_warning: "on",
  backslash_quote: "off",
  bytea_output: "escape",
  xmlbinary: "hex",
  array_nulls: "off",
  extra_float_digits: "-12",
  quote_all_identifiers: "on",
  transform_null_equals: "on",
  default_transaction_isolation: "serializable",
  default_transaction_deferrable: "on",
  synchronous_commit: "off",
  client_min_messages: "error",
};

it("serves accounts and webhooks in a database whose settings are all different", async () => {
  const test = await freshDatabase();
  await setDefaults(test, HOSTILE);
  const server = await startTestServer(test.url, GENEROUS_LIMITS);
  const call = (method: string, path: string, body: unknown, key?: string) =>
    sendRequest(server.url, method, path, { body, ...(key ? { key } : {}) });
  const account = { email: "new@example.com", password: "a password of some length", name: "Somebody" };

  const signedUp = await call("POST", "/api/auth/sign-up/email", account);
  expect(signedUp).toMatchObject({ status: 200, body: { user: { createdAt: expect.any(String) } } });
  expect(await call("POST", "/api/auth/sign-in/email", account)).toMatchObject({ status: 200 });

  const { key } = await createServiceKey(test);
  const results = await Promise.all(
    Array.from({ length: 20 }, (_, n) =>
      call("PUT", "/api/users/external/shop-1", { email: "shop@example.com", name: `Shop ${n}` }, key),
    ),
  );
  expect(results.map(({ status }) => status).filter((status) => status >= 300)).toEqual([]);

  // The second one reads what the first has stored.
  for (const n of [1, 2, 1, 2])
    expect(await deliverUntilAnswered(server.url, "provider-a", numberedEvent("settings", n))).toMatchObject({
      status: 200,
    });
  await server.close();
  await test.drop();
});

it("reads what it writes, and commits to the disk, whatever a database's settings are", async () => {
  const test = await emptyDatabase();
  await setDefaults(test, HOSTILE);
  const { database, close } = await startTestRuntime(test.url);
  const written = {
    at: new Date("2026-02-03T04:05:06.789Z"),
    names: ["a", null],
    number: 1_764_081_396_123.456,
  };
  const [read] = await database.run<Record<string, unknown>>(
    {
      name: "settings",
      text: `select $1::timestamptz as at, $2::text[] as names, $3::float8 as number, '\\x00ff'::bytea as bytes,
        current_setting('synchronous_commit') as commits, current_setting('transaction_isolation') as level`,
    },
    [written.at, written.names, written.number],
  );
  expect(read).toEqual({
    ...written,
    bytes: Buffer.from([0x00, 0xff]),
    commits: "on",
    level: "read committed",
  });
  await close();
  await test.drop();
});

it.each<Record<string, string>>([
  { default_transaction_isolation: "serializable" },
  { default_transaction_isolation: "repeatable read" },
  { transaction_timeout: "200ms" },
])("migrates a database that sets %j", async (settings) => {
  const test = await emptyDatabase();
  await setDefaults(test, settings);
  const runtime = await startTestRuntime(test.url);
  expect(await isMigrated(runtime.database)).toBe(true);
  await runtime.close();
  await test.drop();
});

it("refuses a database that is not in UTF-8, at the start and in the doctor", async () => {
  const test = await emptyDatabase();
  const name = `latin_${randomBytes(6).toString("hex")}`;
  await test.rows(`create database ${name} encoding 'LATIN1' locale 'C' template template0`);
  const url = Object.assign(new URL(test.url), { pathname: `/${name}` }).href;
  await expect(startTestRuntime(url)).rejects.toThrow(
    /^DATABASE_URL: the database is in LATIN1, .+ encoding 'UTF8' template template0$/,
  );
  const { findings } = await checkDatabase(readConfig(serverVariables(url)));
  expect(findings[0]).toMatchObject({ check: "database", state: "broken" });
  expect(findings[0]?.detail).toContain("LATIN1");
  await test.rows(`drop database ${name} with (force)`);
  await test.drop();
});

it("has idle connections probed before load balancers forget them", async () => {
  const test = await emptyDatabase();
  const keepAlive = vi.spyOn(Socket.prototype, "setKeepAlive");
  onTestFinished(() => keepAlive.mockRestore());
  const runtime = await startTestRuntime(test.url);
  expect(keepAlive.mock.calls.length).toBeGreaterThan(0);
  for (const call of keepAlive.mock.calls) expect(call).toEqual([true, 30_000]);
  await runtime.close();
  await test.drop();
});

it("reports a lock that a role's own limit gave up as an unavailable database", async () => {
  const test = await emptyDatabase();
  await test.rows("create table locked as select 1 as n");
  const [holder, limited] = [await test.database.connection(), await test.database.connection()];
  await holder.script("begin; update locked set n = 2");
  // As behind a pooler, where the role's limit stays.
  await limited.script("set lock_timeout = 50");
  limited.release({ healthy: true });
  // The connection that was released last is the next one to be used.
  await expect(test.database.run({ name: "locked", text: "update locked set n = 3" })).rejects.toMatchObject({
    name: "DatabaseUnavailable",
    cause: { code: "55P03" },
  });
  holder.release({ healthy: false });
  await test.drop();
});

it("reports in the doctor that nothing can be written", async () => {
  const test = await freshDatabase(0);
  await setDefaults(test, { default_transaction_read_only: "on" });
  const { findings } = await checkDatabase(readConfig(serverVariables(test.url)));
  expect(findings[0]).toMatchObject({ state: "broken", detail: "DATABASE_URL: read-only" });
  await test.drop();
});

it("refuses a PostgreSQL that is too old, and says so before a migration fails in it", async () => {
  const { database, drop } = await emptyDatabase();
  const old: Database = {
    ...database,
    run: async (statement, values) =>
      (await database.run<object>(statement, values)).map(
        (row) => ({ ...row, version: "14.20", versionNum: 140_020 }) as never,
      ),
  };
  await expect(requireSettings(old, { preparedStatements: true })).rejects.toThrow(
    "DATABASE_URL: PostgreSQL 14.20 is too old. Upgrade PostgreSQL to version 15 or later",
  );
  await requireSettings(database, { preparedStatements: true });
  await drop();
});
