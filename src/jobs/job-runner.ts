export type Job = {
  /** As the log and the metrics name it. */
  name: string;
  /** A fixed delay between the end of one run and the start of the next. */
  everyMs: number;
  /** @param isStopping whether to come to an end, where a run takes long */
  run(isStopping: () => boolean): Promise<unknown>;
};

export type JobRunner = {
  start(job: Job): void;
  /** Resolves when all runs have ended. */
  stop(): Promise<void>;
};

export type JobRunnerOptions = {
  log: { warn(fields: object, message: string): void };
  /** Counts runs; `null`: nobody does. */
  observe: ((job: string, outcome: "ok" | "failed") => void) | null;
};

/**
 * Runs periodic jobs in this process until it stops. What is due is kept in the job's own tables: a run that fails is
 * logged and tried again by the next one, here or in another process.
 */
export function createJobRunner({ log, observe }: JobRunnerOptions): JobRunner {
  const timers = new Map<string, NodeJS.Timeout>();
  const running = new Map<string, Promise<void>>();
  let isStopped = false;

  const runOnce = async ({ name, everyMs, run }: Job) => {
    try {
      await run(() => isStopped);
      observe?.(name, "ok");
    } catch (err) {
      observe?.(name, "failed");
      log.warn({ err, job: name, againInSeconds: everyMs / 1000 }, "job failed");
    }
  };
  const schedule = (job: Job) => {
    if (isStopped) return;
    const timer = setTimeout(() => {
      running.set(
        job.name,
        runOnce(job).then(() => schedule(job)),
      );
    }, job.everyMs);
    timers.set(job.name, timer);
  };
  return {
    start: schedule,
    stop: async () => {
      isStopped = true;
      for (const timer of timers.values()) clearTimeout(timer);
      await Promise.all(running.values());
    },
  };
}
