import { createApi } from "./api/app.ts";
import { loadPlugins } from "./api/plugins.ts";
import type { WebhookOptions } from "./api/receive-delivery.ts";
import type { Config } from "./config/config.ts";
import type { VersionCatalog } from "./domain/api-version.ts";
import { perSlot } from "./domain/slot.ts";
import { type ClientAddress, createClientAddress } from "./http/client-address.ts";
import { limitRepeats } from "./observability/limit-repeats.ts";
import type { Log } from "./observability/log.ts";
import { cachedReadiness } from "./runtime/cached-readiness.ts";
import type { Runtime } from "./runtime/runtime.ts";
import type { Service } from "./runtime/service.ts";

export type Wired = {
  runtime: Runtime;
  service: Service;
  clientAddress: ClientAddress;
  ownOrigins(): readonly string[];
};

export function connectWebhooks(
  config: Config,
  { runtime, service }: Pick<Wired, "runtime" | "service">,
  log: Log,
): WebhookOptions {
  return {
    intake: runtime.intake,
    maxBodyBytes: config.webhook.maxBytes,
    secretVariables: perSlot((slot) => config.slots[slot].secretVariable),
    observe: service.metrics?.delivered ?? null,
    log: limitRepeats(log),
  };
}

export type ApiConnection = {
  log: Log;
  versions: VersionCatalog;
  eventHeartbeatMs?: number;
  /** Not ready then, so that load balancers leave the server out while it finishes what it has. */
  isStopping?: () => boolean;
};

/** The whole of `/api`, as configured. */
export async function connectApi(
  config: Config,
  { runtime, service, clientAddress, ownOrigins, webhooks }: Wired & { webhooks: WebhookOptions },
  { log, versions, eventHeartbeatMs, isStopping }: ApiConnection,
) {
  const isReady = cachedReadiness(runtime.isReady);
  return createApi({
    webhooks,
    callers: { auth: service.auth, clientAddress, ownOrigins, limits: service.deps.limits },
    auth: service.auth,
    deps: service.deps,
    plugins: await loadPlugins(),
    graphql: config.graphql,
    metrics: { token: config.metricsToken, metrics: service.metrics },
    cron: { secret: config.cronSecret, runJob: service.runJob },
    versions,
    deprecationFormat: config.deprecationFormat,
    appUrl: config.appUrl,
    corsOrigins: config.corsOrigins,
    ...(eventHeartbeatMs === undefined ? {} : { eventHeartbeatMs }),
    isReady: async () => !isStopping?.() && (await isReady()),
    log: limitRepeats(log),
  });
}

export function connectClientAddress({ trustedProxies }: Config, log: Log): ClientAddress {
  return createClientAddress(trustedProxies, () =>
    log.warn(
      "X-Forwarded-For arrives and TRUSTED_PROXIES is not set: limits count the proxy's address, e.g. TRUSTED_PROXIES=1",
    ),
  );
}
