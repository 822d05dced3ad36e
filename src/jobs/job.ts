export type Job = {
  /** Resolves when what runs has come to its end. */
  stop(): Promise<void>;
};

/**
 * Does some work again and again until it is stopped: each time so long after the last has ended.
 * @param work is told whether to come to its end; what it throws is for `failed` to tell
 */
export function startJob(
  everyMs: number,
  work: (isStopping: () => boolean) => Promise<unknown>,
  failed: (error: unknown) => void,
): Job {
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;
  let running: Promise<void> = Promise.resolve();

  const run = async () => {
    await work(() => isStopped).catch(failed);
    if (!isStopped) schedule();
  };
  const schedule = () => {
    timer = setTimeout(() => {
      running = run();
    }, everyMs);
  };

  schedule();
  return {
    stop: async () => {
      isStopped = true;
      clearTimeout(timer);
      await running;
    },
  };
}
