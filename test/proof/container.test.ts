import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chown, cp, mkdir, readFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { isFullProof, report } from "./proof.ts";

const PROJECT = resolve(import.meta.dirname, "../..");
const NOBODY = 65_534;
const PORT = "3999";

/**
 * The steps of the Containerfile where no container engine is at hand, then its command in a network of its
 * own. It installs packages and needs root: the suite checks the file alone.
 */
describe.runIf(isFullProof)("the image", () => {
  let folder: string;
  beforeAll(async () => {
    folder = await temporaryFolder();
    await copyContext(folder);
    for (const step of await buildSteps()) {
      // Without the project's own Node on the path: the image has nothing but what it installs.
      execFileSync("bash", ["-c", step], { cwd: folder, env: { PATH: systemPath() }, stdio: "pipe" });
    }
  }, 900_000);

  it("starts offline as a user who can write to its data folder only, and stays small at rest", {
    timeout: 300_000,
  }, async () => {
    const dataDir = join(folder, "data");
    await mkdir(dataDir);
    await chown(dataDir, NOBODY, NOBODY);
    const node = join(folder, "node_modules/node/bin/node");
    const server = spawn(
      "unshare",
      [
        "--net",
        "bash",
        "-c",
        `ip link set lo up; exec setpriv --reuid ${NOBODY} --regid ${NOBODY} --clear-groups ${node} src/server.ts`,
      ],
      {
        cwd: folder,
        env: {
          NODE_ENV: "production",
          EMBEDDED_IN_PRODUCTION: "on",
          DATA_DIR: dataDir,
          HOME: "/nonexistent",
          APP_URL: "https://billing.example.com",
          PORT,
          PATH: "/usr/sbin:/usr/bin:/sbin:/bin",
        },
      },
    );
    const ended = once(server, "exit");
    const inside = (script: string) =>
      execFileSync("nsenter", ["--target", String(server.pid), "--net", node, "-e", script], {
        cwd: folder,
        env: { PORT },
        encoding: "utf8",
      });
    const isReady = async () => {
      try {
        execFileSync("nsenter", ["--target", String(server.pid), "--net", node, "script/health-check.ts"], {
          cwd: folder,
          env: { PORT },
          stdio: "pipe",
        });
        return true;
      } catch {
        return false;
      }
    };
    await eventually(isReady, true, 120_000);
    const atRestMb = await residentMb(server.pid as number);
    const status = inside(
      `fetch("http://127.0.0.1:${PORT}/sign-in").then(r => process.stdout.write(String(r.status)))`,
    );
    expect(status).toBe("200");
    const withPagesMb = await residentMb(server.pid as number);
    server.kill("SIGTERM");
    expect(await ended).toEqual([0, null]);
    expect(atRestMb).toBeLessThanOrEqual(150);
    expect(withPagesMb).toBeLessThanOrEqual(230);
    const size = execFileSync("du", ["-sm", folder], { encoding: "utf8" }).split("\t")[0] as string;
    await report("container", { "MB at rest": atRestMb, "MB with pages": withPagesMb, "MB on disk": size });
  });
});

/** What `COPY . .` takes: the tracked files that .dockerignore does not name. */
async function copyContext(folder: string): Promise<void> {
  const ignored = (await readFile(join(PROJECT, ".dockerignore"), "utf8")).trim().split("\n");
  const files = execFileSync("git", ["ls-files"], { cwd: PROJECT, encoding: "utf8" }).trim().split("\n");
  for (const file of files) {
    if (ignored.includes(file.split("/")[0] as string)) continue;
    await mkdir(dirname(join(folder, file)), { recursive: true });
    await cp(join(PROJECT, file), join(folder, file));
  }
}

/** The `RUN` lines of the build stage. */
async function buildSteps(): Promise<string[]> {
  const [, build = ""] = (await readFile(join(PROJECT, "Containerfile"), "utf8")).split(/^FROM /m);
  return [...build.matchAll(/^RUN (.+)$/gm)].map(([, step]) => step as string);
}

function systemPath(): string {
  return (process.env.PATH ?? "")
    .split(":")
    .filter((path) => !path.includes("node_modules"))
    .join(":");
}

async function residentMb(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  return Math.round(Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024);
}
