import type { Auth } from "../auth/auth.ts";
import type { Config } from "../config/config.ts";
import { providerTraits } from "../config/payments.ts";
import { isJobName, type JobName, type JobOutcome } from "../domain/job.ts";
import { startRetryJob } from "../intake/claims/retry-job.ts";
import { isBusy } from "../intake/queue/overload.ts";
import { createJobRunner, JOB_LEASE_SECONDS, type Job } from "../jobs/job-runner.ts";
import type { Log } from "../observability/log.ts";
import type { Metrics } from "../observability/metrics.ts";
import { type OutboundOptions, startOutbound } from "../outbound/outbound.ts";
import { createRelayThread } from "../outbound/relay-thread.ts";
import { withLease } from "../store/hold-lease.ts";
import type { UnreadableSet } from "../store/outbound/written-events.ts";
import { accountJobs } from "./account-jobs.ts";
import { reconcileJobs } from "./reconcile-jobs.ts";
import { retentionJob } from "./retention-job.ts";
import type { Runtime } from "./runtime.ts";

export type PeriodicJobs = {
  /** Runs a job now, or waits for the run under way here. Undefined: no job has this name. */
  run(name: string): Promise<JobOutcome> | undefined;
  /** Finishes running jobs. */
  stop(): Promise<void>;
};

export type PeriodicJobsOptions = {
  auth: Auth;
  metrics: Metrics | null;
  log: Log;
  /** `request`: jobs run by `run` alone, for hosts that stop a process between two requests. */
  runsOn: "timer" | "request";
  outbound: Pick<OutboundOptions, "hooks" | "reached">;
};

export function startPeriodicJobs(
  config: Config,
  runtime: Runtime,
  { auth, metrics, log, runsOn, outbound }: PeriodicJobsOptions,
): PeriodicJobs {
  const { database } = runtime;
  const observe = metrics?.jobRan ?? null;
  const runner = createJobRunner({
    withLease: (name, options, work) => withLease(database, name, options, work),
    log,
    observe,
    tracing: runtime.tracing,
    runsOn,
  });
  const jobs: Job<JobName>[] = [
    ...reconcileJobs(config, runtime),
    ...accountJobs(config, runtime, auth),
    retentionJob(config, runtime),
  ];
  for (const job of jobs) runner.start(job);
  const retries = startRetryJob(runtime.intake, { observe, runsOn });
  const relaying = {
    ...outbound,
    plans: config.plans,
    traits: providerTraits(config),
    onUnreadable: (sets: readonly UnreadableSet[]) =>
      log.error(
        { sets },
        "outbound changes could not be read and were set aside: see outbound_unreadable_set",
      ),
  };
  const sending = startOutbound({
    ...relaying,
    database,
    relayThread:
      runsOn === "timer" ? createRelayThread({ ...relaying, connecting: runtime.connecting }) : null,
    allow: runtime.outboundAllow,
    isIntakeBusy: () => isBusy(runtime.intake),
    ...(metrics ? { observe: metrics.sent } : {}),
    gaveUp: (delivery) => {
      metrics?.gaveUp();
      log.error(
        delivery,
        "an outbound event was given up: not confirmed within five days, or no longer readable",
      );
    },
    tracing: runtime.tracing,
    runsOn,
    log,
    now: Date.now,
  });
  /**
   * On a timer every process takes part in these two, each claiming its own rows; a requested run is one at a
   * time.
   */
  const runAlone = async (name: JobName, run: () => Promise<JobOutcome>): Promise<JobOutcome> =>
    (await withLease(database, `job:${name}`, { seconds: JOB_LEASE_SECONDS }, run)) ?? "already_running";
  return {
    run: (name) => {
      if (!isJobName(name)) return undefined;
      if (name === "webhook-retry") return runAlone(name, retries.runNow);
      if (name === "outbound-events") return runAlone(name, sending.runNow);
      return runner.runNow(name) ?? Promise.resolve("disabled");
    },
    stop: async () => {
      await Promise.all([runner.stop(), retries.stop(), sending.stop()]);
    },
  };
}
