import { type ChildProcess, spawn } from "node:child_process";
import { createClient } from "@redis/client";
import { cleanedUp } from "./cleanup.ts";
import { eventually } from "./eventually.ts";
import { freePort } from "./free-port.ts";
import { findProgram } from "./installed-programs.ts";
import { temporaryFolder } from "./temporary-folder.ts";

/** For `describeWith`. */
export const REDIS = { "redis-server": findProgram("redis-server") };

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
  /** Restarts on the same port, with no data left. */
  restart(): Promise<void>;
  remove(): Promise<void>;
};

/**
 * A Redis of one test's own, on a free port, that keeps nothing on disk. `cluster`: a cluster of this one
 * node, or with `slots` (`[first, last]`) one node of a larger cluster, which serves its slots without the
 * others.
 */
export async function startRedis(
  program: string,
  { cluster = false, slots = [0, 16_383] as readonly [number, number] } = {},
): Promise<TestRedis> {
  const folder = await temporaryFolder();
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
    await eventually(() => ask("PING").catch(() => null), "PONG");
    if (!cluster) return;
    await ask("CLUSTER", "ADDSLOTSRANGE", String(slots[0]), String(slots[1])).catch(() => {});
    await eventually(async () => String(await ask("CLUSTER", "INFO")).includes("cluster_state:ok"), true);
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
    remove: cleanedUp(kill),
  };
}
