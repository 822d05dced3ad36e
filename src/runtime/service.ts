import { newApiKey, newServiceKey } from "../auth/api-key.ts";
import type { Auth } from "../auth/auth.ts";
import { createAuth } from "../auth/create-auth.ts";
import { findNamedUser } from "../auth/find-named-user.ts";
import { newLinkSecret } from "../auth/plugin-link.ts";
import { cancelAtProvider } from "../billing/cancel-at-provider.ts";
import { closeOnDeletion } from "../billing/close-on-deletion.ts";
import type { Config } from "../config/config.ts";
import { SLOTS } from "../domain/slot.ts";
import type { AfterSubscriptionChange } from "../domain/subscription-hook.ts";
import { startRetryJob } from "../intake/retry-job.ts";
import { createJobRunner, type JobOutcome } from "../jobs/job-runner.ts";
import { createLimits } from "../limits/create-limits.ts";
import { createMail } from "../mail/mail.ts";
import type { Log } from "../observability/log.ts";
import type { Metrics } from "../observability/metrics.ts";
import type { Dependencies } from "../operations/dependencies.ts";
import type { DispatcherOptions } from "../outbound/dispatcher.ts";
import { createEventFeed } from "../outbound/event-feed.ts";
import { startOutbound } from "../outbound/outbound.ts";
import { countFlagged } from "../store/heals.ts";
import { withLease } from "../store/hold-lease.ts";
import { outboundState } from "../store/outbound-state.ts";
import { recordProviderKey } from "../store/provider-keys.ts";
import { accountJobs } from "./account-jobs.ts";
import { findEntitlementFacts } from "./find-entitlement-facts.ts";
import { reconcileJobs } from "./reconcile-jobs.ts";
import { retentionJob } from "./retention-job.ts";
import type { Runtime } from "./runtime.ts";

/** After a crash, another process takes over a job once its lease has expired; it is renewed while the job runs. */
const JOB_LEASE_SECONDS = 30;

/** The dependencies of a process that serves requests, besides those of every process. */
export type Service = {
  deps: Dependencies;
  auth: Auth;
  /** `null`: no METRICS_TOKEN is set. */
  metrics: Metrics | null;
  /** Runs a periodic job now, or waits for the run under way. Undefined: no job has this name. */
  runJob(name: string): Promise<JobOutcome> | undefined;
  /** Finishes running jobs; close the runtime afterwards. */
  close(): Promise<void>;
};

export type ServiceOptions = {
  log: Log;
  /** Origins whose pages may write with a user's cookie. */
  ownOrigins(): readonly string[];
  /** Called at each step of sending events where a crash matters; tests crash there. */
  reachedOutbound?: DispatcherOptions["reached"];
};

export async function startService(
  config: Config,
  runtime: Runtime,
  { log, ownOrigins, reachedOutbound }: ServiceOptions,
): Promise<Service> {
  for (const slot of SLOTS) {
    const { apiKey } = config.slots[slot];
    if (apiKey !== null) await recordProviderKey(runtime.database, { slot, apiKey });
  }
  // Large packages are loaded only where they are configured.
  const metrics =
    config.metricsToken === null
      ? null
      : (await import("../observability/metrics.ts")).createMetrics({
          countFlagged: () => countFlagged(runtime.database),
          outboundState: () => outboundState(runtime.database),
        });
  const chat = config.chat && (await import("../chat/create-chat.ts")).createChat(config.chat);
  const mail = createMail({ ...config.mail, dataDir: config.dataDir, log });
  const auth = createAuth({
    database: runtime.database,
    secret: config.authSecret ?? (runtime.embedded?.authSecret as string),
    appUrl: config.appUrl,
    ownOrigins,
    mail,
    requireConfirmation: config.mail.requireConfirmation,
    requireAdminTwoFactor: config.requireAdminTwoFactor,
    auditRetentionDays: config.auditRetentionDays,
    log,
  });
  const limits = await createLimits({
    policies: config.rateLimits,
    redisUrls: config.redisUrls,
    maxMemoryKeys: config.rateLimitMemoryKeys,
    log,
    ...(metrics ? { metrics: metrics.limiter } : {}),
  });
  const jobs = createJobRunner({
    withLease: (name, work) => withLease(runtime.database, name, { seconds: JOB_LEASE_SECONDS }, work),
    log,
    observe: metrics?.jobRan ?? null,
  });
  for (const job of [
    ...reconcileJobs(config, runtime),
    ...accountJobs(config, runtime, auth),
    retentionJob(config, runtime),
  ])
    jobs.start(job);
  const retries = startRetryJob(runtime.intake, metrics?.jobRan ?? null);
  const outbound = startOutbound({
    database: runtime.database,
    plans: config.plans,
    allow: runtime.outboundAllow,
    hooks: afterHooksOf(runtime),
    ...(metrics ? { observe: metrics.sent } : {}),
    ...(reachedOutbound ? { reached: reachedOutbound } : {}),
    log,
    now: Date.now,
  });
  const eventFeed = createEventFeed({ database: runtime.database, log });
  return {
    deps: {
      database: runtime.database,
      intake: runtime.intake,
      limits,
      plans: config.plans,
      newApiKey,
      newServiceKey,
      newLinkSecret,
      findNamedUser: findNamedUser(runtime.database),
      findEntitlementFacts: findEntitlementFacts(runtime.database),
      observe: metrics?.called ?? null,
      isProduction: config.isProduction,
      chat,
      payments: runtime.payments,
      activeProvider: runtime.activeProvider,
      appUrl: runtime.appUrl,
      returnOrigins: config.returnOrigins,
      log,
      cancelSubscription: cancelAtProvider({ payments: runtime.payments, log }),
      closeOpenCheckout: closeOnDeletion(runtime),
      outboundAllow: runtime.outboundAllow,
      eventFeed,
    },
    auth,
    metrics,
    runJob: (name) => {
      if (name === "webhook-retry") return retries.runNow();
      return name === "outbound-events" ? outbound.runNow() : jobs.runNow(name);
    },
    close: async () => {
      eventFeed.stop();
      await Promise.all([jobs.stop(), retries.stop(), outbound.stop()]);
      await Promise.all([auth.idle(), mail.close(), limits.close()]);
    },
  };
}

function afterHooksOf({ hooks }: Runtime): Map<string, AfterSubscriptionChange> {
  return new Map(
    hooks.flatMap(({ name, afterSubscriptionChange }) =>
      afterSubscriptionChange === undefined ? [] : [[name, afterSubscriptionChange]],
    ),
  );
}
