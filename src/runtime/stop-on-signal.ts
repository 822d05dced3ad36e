import type { Log } from "../observability/log.ts";

/** Requests get 10 s, see `drain-server.ts`; a task that hangs must not keep the process alive for ever. */
export const STOP_WITHIN_MS = 30_000;

/** `timeout`, npm and shells signal the process and its group as well: these are one request to stop. */
export const SAME_REQUEST_MS = 1_000;

/** For `endNow`. */
const END_WITHIN_MS = 5_000;

type StopOptions = { stop(): Promise<void>; endNow(): Promise<void>; ignoresHangup?: boolean };

/**
 * On SIGTERM, SIGINT or SIGHUP stops the server and exits with 0; on a second SIGTERM or SIGINT, or when that
 * takes too long, exits with 1 without finishing anything. A third one ends the process at once.
 * @param options.endNow stops what would outlive this process
 * @param options.ignoresHangup does nothing on SIGHUP
 */
export function stopOnSignal(options: StopOptions, log: Log): void {
  const { stop, endNow, ignoresHangup = false } = options;
  let lastRequestMs: number | null = null;
  let isEnding = false;
  const end = async () => {
    if (isEnding) return process.exit(1);
    isEnding = true;
    setTimeout(() => process.exit(1), END_WITHIN_MS).unref();
    await endNow().catch((err: unknown) => log.error({ err }, "could not stop the database"));
    process.exit(1);
  };
  const onSignal = async (signal: NodeJS.Signals) => {
    if (lastRequestMs !== null) {
      // A terminal that is closed sends SIGHUP, and its shell may send it again.
      if (signal === "SIGHUP" || performance.now() - lastRequestMs < SAME_REQUEST_MS) return;
      lastRequestMs = performance.now();
      log.warn({ signal }, "told to stop again: requests are no longer waited for");
      return end();
    }
    lastRequestMs = performance.now();
    log.info({ signal }, "stopping");
    setTimeout(() => {
      // A second signal has begun it: another call would not wait.
      if (isEnding) return;
      log.error({ seconds: STOP_WITHIN_MS / 1000 }, "could not stop in time: ending");
      void end();
    }, STOP_WITHIN_MS).unref();
    try {
      await stop();
      if (!isEnding) process.exit(0);
    } catch (error) {
      // What it waited for has been ended.
      if (isEnding) return;
      log.error({ err: error }, "could not stop in order");
      process.exit(1);
    }
  };
  process.on("SIGTERM", onSignal);
  process.on("SIGINT", onSignal);
  process.on("SIGHUP", ignoresHangup ? () => {} : onSignal);
}
