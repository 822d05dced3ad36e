import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { expect } from "vitest";
import { cleanedUp } from "./cleanup.ts";
import { PROCESS_VARIABLES, serverVariables } from "./variables.ts";

export type ServerProcess = {
  url: string;
  child: ChildProcess;
  /** What it has written to its log so far, a line an entry. */
  lines: string[];
  /** Sends the signal and waits for the end; resolves with exit code and signal. */
  end(signal: NodeJS.Signals): Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
};

const ENTRY = new URL("./server-entry.ts", import.meta.url).pathname;
const READY_WITHIN_MS = 90_000;

/**
 * The server as a process of its own, to be killed and stopped.
 * @param variables `CRASH_AT`, e.g. `committed:3`, makes it kill itself when it gets there for the third
 * time.
 * @param entry the program; the one here unless given
 */
export async function spawnServer(
  databaseUrl: string | null,
  variables: Record<string, string> = {},
  entry = ENTRY,
): Promise<ServerProcess> {
  const defaults = databaseUrl === null ? { PORT: "0", SIMULATOR: "off" } : serverVariables(databaseUrl);
  const child = spawn(process.execPath, [entry], {
    env: {
      ...PROCESS_VARIABLES,
      ...defaults,
      TEST_PID: String(process.pid),
      LOG_LEVEL: "info",
      ...variables,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const lines: string[] = [];
  const ended = once(child, "exit").then(([code, signal]) => ({ code, signal }));
  const kill = cleanedUp(async () => child.kill("SIGKILL"));
  void ended.then(kill);
  const url = new Promise<string>((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr]) {
      createInterface({ input: stream }).on("line", (line) => {
        lines.push(line);
        const listening = /"url":"([^"]+)".*"msg":"listening"/.exec(line);
        if (listening?.[1]) resolve(listening[1]);
      });
    }
    void ended.then(({ signal }) => {
      const message = `the server ended before it listened:\n${lines.join("\n")}`;
      reject(new Error(message, { cause: signal }));
    });
    setTimeout(() => reject(new Error("the server does not listen")), READY_WITHIN_MS).unref();
  });
  return {
    url: await url,
    child,
    lines,
    ended,
    end: (signal) => {
      child.kill(signal);
      return ended;
    },
  };
}

/**
 * Runs a server until it kills itself where `CRASH_AT` says. Its jobs begin at once: it may get there before
 * it listens.
 * @param sendOnce called again and again until then
 */
export async function runUntilCrash(
  databaseUrl: string,
  variables: Record<string, string>,
  sendOnce: (server: ServerProcess) => Promise<unknown>,
): Promise<void> {
  try {
    const server = await spawnServer(databaseUrl, variables);
    while (server.child.exitCode === null && server.child.signalCode === null) await sendOnce(server);
    expect((await server.ended).signal).toBe("SIGKILL");
  } catch (error) {
    if (!(error instanceof Error && error.cause === "SIGKILL")) throw error;
  }
}
