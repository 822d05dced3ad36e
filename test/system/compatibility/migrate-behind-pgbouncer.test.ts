import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Database, openDatabase } from "../../../src/store/database.ts";
import { isMigrated, migrate } from "../../../src/store/migrate.ts";
import { waitForDatabase } from "../../../src/store/wait-for-database.ts";
import { describeBehindPgBouncer, type OldPostgres } from "./debian-postgres.ts";

/** As many as the pooler has to PostgreSQL. */
const CONNECTIONS = 5;

describeBehindPgBouncer("a migration through PgBouncer", ({ start }) => {
  let postgres: OldPostgres;
  const opened: Database[] = [];
  const open = (url: string, maxConnections: number): Database => {
    const database = openDatabase({ url, prepared: false, maxConnections, answerTimeoutMs: 60_000 });
    opened.push(database);
    return database;
  };
  beforeAll(async () => {
    postgres = await start();
    await waitForDatabase(open(postgres.pooledUrl, 1));
  });
  afterAll(async () => {
    await postgres.stop();
    await Promise.all(opened.map((database) => database.close()));
  });

  it("builds indexes although serving processes have set a timeout on the pooler's connections", {
    timeout: 120_000,
  }, async () => {
    let isOver = false;
    const serving = Array.from({ length: CONNECTIONS }, async () => {
      const database = open(postgres.pooledUrl, 1);
      const connection = await database.connection();
      await connection.script("set statement_timeout = 400; select pg_sleep(0.2)");
      connection.release({ healthy: true });
      const work = { name: "work", text: "select pg_sleep(0.002)" };
      while (!isOver) await database.run(work).catch(() => {});
    });
    await sleep(300);
    // An index is built concurrently only once older transactions have ended.
    const readUntil = performance.now() + 5_000;
    const reading = [0, 500].map(async (afterMs) => {
      const reader = await open(postgres.url, 1).connection();
      await sleep(afterMs);
      while (performance.now() < readUntil) {
        await reader.script("begin isolation level repeatable read; select 1");
        await sleep(1_000);
        await reader.script("commit");
      }
      reader.release({ healthy: true });
    });
    try {
      await migrate(open(postgres.pooledUrl, 2));
    } finally {
      isOver = true;
      await Promise.all([...serving, ...reading]);
    }
    expect(await isMigrated(open(postgres.url, 1))).toBe(true);
  });
});
