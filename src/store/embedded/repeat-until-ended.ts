/**
 * Runs a task at this interval, in milliseconds, one run at a time. A run that fails is simply followed by the
 * next. `end` waits for the run that is under way.
 */
export function repeatUntilEnded(everyMs: number, task: () => Promise<unknown>): { end(): Promise<void> } {
  let running: Promise<unknown> | null = null;
  const timer = setInterval(() => {
    running ??= task()
      .catch(() => {})
      .finally(() => {
        running = null;
      });
  }, everyMs).unref();
  return {
    end: async () => {
      clearInterval(timer);
      await running;
    },
  };
}
