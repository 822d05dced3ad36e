import { execFile, execFileSync } from "node:child_process";
import { mkdir, readFile, rename, symlink } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, describe, expect, it } from "vitest";
import { openDatabase } from "../../../src/store/database.ts";
import { startEmbeddedPostgres } from "../../../src/store/embedded/embedded.ts";
import { ENTRY, tollgateProcessIn } from "../../cli/tollgate.ts";
import { spawnServer } from "../../support/server-process.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { PROCESS_VARIABLES } from "../../support/variables.ts";

const run = promisify(execFile);

let folder: string;
beforeAll(async () => {
  folder = await temporaryFolder();
});

describe("the embedded PostgreSQL of a running server", () => {
  it("is found through a symbolic link to its folder, and in a renamed folder", async () => {
    const dataDir = join(folder, "data");
    const server = await spawnServer(null, { DATA_DIR: dataDir });
    await symlink(dataDir, join(folder, "link"));
    const before = await pidFile(dataDir);
    expect(await tollgateProcessIn({ DATA_DIR: join(folder, "link") }).json("users", "list")).toEqual([]);
    expect(await pidFile(dataDir)).toBe(before);
    const renamed = join(folder, "renamed");
    await rename(dataDir, renamed);
    expect(await tollgateProcessIn({ DATA_DIR: renamed }).json("users", "list")).toEqual([]);
    expect(await pidFile(renamed)).toBe(before);
    await rename(renamed, dataDir);
    expect((await fetch(`${server.url}/api/ready`)).status).toBe(200);
    expect((await server.end("SIGTERM")).code).toBe(0);
  });
});

// As in a container, whose root may not look into the processes of other users.
const WITHOUT_PTRACE = ["--bounding-set", "-sys_ptrace", "--inh-caps", "-sys_ptrace"];

it.skipIf(!canDropCapabilities())("is found by root without the right to look into processes", async () => {
  const dataDir = await temporaryFolder();
  const postgres = await startEmbeddedPostgres(dataDir);
  await symlink(dataDir, `${dataDir}/link`);
  const before = await pidFile(dataDir);
  const command = [process.execPath, ENTRY, "users", "create", "--count", "1"];
  const env = { ...PROCESS_VARIABLES, DATA_DIR: `${dataDir}/link` };
  const { stderr } = await run("setpriv", [...WITHOUT_PTRACE, ...command], { env });
  expect(stderr).toBe("");
  expect(await pidFile(dataDir)).toBe(before);
  await postgres.stop();
});

function canDropCapabilities(): boolean {
  try {
    execFileSync("setpriv", [...WITHOUT_PTRACE, "true"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

describe("a copy of a data folder that is in use", () => {
  // The path of the copy is the beginning, or the end, of the original's.
  it.each([
    ["data-1/original", "data-1/orig"],
    ["data-2/original", "original"],
  ])("is not confused with it: %s, %s", async (original, copy) => {
    const root = await temporaryFolder();
    const dataDir = join(root, original);
    const copied = join(root, copy);
    await mkdir(dataDir, { recursive: true });
    const postgres = await startEmbeddedPostgres(dataDir);
    await onPostgres(postgres.adminUrl, "create database only_in_original");
    await run("cp", ["-a", dataDir, copied]);
    const before = await pidFile(copied);
    await expect(startEmbeddedPostgres(copied)).rejects.toThrow("a PostgreSQL in another folder");
    expect(await pidFile(copied)).toBe(before);
    await onPostgres(postgres.adminUrl, "select 1");
    await postgres.stop();
  });
});

async function pidFile(dataDir: string): Promise<string> {
  return readFile(join(dataDir, "postgres", "cluster", "postmaster.pid"), "utf8");
}

async function onPostgres(url: string, text: string): Promise<unknown[]> {
  const database = openDatabase({ url, prepared: false, maxConnections: 1, answerTimeoutMs: 60_000 });
  try {
    return await database.run({ name: "q", text });
  } finally {
    await database.close();
  }
}
