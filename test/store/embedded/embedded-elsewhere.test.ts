import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { readFile, stat, utimes, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { beforeAll, describe, expect, it } from "vitest";
import { ENTRY } from "../../cli/tollgate.ts";
import { cleanedUp } from "../../support/cleanup.ts";
import { eventually } from "../../support/eventually.ts";
import { spawnServer } from "../../support/server-process.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { PROCESS_VARIABLES } from "../../support/variables.ts";

let folder: string;
beforeAll(async () => {
  folder = await temporaryFolder();
});

// A container on the same data folder: with its own pids, network and shared memory.
const UNSHARE = ["--pid", "--ipc", "--mount", "--net", "--fork", "--kill-child", "--mount-proc"];

describe.skipIf(!canUnshare())("an embedded PostgreSQL that another container uses", () => {
  it("is neither started a second time nor stopped", async () => {
    const server = await spawnServer(null, { DATA_DIR: folder });
    const pidFile = join(folder, "postgres", "cluster", "postmaster.pid");
    const before = await readFile(pidFile, "utf8");
    for (const args of [["users", "list"], ["users", "create", "--count", "1"], null]) {
      expect(await inContainer(folder, args).ended).toEqual({
        code: 1,
        stdout: "",
        stderr: `DATA_DIR: the database in ${folder}/postgres is in use by another container or machine (host name ${hostname()}): run the command there, or stop that one first\n`,
      });
    }
    expect(await readFile(pidFile, "utf8")).toBe(before);
    expect((await fetch(`${server.url}/api/ready`)).status).toBe(200);
    expect((await server.end("SIGTERM")).code).toBe(0);
  });

  it("can be used at once by another one after it was stopped", async () => {
    expect(await inContainer(folder, ["users", "list", "--json"]).ended).toMatchObject({ code: 0 });
    await expect(stat(join(folder, "postgres", "owner"))).rejects.toThrow("ENOENT");
  });

  it("can be used again after its container was killed", async () => {
    const dataDir = await temporaryFolder();
    const created = await inContainer(dataDir, ["users", "create", "--count", "3"]).ended;
    expect(created).toMatchObject({ code: 0 });
    const killed = inContainer(dataDir, null);
    const pidFile = join(dataDir, "postgres", "cluster", "postmaster.pid");
    await untilReady(pidFile);
    killed.child.kill("SIGKILL");
    await killed.ended;
    // The pid may be that of any process here.
    const [, ...rest] = (await readFile(pidFile, "utf8")).split("\n");
    await writeFile(pidFile, [process.pid, ...rest].join("\n"));
    const listed = await inContainer(dataDir, ["users", "list", "--json"]).ended;
    expect(listed).toMatchObject({ code: 0, stderr: "" });
    expect(JSON.parse(listed.stdout)).toHaveLength(3);
  });

  it.each(["new", "left by a killed container"])(
    "is used by one of those that start together: %s",
    async (state) => {
      const dataDir = await temporaryFolder();
      if (state !== "new") {
        const killed = inContainer(dataDir, null);
        await untilReady(join(dataDir, "postgres", "cluster", "postmaster.pid"));
        killed.child.kill("SIGKILL");
        await killed.ended;
      }
      const runs = [1, 2, 3].map(() => inContainer(dataDir, ["users", "create", "--count", "1"]).ended);
      const ended = await Promise.all(runs);
      const refused = ended.filter(({ stderr }) =>
        stderr.includes("is in use by another container or machine"),
      );
      const worked = ended.filter(({ code, stderr }) => code === 0 && stderr === "");
      expect(worked.length + refused.length, JSON.stringify(ended)).toBe(3);
      expect(worked.length).toBeGreaterThan(0);
      const listed = await inContainer(dataDir, ["users", "list", "--json"]).ended;
      expect(JSON.parse(listed.stdout)).toHaveLength(1);
      expect(await readFile(join(dataDir, "postgres", "log"), "utf8")).not.toMatch(
        /lock file|PANIC|could not open/,
      );
    },
  );

  it("is not started a second time while it outlives its server", async () => {
    const dataDir = await temporaryFolder();
    const container = inContainer(dataDir, null, '"$@" & read; kill -9 $!; echo killed; sleep infinity');
    const pidFile = join(dataDir, "postgres", "cluster", "postmaster.pid");
    await untilReady(pidFile);
    container.child.stdin.write("\n");
    for await (const line of createInterface({ input: container.child.stdout })) {
      if (line === "killed") break;
    }
    // Long ago, for all that the file tells.
    await utimes(join(dataDir, "postgres", "owner"), 0, 0);
    const before = await readFile(pidFile, "utf8");
    expect(await inContainer(dataDir, ["users", "list"]).ended).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("is in use by another container or machine"),
    });
    expect(await readFile(pidFile, "utf8")).toBe(before);
    container.child.kill("SIGKILL");
    await once(container.child, "exit");
  });
});

async function untilReady(pidFile: string): Promise<void> {
  const isReady = async () => (await readFile(pidFile, "utf8").catch(() => "")).includes("ready");
  await eventually(isReady, true);
}

/** The command, or the server, in a container of its own. */
function inContainer(dataDir: string, args: readonly string[] | null, run = '"$@"') {
  const program = args === null ? [join(import.meta.dirname, "../../../src/server.ts")] : [ENTRY, ...args];
  const script = `ip link set lo up; ${run}`;
  const child = spawn(
    "unshare",
    [...UNSHARE, "bash", "--norc", "-c", script, "bash", process.execPath, ...program],
    {
      env: { ...PROCESS_VARIABLES, DATA_DIR: dataDir, PORT: "0", SIMULATOR: "off" },
      stdio: ["pipe", "pipe", "pipe"],
    },
  );
  cleanedUp(async () => child.kill("SIGKILL"));
  const ended = Promise.all([once(child, "exit"), text(child.stdout), text(child.stderr)]).then(
    ([[code], stdout, stderr]) => ({ code, stdout, stderr }),
  );
  return { child, ended };
}

function canUnshare(): boolean {
  try {
    execFileSync("unshare", [...UNSHARE, "true"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}
