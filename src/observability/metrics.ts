import { setTimeout as sleep } from "node:timers/promises";
import { Counter, collectDefaultMetrics, Gauge, Registry } from "@prometheus-io/client";
import { JOB_NAMES } from "../domain/job.ts";
import { SLOTS } from "../domain/slot.ts";

/** What an operator's Prometheus reads at `/api/metrics`. */
export type Metrics = ReturnType<typeof createMetrics>;

/** Subscriptions of a slot that need review, and how many of them the provider does not know. */
type FlaggedCount = { provider: string; flagged: number; settled: number };

type OutboundState = {
  failing: number;
  disabled: number;
  backlogSeconds: number;
  unreadableChanges: number;
  unreadableEvents: number;
};

/** Values that are queried at each scrape; while a query fails or is slow, the last ones stay. */
type Sources = {
  countFlagged(): Promise<readonly FlaggedCount[]>;
  outboundState(): Promise<OutboundState>;
  /** Makes a decision: without one, the limiter does not notice that its store is away or back. */
  askLimiter(): unknown;
  /** Scopes of which requests are refused while the shared store is away; none where no shared store is configured. */
  refusedWithoutStore: readonly string[];
};

/**
 * Default metrics that `promtool check metrics` reports: only a counter may end with `_total`, and no name
 * may contain its type. The former have a twin without the suffix; `nodejs_eventloop_lag_*` shows what the
 * latter do.
 */
const MISNAMED = [
  ...["nodejs_active_handles_total", "nodejs_active_requests_total", "nodejs_active_resources_total"],
  ...["nodejs_eventloop_utilization_histogram", "nodejs_eventloop_utilization_summary"],
];

/** Of deliveries, those that somebody has to look at. */
const FAILURES = ["failed", "deferred", "refused", "invalid", "unavailable"];

export function createMetrics({ countFlagged, outboundState, askLimiter, refusedWithoutStore }: Sources) {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  for (const name of MISNAMED) registry.removeSingleMetric(name);
  const deliveries = new Counter({
    name: "tollgate_webhook_deliveries_total",
    help: "Webhook deliveries by slot and outcome",
    labelNames: ["slot", "outcome"] as const,
    registers: [registry],
  });
  const operations = new Counter({
    name: "tollgate_operations_total",
    help: "Calls of operations by name and outcome: ok, a refusal's code, or defect",
    labelNames: ["operation", "outcome"] as const,
    registers: [registry],
  });
  const restRequests = new Counter({
    name: "tollgate_rest_requests_total",
    help: "Requests to REST routes by API version and by what chose it: path, header or default; by path or header, those to all other routes too",
    labelNames: ["version", "chosen_by"] as const,
    registers: [registry],
  });
  const jobs = new Counter({
    name: "tollgate_job_runs_total",
    help: "Passes of periodic jobs by name and outcome: ok (also with nothing due, or left to another process) or failed",
    labelNames: ["job", "outcome"] as const,
    registers: [registry],
  });
  const storeUp = new Gauge({
    name: "tollgate_limiter_store_up",
    help: "1 while the shared store of the limiter answers; 0 after five decisions in a row without an answer, until it answers one again",
    registers: [registry],
  });
  const withoutStore = new Counter({
    name: "tollgate_limiter_without_store_total",
    help: "Decisions that the shared store did not make: remembered refusals, local fallback, refused as unavailable",
    labelNames: ["scope", "how"] as const,
    registers: [registry],
  });
  const memoryFull = new Counter({
    name: "tollgate_limiter_memory_full_total",
    help: "Keys that were forgotten or refused because as many as allowed are being counted",
    labelNames: ["outcome"] as const,
    registers: [registry],
  });
  const flagged = new Gauge({
    name: "tollgate_subscriptions_needing_review",
    help: "Subscriptions that wait for a comparison with their provider, by slot; unknown: the provider does not know them",
    labelNames: ["slot", "state"] as const,
    registers: [registry],
  });
  const databaseGauges = new Gauge({
    name: "tollgate_database_gauges_current",
    help: "1 if the gauges read from the database are current; 0: they hold the values of an earlier scrape, or none yet",
    registers: [registry],
  });
  // Begun at 0: in a series that begins at 1, Prometheus sees no growth, and no alert reports the first failure.
  for (const slot of SLOTS) for (const outcome of FAILURES) deliveries.inc({ slot, outcome }, 0);
  for (const job of JOB_NAMES) jobs.inc({ job, outcome: "failed" }, 0);
  for (const scope of refusedWithoutStore) withoutStore.inc({ scope, how: "unavailable" }, 0);
  for (const outcome of ["forgotten", "refused"]) memoryFull.inc({ outcome }, 0);
  const outbound = outboundMetrics(registry, outboundState);
  const updateFlagged = async () => {
    const counts = await nullOnErrorOrTimeout(countFlagged());
    if (counts === null) return false;
    flagged.reset();
    for (const count of counts) {
      flagged.set({ slot: count.provider, state: "waiting" }, count.flagged - count.settled);
      flagged.set({ slot: count.provider, state: "unknown" }, count.settled);
    }
    return true;
  };
  const updateQueried = async () => {
    const [flaggedAreRead, outboundIsRead] = await Promise.all([updateFlagged(), outbound.update()]);
    return flaggedAreRead && outboundIsRead;
  };
  return {
    read: async () => {
      const [areCurrent] = await Promise.all([updateQueried(), askLimiter()]);
      databaseGauges.set(areCurrent ? 1 : 0);
      return { text: await registry.metrics(), contentType: registry.contentType };
    },
    delivered: (slot: string, outcome: string) => deliveries.inc({ slot, outcome }),
    called: (operation: string, outcome: string) => {
      operations.inc({ operation, outcome: "defect" }, 0);
      operations.inc({ operation, outcome });
    },
    requested: (version: string, chosenBy: string) => restRequests.inc({ version, chosen_by: chosenBy }),
    /** An attempt to deliver an outbound event. */
    sent: outbound.sent,
    /** A delivery that is not tried again. */
    gaveUp: outbound.gaveUp,
    jobRan: (job: string, outcome: "ok" | "failed") => jobs.inc({ job, outcome }),
    limiter: {
      sharedStore: (up: boolean) => storeUp.set(up ? 1 : 0),
      decidedWithoutStore: (scope: string, decision: string) => withoutStore.inc({ scope, how: decision }),
      memoryFull: (outcome: string) => memoryFull.inc({ outcome }),
    },
  };
}

/** Prometheus waits for 10 s, as a query does for a database that is silent: all else would be lost too. */
const QUERY_TIMEOUT_MS = 2_000;

function nullOnErrorOrTimeout<Value>(query: Promise<Value>): Promise<Value | null> {
  return Promise.race([query.catch(() => null), sleep(QUERY_TIMEOUT_MS, null, { ref: false })]);
}

function outboundMetrics(registry: Registry, outboundState: Sources["outboundState"]) {
  const registers = [registry];
  const attempts = new Counter({
    name: "tollgate_outbound_deliveries_total",
    help: "Attempts to deliver outbound events to endpoints and plugins by outcome: delivered or failed",
    labelNames: ["outcome"] as const,
    registers,
  });
  for (const outcome of ["delivered", "failed"]) attempts.inc({ outcome }, 0);
  const givenUp = new Counter({
    name: "tollgate_outbound_deliveries_given_up_total",
    help: "Deliveries of outbound events to endpoints and plugins that have failed for five days, or whose event cannot be read, and are not tried again",
    registers,
  });
  const backlog = new Gauge({
    name: "tollgate_outbound_backlog_seconds",
    help: "How long the oldest outbound event has waited for an enabled endpoint; 0: none waits",
    registers,
  });
  const endpoints = new Gauge({
    name: "tollgate_outbound_endpoints_unhealthy",
    help: "Event endpoints that have failed for an hour, or are disabled: they failed for five days or responded with 410, by state",
    labelNames: ["state"] as const,
    registers,
  });
  const unreadable = new Gauge({
    name: "tollgate_outbound_changes_unreadable",
    help: "Changes without outbound events because their record could not be read: see outbound_unreadable_set",
    registers,
  });
  const unreadableEvents = new Gauge({
    name: "tollgate_outbound_events_unreadable",
    help: "Outbound events that lists and streams leave out because they could not be read: see outbound_unreadable_pack",
    registers,
  });
  return {
    sent: (outcome: "delivered" | "failed") => attempts.inc({ outcome }),
    gaveUp: () => givenUp.inc(),
    update: async () => {
      const state = await nullOnErrorOrTimeout(outboundState());
      if (state === null) return false;
      backlog.set(state.backlogSeconds);
      unreadable.set(state.unreadableChanges);
      unreadableEvents.set(state.unreadableEvents);
      endpoints.set({ state: "failing" }, state.failing);
      endpoints.set({ state: "disabled" }, state.disabled);
      return true;
    },
  };
}
