import { type Config, readConfig } from "../config/config.ts";
import { createLog } from "../observability/log.ts";
import { type Runtime, startRuntime } from "../runtime/runtime.ts";

const STOPPED_BY = { SIGINT: 130, SIGTERM: 143 } as const;
/** A person is waiting: a database that is down is said to be down. */
const REACH_WITHIN_MS = 3_000;

/** Does some work with what the server works with, beside it or without it, and lets go of it again. */
export async function withRuntime<Result>(
  work: (runtime: Runtime, config: Config) => Promise<Result>,
): Promise<Result> {
  const config = readConfig(process.env);
  const runtime = await startRuntime(config, {
    log: createLog("silent"),
    reachWithinMs: REACH_WITHIN_MS,
  });
  let closing: Promise<void> | null = null;
  const close = () => {
    closing ??= runtime.close();
    return closing;
  };
  // The embedded database outlives us unless it is told to stop.
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
