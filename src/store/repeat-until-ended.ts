const WATCH_EVERY_MS = 2_000;

/** Calls `ensure`, which restarts the database if it crashed or was stopped; until then we answer 503. */
export function keepRunning(ensure: () => Promise<unknown>): { end(): Promise<void> } {
  let ensuring: Promise<unknown> | null = null;
  const timer = setInterval(() => {
    // A failed check is repeated in a moment.
    ensuring ??= ensure()
      .catch(() => {})
      .finally(() => {
        ensuring = null;
      });
  }, WATCH_EVERY_MS).unref();
  return {
    end: async () => {
      clearInterval(timer);
      await ensuring;
    },
  };
}
