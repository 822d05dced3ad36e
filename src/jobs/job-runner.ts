import { endWhenStalled } from "../domain/end-when-stalled.ts";
import { type Tracing, traced } from "../domain/tracing.ts";
import type { Lease } from "../store/leases.ts";

export type Job<Name extends string = string> = {
  /** As the log, the metrics and the lease name it. */
  name: Name;
  /** A fixed delay between the end of one run and the start of the next. */
  everyMs: number;
  /** How soon another process takes over after a crash; by default `JOB_LEASE_SECONDS`. */
  leaseSeconds?: number;
  /** For a job that runs often: asked without a lease. */
  isDue?(): Promise<boolean>;
  /**
   * Throws, or resolves to `"failed"` if it has logged why it could not do its work. One that does not ask
   * `isStopping` for ten minutes is given up.
   */
  run(turn: Turn): Promise<unknown>;
};

export type Turn = {
  /** Whether to come to an end, where a run takes long: the process stops, or has lost the lease. */
  isStopping: () => boolean;
  /** Fences the writes of a run that was stopped for so long that another process has taken over. */
  lease: Lease;
};

/**
 * After a crash, another process takes over a job once its lease has expired; it is renewed while the job
 * runs.
 */
export const JOB_LEASE_SECONDS = 30;

/** Of a job that fails each time: one that runs twice a second would fill the disk while the database is away. */
const LOG_EVERY_MS = 30_000;

/** Runs `work` while this process holds the lease; `null`: another process does. */
export type WithLease = <Result>(
  name: string,
  options: { seconds: number },
  work: (lease: Lease & { isLost(): boolean }) => Promise<Result>,
) => Promise<Result | null>;

export type JobRunner = {
  start(job: Job): void;
  /** Runs a started job now, or waits for the run under way here. Undefined: no job has this name. */
  runNow(name: string): Promise<RunOutcome> | undefined;
  /** Resolves when all runs have ended. */
  stop(): Promise<void>;
};

export type JobRunnerOptions = {
  withLease: WithLease;
  log: { warn(fields: object, message: string): void };
  /** Counts runs; `null`: nobody does. */
  observe: ((job: string, outcome: "ok" | "failed") => void) | null;
  tracing?: Tracing | null;
  /** `request`: jobs run by `runNow` alone, for hosts that stop a process between two requests. */
  runsOn?: "timer" | "request";
};

/** `already_running`: in another process. */
type RunOutcome = "ok" | "already_running" | "failed";

/**
 * Runs periodic jobs until this process stops, each in one process at a time. What is due is kept in the
 * job's own tables: a run that fails is logged and tried again by the next one, here or in another process.
 */
export function createJobRunner({
  withLease,
  log,
  observe,
  tracing,
  runsOn = "timer",
}: JobRunnerOptions): JobRunner {
  const jobs = new Map<string, Job>();
  const timers = new Map<string, NodeJS.Timeout>();
  const running = new Map<string, Promise<RunOutcome>>();
  /** When the failure of a job was last logged, since its last success. */
  const loggedAtMs = new Map<string, number>();
  let isStopped = false;

  const runOnce = async (job: Job): Promise<RunOutcome> => {
    const { name, everyMs } = job;
    try {
      // A lease that is not acquired or released for so long holds up nobody either.
      const outcome = await endWhenStalled(
        () => isStopped,
        (isStopping) => runIfDue(job, isStopping),
      );
      observe?.(name, outcome === "failed" ? "failed" : "ok");
      loggedAtMs.delete(name);
      return outcome;
    } catch (err) {
      observe?.(name, "failed");
      if (isWorthLogging(name)) log.warn({ err, job: name, againInSeconds: everyMs / 1000 }, "job failed");
      return "failed";
    }
  };
  const isWorthLogging = (name: string): boolean => {
    const now = performance.now();
    if (now < (loggedAtMs.get(name) ?? Number.NEGATIVE_INFINITY) + LOG_EVERY_MS) return false;
    loggedAtMs.set(name, now);
    return true;
  };
  const runIfDue = async (
    { name, leaseSeconds, isDue, run }: Job,
    isStopping: () => boolean,
  ): Promise<RunOutcome> => {
    if (isDue !== undefined && !(await isDue())) return "ok";
    const seconds = leaseSeconds ?? JOB_LEASE_SECONDS;
    const outcome = await withLease(`job:${name}`, { seconds }, async (lease) => {
      const span = { kind: "internal", parent: "none" } as const;
      const result = await traced(tracing, `job ${name}`, span, () =>
        // Ends within the lease too, so that this is released.
        endWhenStalled(
          () => isStopping() || lease.isLost(),
          async (isStopping) => run({ lease, isStopping }),
        ),
      );
      return result === "failed" ? "failed" : "ok";
    });
    return outcome ?? "already_running";
  };
  const runAndSchedule = (job: Job): Promise<RunOutcome> => {
    clearTimeout(timers.get(job.name));
    const run = runOnce(job).then((outcome) => {
      running.delete(job.name);
      schedule(job);
      return outcome;
    });
    running.set(job.name, run);
    return run;
  };
  const schedule = (job: Job) => {
    if (isStopped || runsOn === "request") return;
    timers.set(
      job.name,
      setTimeout(() => void runAndSchedule(job), job.everyMs),
    );
  };
  return {
    start: (job) => {
      jobs.set(job.name, job);
      schedule(job);
    },
    runNow: (name) => {
      const job = jobs.get(name);
      if (job === undefined || isStopped) return undefined;
      return running.get(name) ?? runAndSchedule(job);
    },
    stop: async () => {
      isStopped = true;
      for (const timer of timers.values()) clearTimeout(timer);
      await Promise.all(running.values());
    },
  };
}
