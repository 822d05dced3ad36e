import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { embeddedSecrets } from "../../../src/config/embedded-secrets.ts";
import { openDatabase } from "../../../src/store/database.ts";
import { startEmbeddedPostgres } from "../../../src/store/embedded/embedded.ts";
import { migrate } from "../../../src/store/migrate.ts";
import { fixtureDelivery } from "../../fixtures/fixture.ts";
import { eventually } from "../../support/eventually.ts";
import { deliverWebhook } from "../../support/http.ts";
import { spawnServer } from "../../support/server-process.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { PROCESS_VARIABLES } from "../../support/variables.ts";

let folder: string;
beforeAll(async () => {
  folder = await temporaryFolder();
});

/** In a process group of its own, as from a terminal. */
function startingServer(dataDir: string) {
  const server = spawn(process.execPath, [join(import.meta.dirname, "../../../src/server.ts")], {
    env: { ...PROCESS_VARIABLES, DATA_DIR: dataDir, PORT: "0", SIMULATOR: "off" },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  onTestFinished(() => void server.kill("SIGKILL"));
  let written = "";
  for (const stream of [server.stdout, server.stderr]) stream.on("data", (data) => (written += data));
  return { server, ended: once(server, "exit"), output: () => written };
}

describe("the embedded PostgreSQL", () => {
  it("is reused after the server was killed, without data loss", { timeout: 120_000 }, async () => {
    const variables = { DATA_DIR: folder, WEBHOOK_LEASE_SECONDS: "2" };
    const first = await spawnServer(null, variables);
    const secret = (await embeddedSecrets(folder)).webhookSecrets["provider-a"];
    const delivery = (eventId: string) =>
      fixtureDelivery("stripe", "customer.subscription.updated", {
        secret,
        nowSeconds: Math.floor(Date.now() / 1000),
        eventType: "invoice.created",
        eventId,
      });
    for (let n = 0; n < 20; n += 1) {
      expect((await deliverWebhook(first.url, "provider-a", delivery(`embedded-${n}`))).status).toBe(200);
    }
    await first.end("SIGKILL");

    const second = await spawnServer(null, variables);
    for (let n = 0; n < 20; n += 1) {
      expect((await deliverWebhook(second.url, "provider-a", delivery(`embedded-${n}`))).body).toEqual({
        received: true,
        duplicate: true,
      });
    }
    expect((await second.end("SIGTERM")).code).toBe(0);
    await expect(stat(join(folder, "postgres", "cluster", "postmaster.pid"))).rejects.toThrow("ENOENT");
  });

  it("is stopped with a server that is told to stop while it starts", { timeout: 120_000 }, async () => {
    const dataDir = join(folder, "broken-off");
    const pidFile = join(dataDir, "postgres", "cluster", "postmaster.pid");
    const { server, ended, output } = startingServer(dataDir);
    await eventually(async () => (await readFile(pidFile, "utf8").catch(() => "")).includes("ready"), true);
    server.kill("SIGTERM");
    expect(await ended).toEqual([0, null]);
    expect(output()).toContain("stopping");
    expect(output()).not.toMatch(/listening|Tollgate is at/);
    await expect(stat(pidFile)).rejects.toThrow("ENOENT");
  });

  it("is made anew after a signal has ended the program that makes it, too", {
    timeout: 120_000,
  }, async () => {
    const dataDir = join(folder, "half-made");
    const { server, ended, output } = startingServer(dataDir);
    const files = async () =>
      (await readdir(join(dataDir, "postgres"), { recursive: true }).catch(() => [])).join();
    // initdb works in a folder of that name and a suffix.
    await eventually(async () => /cluster\.\w+\/PG_VERSION/.test(await files()), true);
    // As npm, `timeout` and a terminal do: to the whole process group.
    process.kill(-(server.pid as number), "SIGTERM");
    expect({ ended: await ended, failure: /DATA_DIR: .*/.exec(output())?.[0] }).toEqual({ ended: [0, null] });
    const next = await spawnServer(null, { DATA_DIR: dataDir });
    expect((await next.end("SIGTERM")).code).toBe(0);
  });

  it("starts although its pid file names an unrelated process", async () => {
    const otherFolder = join(folder, "recycled");
    await (await startEmbeddedPostgres(otherFolder)).stop();
    const file = join(otherFolder, "postgres", "cluster", "postmaster.pid");
    await writeFile(file, `${process.pid}\n${otherFolder}\n1\n1\n\n127.0.0.1\n0 0\nready\n`, { mode: 0o644 });
    const postgres = await startEmbeddedPostgres(otherFolder);
    const database = openDatabase({
      url: postgres.url,
      prepared: true,
      maxConnections: 1,
      answerTimeoutMs: 5_000,
    });
    expect(await database.run({ name: "one", text: "select 1 as one" })).toEqual([{ one: 1 }]);
    await database.close();
    await postgres.stop();
  });

  it("is reached although the environment requires encryption of other servers", async () => {
    vi.stubEnv("PGSSLMODE", "require");
    onTestFinished(() => void vi.unstubAllEnvs());
    const postgres = await startEmbeddedPostgres(join(folder, "encrypted"));
    await postgres.stop();
  });

  it("allows 100 connections, or as many as its caller wants", async () => {
    for (const options of [{}, { maxConnections: 250 }]) {
      const postgres = await startEmbeddedPostgres(join(folder, "connections"), options);
      const database = openDatabase({
        url: postgres.url,
        prepared: false,
        maxConnections: 1,
        answerTimeoutMs: 30_000,
      });
      const [setting] = await database.run({ name: "setting", text: "show max_connections" });
      await database.close();
      await postgres.stop();
      expect(setting).toEqual({ max_connections: String(options.maxConnections ?? 100) });
    }
  });

  it("compresses whole pages in the write-ahead log", async () => {
    const postgres = await startEmbeddedPostgres(join(folder, "compression"));
    const database = openDatabase({
      url: postgres.url,
      prepared: false,
      maxConnections: 1,
      answerTimeoutMs: 30_000,
    });
    const setting = await database.run({ name: "setting", text: "show wal_compression" });
    await database.close();
    await postgres.stop();
    expect(setting).toEqual([{ wal_compression: "pglz" }]);
  });

  it("is shared by servers on one folder and stopped by the last", { timeout: 120_000 }, async () => {
    const [a, b] = await Promise.all([1, 2].map(() => spawnServer(null, { DATA_DIR: folder })));
    await a?.end("SIGTERM");
    expect((await fetch(`${b?.url}/api/ready`)).status).toBe(200);
    await b?.end("SIGTERM");
    await expect(stat(join(folder, "postgres", "cluster", "postmaster.pid"))).rejects.toThrow("ENOENT");
  });

  it("logs that a row exists already, without its content", async () => {
    const ownFolder = join(folder, "logged");
    const postgres = await startEmbeddedPostgres(ownFolder);
    const database = openDatabase({
      url: postgres.url,
      prepared: false,
      maxConnections: 1,
      answerTimeoutMs: 30_000,
    });
    await database.run({ name: "create", text: "create table person (email text unique)" });
    const twice = { name: "insert_twice", text: "insert into person select $1 from generate_series(1, 2)" };
    await expect(database.run(twice, ["ann@example.com"])).rejects.toThrow("duplicate key");
    await database.close();
    await postgres.stop();
    const log = await readFile(join(ownFolder, "postgres", "log"), "utf8");
    expect(log).toContain("duplicate key value violates unique constraint");
    expect(log).not.toContain("ann@example.com");
  });

  it("keeps its secrets private", async () => {
    for (const name of ["secrets.json", "postgres/password", "postgres/admin-password"]) {
      expect((await stat(join(folder, name))).mode & 0o077, name).toBe(0);
    }
  });

  it("is used as a role that owns the tables and is no superuser", { timeout: 120_000 }, async () => {
    const postgres = await startEmbeddedPostgres(join(folder, "role"));
    const database = openDatabase({
      url: postgres.url,
      prepared: false,
      maxConnections: 2,
      answerTimeoutMs: 60_000,
    });
    await migrate(database);
    const text = `select current_user, rolsuper, rolcreaterole, rolcreatedb,
      (select count(*)::int from pg_tables where schemaname = 'public' and tableowner <> 'tollgate') as others
      from pg_roles where rolname = current_user`;
    expect(await database.run({ name: "role", text })).toEqual([
      { current_user: "tollgate", rolsuper: false, rolcreaterole: false, rolcreatedb: false, others: 0 },
    ]);
    const read = { name: "read", text: "select pg_read_file('/etc/passwd')" };
    await expect(database.run(read)).rejects.toThrow("permission denied");
    await database.close();
    await postgres.stop();
  });

  it("is created once by processes that start together, in a folder that only its owner may enter", {
    timeout: 120_000,
  }, async () => {
    const otherFolder = join(folder, "together");
    await mkdir(otherFolder, { mode: 0o700 });
    const started = await Promise.all([1, 2, 3].map(() => startEmbeddedPostgres(otherFolder)));
    expect(new Set(started.map((postgres) => postgres.url)).size).toBe(1);
    const url = started[0]?.url ?? "";
    const database = openDatabase({ url, prepared: true, maxConnections: 1, answerTimeoutMs: 5_000 });
    const settings = await database.run({
      name: "settings",
      text: "select name, setting from pg_settings where name in ('fsync', 'listen_addresses', 'synchronous_commit') order by 1",
    });
    expect(settings).toEqual([
      { name: "fsync", setting: "on" },
      { name: "listen_addresses", setting: "127.0.0.1" },
      { name: "synchronous_commit", setting: "on" },
    ]);
    await database.close();
    for (const postgres of started) await postgres.stop();
  });
});
