import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, readFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { BrokenMeasurement } from "./broken.ts";

export type ServerProcess = {
  pid: number;
  port: number;
  /** From the start of the process to the first 200 of `/api/ready`. */
  readyAfterMs: number;
  /** The end of what it has printed. */
  output(): string;
  stop(): Promise<void>;
};

export type ServerProgram = {
  name: string;
  /** To be run by Node, from the root of the repository. */
  script: string;
  /** Another checkout to run it from. */
  root?: string;
  /** What stands behind the script. */
  args?: readonly string[];
  nodeOptions?: readonly string[];
  variables: Record<string, string>;
};

/** Signs the sessions of every server that is started here. */
export const AUTH_SECRET = "bench-auth-secret-0123456789abcdef0123456789";

const ROOT = new URL("../..", import.meta.url).pathname;
const READY_WITHIN_MS = 60_000;
const EXIT_WITHIN_MS = 30_000;

/** Starts a server on a free port and waits until it is ready. Its output goes to `folder`. */
export async function startServerProcess(program: ServerProgram, folder: string): Promise<ServerProcess> {
  const port = await freePort();
  const log = join(folder, `${program.name}.log`);
  const output = openSync(log, "w");
  const startedAt = performance.now();
  const child = spawn(
    process.execPath,
    [...(program.nodeOptions ?? []), program.script, ...(program.args ?? [])],
    {
      cwd: program.root ?? ROOT,
      stdio: ["ignore", output, output],
      env: {
        PATH: process.env.PATH,
        NODE_ENV: "production",
        PORT: String(port),
        LOG_LEVEL: "warn",
        APP_URL: `http://127.0.0.1:${port}`,
        AUTH_SECRET,
        ...program.variables,
      },
    },
  );
  closeSync(output);
  const killed = () => child.kill("SIGKILL");
  process.once("exit", killed);
  const exited = once(child, "exit");
  const running = () => child.exitCode === null && child.signalCode === null;
  const tail = () => readFileSync(log, "utf8").slice(-2_000).trim();
  const stop = async () => {
    child.kill("SIGTERM");
    const timer = setTimeout(() => child.kill("SIGKILL"), EXIT_WITHIN_MS);
    if (running()) await exited;
    clearTimeout(timer);
    process.off("exit", killed);
  };

  while (running() && performance.now() - startedAt < READY_WITHIN_MS) {
    if (await isReady(port)) {
      const readyAfterMs = performance.now() - startedAt;
      return { pid: child.pid as number, port, readyAfterMs, output: tail, stop };
    }
    await sleep(10);
  }
  await stop();
  throw new BrokenMeasurement(`${program.name} does not start:\n${tail()}`);
}

async function isReady(port: number): Promise<boolean> {
  try {
    const answer = await fetch(`http://127.0.0.1:${port}/api/ready`, { signal: AbortSignal.timeout(5_000) });
    await answer.arrayBuffer();
    return answer.status === 200;
  } catch {
    return false;
  }
}

/** Nobody listens on it at the moment. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
}
