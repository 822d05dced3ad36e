import { type Config, readConfig } from "../config/config.ts";
import { createLog } from "../observability/log.ts";
import { type Runtime, startRuntime } from "../runtime/runtime.ts";
import type { Terminal } from "./terminal.ts";

const STOPPED_BY = { SIGINT: 130, SIGTERM: 143 } as const;
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
  const runtime = await startRuntime(config, {
    log: createLog("silent"),
    reachWithinMs: REACH_WITHIN_MS,
    mustExist: !createsDatabase,
  });
  let closing: Promise<void> | null = null;
  const close = () => {
    closing ??= runtime.close();
    return closing;
  };
  // The embedded database is a process of its own and would keep running.
  const stopped = (signal: keyof typeof STOPPED_BY) =>
    void close().finally(() => process.exit(STOPPED_BY[signal]));
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, stopped);
  try {
    return await work(runtime, config);
  } finally {
    await close();
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.off(signal, stopped);
  }
}
