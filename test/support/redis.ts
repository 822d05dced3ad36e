import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createClient } from "redis";
import { cleanedUp } from "./cleanup.ts";
import { freePort } from "./free-port.ts";

/** Where the system's Redis is; `null` when there is none. */
export function findRedisServer(): string | null {
  const folders = ["/usr/bin", "/usr/local/bin", "/opt/homebrew/bin", "/usr/local/opt/redis/bin"];
  return folders.map((folder) => join(folder, "redis-server")).find((path) => existsSync(path)) ?? null;
}

export const REDIS_NEEDED = "needs Redis: apt-get install redis-server (or: brew install redis)";

export type TestRedis = {
  url: string;
  busPort: number;
  /** The answer to any command, as redis-cli would print it. */
  ask(...command: string[]): Promise<unknown>;
  /** How many times a command has been called since the start. */
  calls(command: string): Promise<number>;
  signal(signal: "SIGSTOP" | "SIGCONT"): void;
  /** As a crash would. */
  kill(): Promise<void>;
  /** On the same port, with nothing left of what it knew. */
  restart(): Promise<void>;
  remove(): Promise<void>;
};

/**
 * A Redis of one test's own, on a free port, that keeps nothing on disk. `cluster`: a cluster of this one node, or with
 * `slots` (`[first, last]`) one node of a larger cluster, which serves its slots without the others.
 */
export async function startRedis(
  program: string,
  { cluster = false, slots = [0, 16_383] as readonly [number, number] } = {},
): Promise<TestRedis> {
  const folder = await mkdtemp(join(tmpdir(), "tollgate-redis-"));
  const port = await freePort();
  const url = `redis://127.0.0.1:${port}`;
  const busPort = await freePort();
  const settings = ["--port", String(port), "--bind", "127.0.0.1", "--save", "", "--dir", folder];
  if (cluster) {
    settings.push("--cluster-enabled", "yes", "--cluster-port", String(busPort));
    settings.push("--cluster-require-full-coverage", "no", "--cluster-node-timeout", "2000");
  }
  let server: ChildProcess;

  const ask: TestRedis["ask"] = async (...command) => {
    const client = await createClient({ url, socket: { reconnectStrategy: false } })
      .on("error", () => {})
      .connect();
    try {
      return await client.sendCommand(command);
    } finally {
      client.destroy();
    }
  };
  const start = async () => {
    server = spawn(program, settings, { stdio: "ignore" });
    await until(async () => (await ask("PING")) === "PONG");
    if (!cluster) return;
    await ask("CLUSTER", "ADDSLOTSRANGE", String(slots[0]), String(slots[1])).catch(() => {});
    await until(async () => String(await ask("CLUSTER", "INFO")).includes("cluster_state:ok"));
  };
  const kill = async () => {
    if (server.exitCode !== null || server.signalCode !== null) return;
    const ended = new Promise((resolve) => server.once("exit", resolve));
    server.kill("SIGKILL");
    await ended;
  };
  await start();
  return {
    url,
    busPort,
    ask,
    calls: async (command) => {
      const line = new RegExp(`cmdstat_${command}:calls=(\\d+)`).exec(
        String(await ask("INFO", "commandstats")),
      );
      return Number(line?.[1] ?? 0);
    },
    signal: (signal) => server.kill(signal),
    kill,
    restart: async () => {
      await kill();
      await start();
    },
    remove: cleanedUp(async () => {
      await kill();
      await rm(folder, { recursive: true, force: true });
    }),
  };
}

async function until(look: () => Promise<boolean>): Promise<void> {
  const giveUpAt = performance.now() + 60_000;
  while (performance.now() < giveUpAt) {
    if (await look().catch(() => false)) return;
    await sleep(25);
  }
  throw new Error("Redis did not come up within a minute");
}
