/** A timer for longer fires at once. */
export const MAX_TIMER_MS = 2 ** 31 - 1;

/** Waits, at most until the signal aborts. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const wake = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", wake);
      resolve();
    };
    const timer = setTimeout(wake, Math.min(ms, MAX_TIMER_MS));
    signal?.addEventListener("abort", wake);
  });
}
