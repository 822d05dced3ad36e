import { readConfig } from "../config/config.ts";
import { createLog } from "../observability/log.ts";
import { type Runtime, startRuntime } from "../runtime/runtime.ts";
import { startFailure } from "../runtime/start-failure.ts";
import { closeOnSignal } from "./close-on-signal.ts";
import type { Terminal } from "./terminal.ts";

/** A person is waiting, so an unreachable database is reported soon. */
const REACH_WITHIN_MS = 3_000;
/** A verification or an import of everything must not end because the server uses the same limit meanwhile. */
const MAX_LIMIT_WAIT_MS = 10 * 60 * 1000;

/**
 * Runs a command on the server's database, whether or not the server is running, and closes it again.
 * @param options.createsDatabase for commands that may be the first to use a data folder; the others fail
 * without one
 */
export async function withRuntime<Result>(
  { env }: Pick<Terminal, "env">,
  work: (runtime: Runtime) => Promise<Result>,
  { createsDatabase = false } = {},
): Promise<Result> {
  const config = readConfig(env);
  const starting = startRuntime(config, {
    log: createLog("silent"),
    reachWithinMs: REACH_WITHIN_MS,
    maxLimitWaitMs: MAX_LIMIT_WAIT_MS,
    mustExist: !createsDatabase,
  }).catch((cause: Error) => {
    const variable = config.databaseUrl === null ? "DATA_DIR" : "DATABASE_URL";
    throw new Error(startFailure(cause, variable), { cause });
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
  const removeHandlers = closeOnSignal(close, async () => (await starting).stopDatabase());
  try {
    const runtime = await starting;
    // Stopped while it started: the signal ends the process.
    if (closing !== null) return await new Promise<never>(() => {});
    return await work(runtime);
  } finally {
    await close();
    removeHandlers();
  }
}
