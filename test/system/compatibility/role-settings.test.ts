import pg from "pg";
import { afterAll, beforeAll, expect, it } from "vitest";
import { openDatabase } from "../../../src/store/database.ts";
import { migrate } from "../../../src/store/migrate.ts";
import { waitForDatabase } from "../../../src/store/wait-for-database.ts";
import { startTestRuntime } from "../../support/runtime.ts";
import { describeBehindPgBouncer, type OldPostgres } from "./debian-postgres.ts";

describeBehindPgBouncer("what a role may set, through PgBouncer", ({ start }) => {
  let postgres: OldPostgres;
  beforeAll(async () => {
    postgres = await start();
  });
  afterAll(() => postgres.stop());

  const inDatabase = (url: string, name: string) =>
    Object.assign(new URL(url), { pathname: `/${name}` }).href;
  const open = (url: string, maxConnections = 1) =>
    openDatabase({ url, prepared: false, maxConnections, answerTimeoutMs: 60_000 });

  /** A migrated database, with the addresses of it and of its pool. */
  async function createWith(name: string, settings: Record<string, string>) {
    const superuser = open(postgres.url);
    await waitForDatabase(superuser);
    const [url, pooledUrl] = [inDatabase(postgres.url, name), inDatabase(postgres.pooledUrl, name)];
    for (const text of [
      `create database ${name}`,
      ...Object.entries(settings).map(
        ([setting, value]) => `alter role tollgate in database ${name} set ${setting} = '${value}'`,
      ),
    ])
      await superuser.run({ name: "", text });
    await superuser.close();
    const database = open(url, 2);
    await migrate(database);
    await database.close();
    return { url, pooledUrl };
  }

  it("reads dates and statements as always, on every connection of the pool", async () => {
    const { pooledUrl } = await createWith("german", {
      datestyle: "German",
      standard_conforming_strings: "off",
    });
    const runtime = await startTestRuntime(pooledUrl, { DATABASE_PREPARED: "off" });
    const at = new Date("2026-02-03T04:05:06.789Z");
    const read = {
      name: "at",
      text: "select $1::timestamptz as at, U&'\\001E' as text",
      runsAlone: true,
    } as const;
    const rows = await Promise.all(
      Array.from({ length: 50 }, () => runtime.database.run<{ at: Date }>(read, [at])),
    );
    expect(rows.flat()).toEqual(Array(50).fill({ at, text: "\u001e" }));
    await runtime.close();
  });

  it("refuses an isolation level that it cannot set there, and names the statement that helps", async () => {
    const { url, pooledUrl } = await createWith("strict", { default_transaction_isolation: "serializable" });
    await expect(startTestRuntime(pooledUrl, { DATABASE_PREPARED: "off" })).rejects.toThrow(
      /^DATABASE_URL: default_transaction_isolation is serializable, .*Run: alter role tollgate in database strict set default_transaction_isolation = 'read committed'; then restart the pooler$/,
    );
    await (await startTestRuntime(url)).close();
  });

  it("leaves the connections of the pool as their other users know them", async () => {
    const { pooledUrl } = await createWith("shared", { extra_float_digits: "3" });
    const runtime = await startTestRuntime(pooledUrl, { DATABASE_PREPARED: "off" });
    const other = new pg.Client({ connectionString: pooledUrl });
    await other.connect();
    expect((await other.query("show extra_float_digits")).rows).toEqual([{ extra_float_digits: "3" }]);
    await other.end();
    await runtime.close();
  });
});
