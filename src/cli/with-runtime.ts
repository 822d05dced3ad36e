import { type Config, readConfig } from "../config/config.ts";
import { createLog } from "../observability/log.ts";
import { type Runtime, startRuntime } from "../runtime/runtime.ts";
import type { Terminal } from "./terminal.ts";

const STOPPED_BY = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;
const SIGNALS = ["SIGHUP", "SIGINT", "SIGTERM"] as const;
/** A person is waiting, so an unreachable database is reported soon. */
const REACH_WITHIN_MS = 3_000;

/**
 * Runs a command on the server's database, whether or not the server is running, and closes it again.
 * @param options.createsDatabase for commands that may be the first to use a data folder; the others fail
 * without one
 */
export async function withRuntime<Result>(
  { env }: Pick<Terminal, "env">,
  work: (runtime: Runtime, config: Config) => Promise<Result>,
  { createsDatabase = false } = {},
): Promise<Result> {
  const config = readConfig(env);
  const starting = startRuntime(config, {
    log: createLog("silent"),
    reachWithinMs: REACH_WITHIN_MS,
    mustExist: !createsDatabase,
  });
  let closing: Promise<void> | null = null;
  const close = () => {
    closing ??= starting.then(
      (runtime) => runtime.close(),
      // It has stopped what it had started.
      () => {},
    );
    return closing;
  };
  // The embedded database is a process of its own and would keep running.
  const stopped = (signal: keyof typeof STOPPED_BY) =>
    void close().finally(() => process.exit(STOPPED_BY[signal]));
  // A terminal that is closed and its shell may both send SIGHUP.
  for (const signal of SIGNALS) process[signal === "SIGHUP" ? "on" : "once"](signal, stopped);
  try {
    const runtime = await starting;
    // Stopped while it started: `stopped` ends the process.
    if (closing !== null) return await new Promise<never>(() => {});
    return await work(runtime, config);
  } finally {
    await close();
    for (const signal of SIGNALS) process.off(signal, stopped);
  }
}
