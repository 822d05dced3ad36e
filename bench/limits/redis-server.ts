import { spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { createClient } from "@redis/client";
import { BrokenMeasurement } from "../shared/broken.ts";
import { freePort } from "../shared/server-process.ts";

export type RedisServer = { port: number; pid: number; version: string; stop(): Promise<void> };

const UP_WITHIN_MS = 10_000;

/** A Redis on a free port with nothing but its defaults, except that it writes no file. */
export async function startRedis(folder: string): Promise<RedisServer> {
  const port = await freePort();
  const settings = ["--port", String(port), "--bind", "127.0.0.1", "--save", "", "--dir", folder];
  const server = spawn("redis-server", settings, { stdio: "ignore" });
  const killed = () => server.kill("SIGKILL");
  process.once("exit", killed);
  const ended = once(server, "exit").catch((error) => {
    throw new BrokenMeasurement(`redis-server does not start: ${error.message}`);
  });
  const stop = async () => {
    process.off("exit", killed);
    server.kill("SIGKILL");
    await ended;
  };
  try {
    const version = await Promise.race([versionOf(port), ended.then(() => null)]);
    if (version === null) throw new BrokenMeasurement("redis-server ended at once");
    return { port, pid: server.pid as number, version, stop };
  } catch (error) {
    if (server.pid !== undefined) await stop();
    throw error;
  }
}

/** Runs what needs an answer of Redis about itself, on a connection of its own. */
export async function withRedis<T>(port: number, run: (ask: Ask) => Promise<T>): Promise<T> {
  const client = createClient({ url: `redis://127.0.0.1:${port}`, socket: { reconnectStrategy: false } });
  client.on("error", () => {});
  await client.connect();
  try {
    return await run(async (...command) => String(await client.sendCommand(command)));
  } finally {
    client.destroy();
  }
}

type Ask = (...command: string[]) => Promise<string>;

async function versionOf(port: number): Promise<string> {
  for (const deadline = performance.now() + UP_WITHIN_MS; ; ) {
    try {
      const info = await withRedis(port, (ask) => ask("INFO", "server"));
      return /redis_version:(\S+)/.exec(info)?.[1] ?? "unknown";
    } catch (error) {
      if (performance.now() > deadline) throw error;
      await sleep(25);
    }
  }
}
