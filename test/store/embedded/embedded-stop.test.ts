import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { readFile, rename, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { openDatabase } from "../../../src/store/database.ts";
import { startEmbeddedPostgres } from "../../../src/store/embedded/embedded.ts";
import { unprivilegedAccount } from "../../../src/store/embedded/embedded-account.ts";
import { ENTRY } from "../../cli/tollgate.ts";
import { cleanedUp } from "../../support/cleanup.ts";
import { eventually } from "../../support/eventually.ts";
import { freePort } from "../../support/free-port.ts";
import { spawnServer } from "../../support/server-process.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { PROCESS_VARIABLES } from "../../support/variables.ts";

const SERVER = join(import.meta.dirname, "../../../src/server.ts");

describe("the embedded PostgreSQL does not outlive", () => {
  it("a server whose terminal is closed", async () => {
    const dataDir = await temporaryFolder();
    const server = await spawnServer(null, { DATA_DIR: dataDir });
    // A terminal and its shell may both send it.
    server.child.kill("SIGHUP");
    expect(await server.end("SIGHUP")).toEqual({ code: 0, signal: null });
    expect(existsSync(pidFile(dataDir))).toBe(false);
  });

  it.skipIf(!existsSync("/proc/self/cwd"))("a server whose data folder has been moved", async () => {
    const folder = await temporaryFolder();
    const [dataDir, moved] = ["data", "moved"].map((name) => join(folder, name)) as [string, string];
    const postgres = await startEmbeddedPostgres(dataDir);
    await rename(dataDir, moved);
    expect(existsSync(pidFile(moved))).toBe(true);
    await postgres.stop();
    expect(existsSync(pidFile(moved))).toBe(false);
  });

  it.skipIf(!existsSync("/proc/self/cwd"))(
    "a server whose data folder has been moved, and that of another one in its place stays",
    async () => {
      const folder = await temporaryFolder();
      const [dataDir, moved] = ["data", "moved"].map((name) => join(folder, name)) as [string, string];
      const first = await startEmbeddedPostgres(dataDir);
      await rename(dataDir, moved);
      const second = await startEmbeddedPostgres(dataDir);
      await first.stop();
      expect([dataDir, moved].map((name) => existsSync(pidFile(name)))).toEqual([true, false]);
      await second.stop();
      expect(existsSync(pidFile(dataDir))).toBe(false);
    },
  );

  it("a server whose data folder has been restored from a copy while it ran", async () => {
    const folder = await temporaryFolder();
    const [dataDir, former] = ["data", "former"].map((name) => join(folder, name)) as [string, string];
    const postgres = await startEmbeddedPostgres(dataDir);
    await rename(dataDir, former);
    const [pid] = (await readFile(pidFile(former), "utf8")).split("\n");
    process.kill(Number(pid), "SIGINT");
    await eventually(async () => existsSync(pidFile(former)), false);
    execFileSync("cp", ["-a", former, dataDir]);
    await eventually(async () => existsSync(pidFile(dataDir)), true);
    await postgres.stop();
    expect(existsSync(pidFile(dataDir))).toBe(false);
  });

  it("a server that is told to stop twice", async () => {
    const dataDir = await temporaryFolder();
    const server = await spawnServer(null, { DATA_DIR: dataDir });
    // Keeps it from stopping in order for ten seconds.
    const request = connect(Number(new URL(server.url).port), "127.0.0.1");
    request.on("error", () => {});
    request.write("POST /api/webhooks/provider-a HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n");
    await once(request, "ready");
    const ended = once(server.child, "exit");
    server.child.kill("SIGTERM");
    await eventually(async () => server.lines.some((line) => line.includes('"msg":"stopping"')), true);
    // Earlier, the next one would be taken for the same request.
    await sleep(1_100);
    server.child.kill("SIGTERM");
    expect(await ended).toEqual([1, null]);
    // The process waits five seconds at most; a slow disk takes PostgreSQL longer.
    await eventually(async () => existsSync(pidFile(dataDir)), false);
    request.destroy();
  });

  it("a command that gets its signal from npm as well", async () => {
    const dataDir = await temporaryFolder();
    const command = start(dataDir, [ENTRY, "users", "create", "--count", "1"]);
    await untilReady(dataDir);
    command.child.kill("SIGINT");
    await sleep(50);
    command.child.kill("SIGINT");
    expect(await command.ended).toMatchObject({ code: 130 });
    expect(existsSync(pidFile(dataDir))).toBe(false);
  });

  it.each([
    ["SIGHUP", 129],
    ["SIGTERM", 143],
  ] as const)("a command that %s ends while it starts", async (signal, code) => {
    const dataDir = await temporaryFolder();
    const command = start(dataDir, [ENTRY, "users", "create", "--count", "1"]);
    await untilReady(dataDir);
    command.child.kill(signal);
    expect(await command.ended).toMatchObject({ code });
    expect(existsSync(pidFile(dataDir))).toBe(false);
  });

  it("the doctor that is ended while it checks", async () => {
    const dataDir = await temporaryFolder();
    await (await startEmbeddedPostgres(dataDir)).stop();
    const command = start(dataDir, [ENTRY, "doctor"]);
    await untilReady(dataDir);
    command.child.kill("SIGINT");
    expect(await command.ended).toMatchObject({ code: 130 });
    expect(existsSync(pidFile(dataDir))).toBe(false);
  });

  it("a server whose start fails", async () => {
    const dataDir = await temporaryFolder();
    const postgres = await startEmbeddedPostgres(dataDir);
    // A table of this name that the server may not read.
    await onPostgres(postgres.adminUrl, "create table schema_migration (name text)");
    await postgres.stop();
    expect(existsSync(pidFile(dataDir))).toBe(false);
    expect(await start(dataDir, [SERVER]).ended).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^DATA_DIR: PostgreSQL refused: permission denied .*\n$/),
    });
    expect(existsSync(pidFile(dataDir))).toBe(false);
  });

  it("a start with lost passwords", async () => {
    const dataDir = await temporaryFolder();
    await (await startEmbeddedPostgres(dataDir)).stop();
    for (const name of ["password", "admin-password"]) {
      await writeFile(join(dataDir, "postgres", name), "wrong\n");
    }
    await expect(startEmbeddedPostgres(dataDir)).rejects.toThrow("restore the files password");
    expect(existsSync(pidFile(dataDir))).toBe(false);
  });
});

it("signals no process that its pid file names by chance", async () => {
  const dataDir = await temporaryFolder();
  const postgres = await startEmbeddedPostgres(dataDir);
  const unrelated = spawn("sleep", ["infinity"], (await unprivilegedAccount()) ?? {});
  const ended = once(unrelated, "exit");
  const [pid, ...rest] = (await readFile(pidFile(dataDir), "utf8")).split("\n");
  await writeFile(pidFile(dataDir), [unrelated.pid, ...rest].join("\n"));
  await postgres.stop();
  unrelated.kill("SIGKILL");
  expect(await ended).toEqual([null, "SIGKILL"]);
  process.kill(Number(pid), "SIGQUIT");
});

it("keeps serving when nobody reads its output any more", async () => {
  const dataDir = await temporaryFolder();
  const port = await freePort();
  const server = start(dataDir, [SERVER], { PORT: String(port) });
  server.child.stdout.destroy();
  server.child.stderr.destroy();
  await eventually(async () => {
    if (server.child.exitCode !== null) throw new Error(`ended with ${server.child.exitCode}`);
    return (await fetch(`http://127.0.0.1:${port}/api/ready`).catch(() => null))?.status;
  }, 200);
  server.child.kill("SIGTERM");
  expect(await once(server.child, "exit")).toEqual([0, null]);
  expect(existsSync(pidFile(dataDir))).toBe(false);
});

function start(dataDir: string, args: readonly string[], variables: Record<string, string> = {}) {
  const child = spawn(process.execPath, args, {
    env: { ...PROCESS_VARIABLES, DATA_DIR: dataDir, PORT: "0", SIMULATOR: "off", ...variables },
    stdio: ["ignore", "pipe", "pipe"],
  });
  cleanedUp(async () => child.kill("SIGKILL"));
  const ended = Promise.all([once(child, "exit"), text(child.stdout), text(child.stderr)]).then(
    ([[code], stdout, stderr]) => ({ code, stdout, stderr }),
  );
  ended.catch(() => {});
  return { child, ended };
}

function pidFile(dataDir: string): string {
  return join(dataDir, "postgres", "cluster", "postmaster.pid");
}

async function untilReady(dataDir: string): Promise<void> {
  const isReady = async () => (await readFile(pidFile(dataDir), "utf8").catch(() => "")).includes("ready");
  await eventually(isReady, true);
}

async function onPostgres(url: string, text: string): Promise<void> {
  const database = openDatabase({ url, prepared: false, maxConnections: 1, answerTimeoutMs: 60_000 });
  await database.run({ name: "q", text }).finally(() => database.close());
}
