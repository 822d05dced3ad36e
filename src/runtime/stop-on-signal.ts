import type { Log } from "../observability/log.ts";

/** Requests get 10 s, see `drain-server.ts`; a task that hangs must not keep the process alive for ever. */
export const STOP_WITHIN_MS = 30_000;

/** `timeout`, npm and shells signal the process and its group as well: these are one request to stop. */
const SAME_REQUEST_MS = 1_000;

/**
 * On SIGTERM, SIGINT or SIGHUP stops the server and exits with 0; a second SIGTERM or SIGINT ends the process
 * at once, with 1.
 */
export function stopOnSignal(stop: () => Promise<void>, log: Log): void {
  let stoppingSinceMs: number | null = null;
  const onSignal = async (signal: NodeJS.Signals) => {
    if (stoppingSinceMs !== null) {
      // A terminal that is closed sends SIGHUP, and its shell may send it again.
      if (signal === "SIGHUP" || performance.now() - stoppingSinceMs < SAME_REQUEST_MS) return;
      log.warn({ signal }, "told to stop a second time: ending at once");
      process.exit(1);
    }
    stoppingSinceMs = performance.now();
    log.info({ signal }, "stopping");
    setTimeout(() => {
      log.error({ seconds: STOP_WITHIN_MS / 1000 }, "could not stop in time: ending");
      process.exit(1);
    }, STOP_WITHIN_MS).unref();
    try {
      await stop();
      process.exit(0);
    } catch (error) {
      log.error({ err: error }, "could not stop in order");
      process.exit(1);
    }
  };
  process.on("SIGTERM", onSignal);
  process.on("SIGINT", onSignal);
  process.on("SIGHUP", onSignal);
}
