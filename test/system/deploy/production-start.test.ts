import { spawn } from "node:child_process";
import { once } from "node:events";
import { chown, mkdir, readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { beforeAll, describe, expect, it } from "vitest";
import { builtPages } from "../../support/built-pages.ts";
import { sendRequest } from "../../support/http.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { testDatabase } from "../../support/test-database.ts";
import { serverVariables } from "../../support/variables.ts";

const PROJECT = resolve(import.meta.dirname, "../../..");
const NOBODY = 65_534;
const isRoot = process.getuid?.() === 0;

const test = testDatabase();
let folder: string;
beforeAll(async () => {
  await builtPages();
  folder = await temporaryFolder();
});

describe("the installed server in production", () => {
  it("starts, serves pages and passes its health check in little memory, without npm, a home or a writable project", async () => {
    const dataDir = join(folder, "data");
    await mkdir(dataDir);
    if (isRoot) await chown(dataDir, NOBODY, NOBODY);
    const env = {
      ...serverVariables(test.url),
      NODE_ENV: "production",
      DATA_DIR: dataDir,
      APP_URL: "https://billing.example.com",
      LOG_LEVEL: "info",
      PATH: "/nonexistent",
      HOME: "/nonexistent",
      NEXT_TELEMETRY_DISABLED: "1",
    };
    // As root, files that belong to root would be writable: another user cannot write to the project.
    const identity = isRoot ? { uid: NOBODY, gid: NOBODY } : {};
    const server = spawn(process.execPath, ["src/server.ts"], { cwd: PROJECT, env, ...identity });
    const ended = once(server, "exit");
    try {
      const url = await listening(server);
      expect((await sendRequest(url, "GET", "/api/ready")).status).toBe(200);
      expect(await residentMb(server.pid)).toBeLessThanOrEqual(150);
      const page = await fetch(`${url}/sign-in`);
      expect([page.status, await page.text()]).toEqual([200, expect.stringContaining("<form")]);
      expect(await residentMb(server.pid)).toBeLessThanOrEqual(230);

      const check = spawn(process.execPath, ["script/health-check.ts"], {
        cwd: PROJECT,
        env: { ...env, PORT: new URL(url).port },
        ...identity,
      });
      expect(await once(check, "exit")).toEqual([0, null]);
    } finally {
      server.kill("SIGTERM");
    }
    expect(await ended).toEqual([0, null]);
  });
});

/** 0 where the system has no /proc. */
async function residentMb(pid: number | undefined): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
  return Math.round(Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) / 1024);
}

function listening(server: ReturnType<typeof spawn>): Promise<string> {
  const lines: string[] = [];
  return new Promise((resolves, rejects) => {
    for (const stream of [server.stdout, server.stderr]) {
      if (stream === null) continue;
      createInterface({ input: stream }).on("line", (line) => {
        lines.push(line);
        const url = /"url":"([^"]+)".*"msg":"listening"/.exec(line)?.[1];
        if (url) resolves(url);
      });
    }
    server.once("exit", () => rejects(new Error(`ended before it listened:\n${lines.join("\n")}`)));
  });
}
