import type { Auth } from "../auth/auth.ts";
import { newApiKey, newServiceKey } from "../auth/callers/api-key.ts";
import { findNamedUser } from "../auth/callers/find-named-user.ts";
import { createAuth } from "../auth/create-auth.ts";
import { newLinkSecret } from "../auth/plugin-link.ts";
import type { Config } from "../config/config.ts";
import { providerTraits } from "../config/payments.ts";
import type { JobOutcome } from "../domain/job.ts";
import type { AfterSubscriptionChange } from "../domain/outbound/subscription-hook.ts";
import { SLOTS } from "../domain/slot.ts";
import { createLimits } from "../limits/create-limits.ts";
import { isRefusedWithoutSharedStore, SCOPES } from "../limits/policies.ts";
import { createMail } from "../mail/mail.ts";
import { limitRepeats } from "../observability/limit-repeats.ts";
import type { Log } from "../observability/log.ts";
import type { Metrics } from "../observability/metrics.ts";
import type { Dependencies } from "../operations/dependencies.ts";
import type { DispatcherOptions } from "../outbound/dispatcher.ts";
import { createEventFeed } from "../outbound/event-feed.ts";
import { recordProviderKey } from "../store/keys/provider-keys.ts";
import { outboundState } from "../store/outbound/outbound-state.ts";
import { countFlagged } from "../store/reconciliation/heals.ts";
import { deletionTools } from "./deletion-tools.ts";
import { findEntitlementFacts } from "./find-entitlement-facts.ts";
import { type PeriodicJobsOptions, startPeriodicJobs } from "./periodic-jobs.ts";
import type { Runtime } from "./runtime.ts";

/** The dependencies of a process that serves requests, besides those of every process. */
export type Service = {
  deps: Dependencies;
  auth: Auth;
  /** `null`: no METRICS_TOKEN is set. */
  metrics: Metrics | null;
  /** Runs a periodic job now, or waits for the run under way here. Undefined: no job has this name. */
  runJob(name: string): Promise<JobOutcome> | undefined;
  /** Resolves when nothing is written or mailed in the background any more. */
  idle(): Promise<void>;
  /** Finishes running jobs; close the runtime afterwards. */
  close(): Promise<void>;
};

export type ServiceOptions = {
  log: Log;
  /** Origins whose pages may write with a user's cookie. */
  ownOrigins(): readonly string[];
  /** Called at each step of sending events where a crash matters; tests crash there. */
  reachedOutbound?: DispatcherOptions["reached"];
  jobsRunOn?: PeriodicJobsOptions["runsOn"];
  /** How long a decision of the limiter waits for Redis; for tests on a busy machine. */
  limitsAnswerWithinMs?: number;
};

export async function startService(
  config: Config,
  runtime: Runtime,
  { log, ownOrigins, reachedOutbound, jobsRunOn = "timer", limitsAnswerWithinMs }: ServiceOptions,
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
          askLimiter: () => limits.rateLimit("metrics:scrape", { limit: 1_000, windowSeconds: 1 }),
          refusedWithoutStore: config.redisUrls === null ? [] : SCOPES.filter(isRefusedWithoutSharedStore),
        });
  const chat =
    config.chat &&
    (await import("../chat/create-chat.ts")).createChat({
      ...config.chat,
      redisUrls: config.redisUrls ?? [],
    });
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
    log: { ...limitRepeats(log), info: (fields, message) => log.info(fields, message) },
  });
  const limits = await createLimits({
    ...(limitsAnswerWithinMs === undefined ? {} : { answerWithinMs: limitsAnswerWithinMs }),
    policies: config.rateLimits,
    redisUrls: config.redisUrls,
    maxMemoryKeys: config.rateLimitMemoryKeys,
    log,
    ...(metrics ? { metrics: metrics.limiter } : {}),
  });
  const jobs = startPeriodicJobs(config, runtime, {
    auth,
    metrics,
    log,
    runsOn: jobsRunOn,
    outbound: {
      hooks: afterHooksOf(runtime),
      ...(reachedOutbound ? { reached: reachedOutbound } : {}),
    },
  });
  const eventFeed = createEventFeed({ database: runtime.database, log });
  return {
    deps: {
      ...deletionTools(runtime, log),
      database: runtime.database,
      intake: runtime.intake,
      limits,
      plans: config.plans,
      traits: providerTraits(config),
      newApiKey,
      newServiceKey,
      newLinkSecret,
      findNamedUser: findNamedUser(runtime.database),
      findEntitlementFacts: findEntitlementFacts(runtime.database),
      observe: metrics?.called ?? null,
      tracing: runtime.tracing,
      isProduction: config.isProduction,
      chat,
      payments: runtime.payments,
      activeProvider: runtime.activeProvider,
      appUrl: runtime.appUrl,
      returnOrigins: config.returnOrigins,
      log,
      outboundAllow: runtime.outboundAllow,
      eventFeed,
    },
    auth,
    metrics,
    runJob: jobs.run,
    idle: async () => {
      await Promise.all([auth.idle(), mail.idle()]);
    },
    close: async () => {
      eventFeed.stop();
      chat?.close();
      await jobs.stop();
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
