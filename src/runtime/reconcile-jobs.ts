import type { Config } from "../config/config.ts";
import type { JobName } from "../domain/job.ts";
import { isAnyConfigured } from "../domain/providers/payment-api.ts";
import type { Job } from "../jobs/job-runner.ts";
import type { Log } from "../observability/log.ts";
import { incompleteSlots, reconcileNightly } from "../reconcile/reconcile-nightly.ts";
import { healFlagged, isHealDue } from "../reconcile/self-heal.ts";
import { type SweepResult, sweepMissed } from "../reconcile/sweep-missed.ts";
import type { Runtime } from "./runtime.ts";

const NIGHTLY_CHECK_MS = 15 * 60 * 1000;
/** A flagged subscription is fetched within 2 s of its delivery. */
const SELF_HEAL_MS = 500;
/** Another process takes over both within seconds, not half a minute, if theirs is killed. */
const SHORT_LEASE_SECONDS = 4;

/**
 * The jobs that correct subscriptions without an operator: nightly comparison, sweep for missed events,
 * self-healing.
 */
export function reconcileJobs(config: Config, runtime: Runtime): Job<JobName>[] {
  if (!isAnyConfigured(runtime.payments)) return [];
  return [
    ...(config.reconcile === null ? [] : [nightly(runtime), sweep(runtime, config.reconcile)]),
    ...(config.selfHeal ? [selfHeal(runtime)] : []),
  ];
}

function nightly(runtime: Runtime): Job<JobName> {
  const { log } = runtime;
  return {
    name: "nightly-comparison",
    everyMs: NIGHTLY_CHECK_MS,
    run: async (turn) => {
      const report = await reconcileNightly(runtime, turn);
      if (report === null) return "ok";
      const { slots, compared, corrected, left } = report;
      const counts = { slots, compared, corrected: corrected.length, left: left.length };
      log.info(counts, "nightly comparison of subscriptions with their providers");
      const unreached = incompleteSlots(report).map(({ slot, problem }) => ({ slot, problem }));
      if (unreached.length > 0) {
        log.warn({ unreached }, "nightly comparison incomplete: a provider could not be asked, trying again");
        return "failed";
      }
      return "ok";
    },
  };
}

function sweep(runtime: Runtime, { everySeconds }: { everySeconds: number }): Job<JobName> {
  const { log } = runtime;
  return {
    name: "missed-events-sweep",
    leaseSeconds: SHORT_LEASE_SECONDS,
    everyMs: everySeconds * 1000,
    run: async (turn) => {
      const swept = (result: SweepResult) => logSweep(log, result);
      return (await sweepMissed(runtime, { everySeconds, swept, ...turn })) ? "ok" : "failed";
    },
  };
}

function logSweep(log: Log, result: SweepResult): void {
  if ("problem" in result) {
    log.warn(result, "sweep for missed events failed: trying again");
    return;
  }
  const { slot, report, changed } = result;
  if (result.isEndpointDisabled)
    log.warn(
      { slot },
      "the provider has no enabled webhook endpoint of ours: enable or add it in its dashboard",
    );
  if (report && report.missed > 0) log.warn({ slot, report }, "missed events ingested");
  if (changed && changed.corrected + changed.adopted > 0)
    log.warn({ slot, changed }, "subscriptions that had changed unnoticed were corrected");
}

function selfHeal(runtime: Runtime): Job<JobName> {
  const { log } = runtime;
  return {
    name: "self-heal",
    leaseSeconds: SHORT_LEASE_SECONDS,
    everyMs: SELF_HEAL_MS,
    isDue: () => isHealDue(runtime),
    run: async (turn) => {
      const report = await healFlagged(runtime, turn);
      if (report.corrected + report.settled > 0)
        log.info(report, "flagged or requested subscriptions were compared");
    },
  };
}
