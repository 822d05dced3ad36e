import configuredVersions from "../versions.config.ts";
import type { Host } from "./app/gate/host.ts";
import { readConfig, requireAuthSecret } from "./config/config.ts";
import { ConfigError } from "./config/config-error.ts";
import { connectApi, connectClientAddress, connectWebhooks } from "./connect-api.ts";
import { toNodeRequest } from "./http/to-node-request.ts";
import { createLog } from "./observability/log.ts";
import { startTracing } from "./observability/start-tracing.ts";
import { startRuntime } from "./runtime/runtime.ts";
import { startService } from "./runtime/service.ts";
import { warnOfMissingSecrets } from "./runtime/warn-of-missing-secrets.ts";

/** The host's own proxy, whose address no request tells. */
const PROXY_ADDRESS = "127.0.0.1";
/** A client waits meanwhile; the next request tries again. */
const DATABASE_WITHIN_MS = 5_000;

/**
 * Everything behind pages and API for a host that starts instances on request and stops them between two
 * requests: no timers, no embedded database, no simulator. `GET /api/cron/<job>` runs the jobs.
 * @throws ConfigError
 */
export async function startHost(variables: Record<string, string | undefined>): Promise<Host> {
  const config = readConfig(variables);
  if (config.databaseUrl === null) {
    throw new ConfigError(
      "DATABASE_URL: required on a serverless host, e.g. postgres://user:password@pooler.example.com:6432/tollgate",
    );
  }
  requireAuthSecret(config);
  if (config.simulator !== null)
    throw new ConfigError("SIMULATOR: must be off on a serverless host, e.g. off");
  const log = createLog(config.logLevel);
  const tracing = await startTracing(config.tracing, log);
  const runtime = await startRuntime(config, { log, tracing, reachWithinMs: DATABASE_WITHIN_MS });
  warnOfMissingSecrets(config, runtime, log);
  const ownOrigins = () => [config.appUrl];
  const service = await startService(config, runtime, { log, ownOrigins, jobsRunOn: "request" });
  const clientAddressOf = connectClientAddress(config, log);
  const wired = { runtime, service, clientAddress: clientAddressOf, ownOrigins };
  const webhooks = connectWebhooks(config, wired, log);
  const api = await connectApi(config, { ...wired, webhooks }, { log, versions: configuredVersions });
  return {
    fetch: async (request) => {
      const respond = async () =>
        api.fetch(request, { incoming: toNodeRequest(request, PROXY_ADDRESS), outgoing: {} });
      return tracing === null ? respond() : tracing.traceFetch(request, respond);
    },
    idle: async () => {
      await Promise.all([runtime.intake.idle(), service.idle()]);
      await tracing?.flush();
    },
    identify: (credentials) => service.auth.identify(credentials),
    clientAddress: (forwardedFor) => clientAddressOf(PROXY_ADDRESS, forwardedFor ?? undefined),
    ownOrigins,
    deps: service.deps,
    accounts: service.auth,
    mails: config.mail.smtpUrl !== null,
    appUrl: config.appUrl,
    log,
  };
}
