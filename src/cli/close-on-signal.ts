const STOPPED_BY = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;
const SIGNALS = ["SIGHUP", "SIGINT", "SIGTERM"] as const;

/**
 * On a signal waits for `close`, then ends the process: the embedded database is a process of its own and would
 * keep running. @returns removes the handlers
 */
export function closeOnSignal(close: () => Promise<unknown>): () => void {
  const stopped = (signal: keyof typeof STOPPED_BY) =>
    void close().finally(() => process.exit(STOPPED_BY[signal]));
  // A terminal that is closed and its shell may both send SIGHUP; a second of the others ends the process at once.
  for (const signal of SIGNALS) process[signal === "SIGHUP" ? "on" : "once"](signal, stopped);
  return () => {
    for (const signal of SIGNALS) process.off(signal, stopped);
  };
}
