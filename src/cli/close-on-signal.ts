import { SAME_REQUEST_MS } from "../runtime/stop-on-signal.ts";

const STOPPED_BY = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;
const SIGNALS = ["SIGHUP", "SIGINT", "SIGTERM"] as const;

/**
 * On a signal waits for `close`, then ends the process: the embedded database is a process of its own and would
 * keep running. A second signal, a second or more later, waits only for `endNow`; a third waits for nothing.
 * @returns removes the handlers
 */
export function closeOnSignal(close: () => Promise<unknown>, endNow = close): () => void {
  let requests = 0;
  let lastAtMs = Number.NEGATIVE_INFINITY;
  const stopped = (signal: keyof typeof STOPPED_BY) => {
    // A terminal that is closed and its shell may both send SIGHUP; npm passes on what the terminal sends us.
    const isRepeat = performance.now() - lastAtMs < SAME_REQUEST_MS || (requests > 0 && signal === "SIGHUP");
    if (isRepeat) return;
    lastAtMs = performance.now();
    requests += 1;
    const exit = () => process.exit(STOPPED_BY[signal]);
    if (requests > 2) exit();
    else void (requests === 1 ? close : endNow)().finally(exit);
  };
  for (const signal of SIGNALS) process.on(signal, stopped);
  return () => {
    for (const signal of SIGNALS) process.off(signal, stopped);
  };
}
