import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { expect, it } from "vitest";
import { openDatabase } from "../../../src/store/database.ts";
import { startEmbeddedPostgres } from "../../../src/store/embedded/embedded.ts";
import { tollgateProcessIn } from "../../cli/tollgate.ts";
import { eventually } from "../../support/eventually.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

it("never stops the embedded PostgreSQL under those who still use it, or begin to", async () => {
  const dataDir = await temporaryFolder();
  await Promise.all(
    [1, 2, 3].map(async () => {
      for (let round = 0; round < 8; round += 1) {
        const postgres = await startEmbeddedPostgres(dataDir);
        const options = { url: postgres.url, prepared: false, maxConnections: 1, answerTimeoutMs: 60_000 };
        const database = openDatabase(options);
        await database.run({ name: "one", text: "select 1" });
        await sleep(Math.random() * 50);
        await database.run({ name: "one", text: "select 1" });
        await database.close();
        await postgres.stop();
      }
    }),
  );
  expect(existsSync(join(dataDir, "postgres", "cluster", "postmaster.pid"))).toBe(false);
});

it("is stopped by a second call when another client was connected at the first", async () => {
  const dataDir = await temporaryFolder();
  const isRunning = () => existsSync(join(dataDir, "postgres", "cluster", "postmaster.pid"));
  const postgres = await startEmbeddedPostgres(dataDir);
  const client = new pg.Client({ connectionString: postgres.url });
  await client.connect();
  await postgres.stop();
  expect(isRunning()).toBe(true);
  expect((await client.query("select 1 as one")).rows).toEqual([{ one: 1 }]);
  await client.end();
  await postgres.stop();
  expect(isRunning()).toBe(false);
});

it("is not stopped under whoever used it before it crashed and was started again", async () => {
  const dataDir = await temporaryFolder();
  const pidFile = join(dataDir, "postgres", "cluster", "postmaster.pid");
  const first = await startEmbeddedPostgres(dataDir);
  const [pid] = (await readFile(pidFile, "utf8")).split("\n");
  process.kill(Number(pid), "SIGKILL");
  const uses = async () => {
    const client = new pg.Client({ connectionString: first.adminUrl });
    client.on("error", () => {});
    try {
      await client.connect();
      const { rowCount } = await client.query("select from pg_locks where locktype = 'advisory' and granted");
      return rowCount;
    } catch {
      return null;
    } finally {
      await client.end().catch(() => {});
    }
  };
  await eventually(uses, 1);
  const command = await startEmbeddedPostgres(dataDir);
  await command.stop();
  expect(await uses()).toBe(1);
  await first.stop();
  expect(existsSync(pidFile)).toBe(false);
});

it("runs commands that overlap without a server", async () => {
  const tollgate = tollgateProcessIn({ DATA_DIR: await temporaryFolder() });
  await tollgate("users", "create", "--count", "1");
  const runs = Array.from({ length: 16 }, async (_, n) => {
    await sleep(n * 120);
    return tollgate("users", "create", "--count", "1");
  });
  for (const { code, stderr } of await Promise.all(runs))
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
});
