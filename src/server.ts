import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { getRequestListener } from "@hono/node-server";
import configuredVersions from "../versions.config.ts";
import { createApi } from "./api/app.ts";
import { loadPlugins } from "./api/plugins.ts";
import { type Config, readConfig, requireAuthSecret } from "./config/config.ts";
import type { VersionCatalog } from "./domain/api-version.ts";
import { SLOTS, type Slot } from "./domain/slot.ts";
import { createClientAddress } from "./http/client-address.ts";
import { refuseUnreadable, unroutable } from "./http/unroutable.ts";
import type { Milestone } from "./intake/intake.ts";
import { startRetryJob } from "./intake/retry-job.ts";
import { createLog, type Log } from "./observability/log.ts";
import { drainServer } from "./runtime/drain-server.ts";
import { createPages } from "./runtime/pages/create-pages.ts";
import { type Runtime, startRuntime, warnOfMissingSecrets } from "./runtime/runtime.ts";
import { type Service, startService } from "./runtime/service.ts";
import { startFailure } from "./runtime/start-failure.ts";
import { startupBanner } from "./runtime/startup-banner.ts";

export type RunningServer = {
  /** Where it listens, e.g. `http://127.0.0.1:3000`. */
  url: string;
  /** Where the simulated payment provider is; `null`: there is none. */
  simulatorUrl: string | null;
  /** Stops accepting, finishes what runs, closes the database. */
  close(): Promise<void>;
};

export type ServerOptions = {
  log: Log;
  reached?: (milestone: Milestone) => void | Promise<void>;
  /** Those of `versions.config.ts` unless given. */
  versions?: VersionCatalog;
};

export async function startServer(config: Config, options: ServerOptions): Promise<RunningServer> {
  const { log } = options;
  const origins = ownOrigins(config);
  let url = `http://127.0.0.1:${config.port}`;
  const deliverTo = (slot: Slot) => `${url}/api/webhooks/${slot}`;
  const runtime = await startRuntime(config, { ...options, deliverTo });
  const closing = [runtime.close];
  const close = async () => {
    for (const end of closing.splice(0).reverse()) await end();
  };
  try {
    warnOfMissingSecrets(config, runtime, log);
    const service = await startService(config, runtime, { log, ownOrigins: () => origins });
    closing.push(service.close);
    const api = await apiOf(config, options, { runtime, service, ownOrigins: () => origins });
    const pages = pagesOf(config, options, { service, ownOrigins: () => origins });
    closing.push(pages.close);
    const toApi = getRequestListener(api.fetch, { hostname: "localhost", errorHandler: unroutable(log) });
    const server = createServer((incoming, outgoing) =>
      isPage(incoming.url) ? pages.answer(incoming, outgoing) : toApi(incoming, outgoing),
    );
    server.on("clientError", refuseUnreadable);
    await listening(server, config);
    const retries = startRetryJob(runtime.intake);
    closing.push(retries.stop, () => drainServer(server));
    const { port } = server.address() as AddressInfo;
    origins.push(...localOrigins(config, port));
    const host = config.host.includes(":") ? `[${config.host}]` : config.host;
    url = `http://${host}:${port}`;
    return { url, simulatorUrl: runtime.simulatorUrl, close };
  } catch (error) {
    // What has been started, an embedded database above all, must not outlive a start that failed.
    await close();
    throw error;
  }
}

type Wired = { runtime: Runtime; service: Service; ownOrigins(): readonly string[] };

async function apiOf(
  config: Config,
  { log, versions = configuredVersions }: ServerOptions,
  { runtime, service, ownOrigins }: Wired,
) {
  return createApi({
    webhooks: {
      intake: runtime.intake,
      maxBodyBytes: config.webhook.maxBytes,
      secretVariables: Object.fromEntries(
        SLOTS.map((slot) => [slot, config.slots[slot].secretVariable]),
      ) as Record<Slot, string>,
      observe: service.metrics?.delivered ?? null,
      log,
    },
    desk: {
      auth: service.auth,
      clientAddress: createClientAddress(config.trustedProxies),
      ownOrigins,
    },
    auth: service.auth,
    deps: service.deps,
    plugins: await loadPlugins(),
    graphql: config.graphql,
    metrics: { token: config.metricsToken, metrics: service.metrics },
    versions,
    deprecationFormat: config.deprecationFormat,
    appUrl: config.appUrl,
    isReady: runtime.isReady,
    log,
  });
}

/**
 * What is not a path at all goes to the API as well, which refuses it; so does what only some take for a path, and others for
 * a host: Next.js would lead on from there.
 */
function isPage(url = ""): boolean {
  return url.startsWith("/") && !/^\/(?:\/|[^?]*\\|api(?:[/?]|$))/.test(url);
}

function pagesOf(config: Config, { log }: ServerOptions, { service, ownOrigins }: Omit<Wired, "runtime">) {
  return createPages({
    auth: service.auth,
    deps: service.deps,
    clientAddress: createClientAddress(config.trustedProxies),
    ownOrigins,
    appUrl: config.appUrl,
    mails: config.mail.smtpUrl !== null,
    log,
  });
}

/**
 * Pages of these may write with a person's cookie. On one's own machine, where nobody has named another address, it goes by
 * either name.
 */
function ownOrigins(config: Config): string[] {
  return [new URL(config.appUrl).origin];
}

function localOrigins({ databaseUrl, appUrl }: Config, port: number): string[] {
  if (databaseUrl !== null && new URL(appUrl).hostname !== "localhost") return [];
  return [`http://localhost:${port}`, `http://127.0.0.1:${port}`];
}

function listening(server: Server, { host, port }: Config): Promise<void> {
  return new Promise((listens, reject) => {
    server.once("error", reject);
    server.listen(port, host, listens);
  });
}

/** The server as a process: until it is told to stop, then drained, exit status 0. */
export async function runServer(config: Config, options: ServerOptions): Promise<void> {
  const { log } = options;
  const server = await startServer(config, options);
  log.info({ url: server.url }, "listening");
  if (config.databaseUrl === null) process.stderr.write(startupBanner(config, server));
  let stopping = false;
  const stop = async (signal: string) => {
    if (stopping) return;
    stopping = true;
    log.info({ signal }, "stopping");
    await server.close();
    process.exit(0);
  };
  process.on("SIGTERM", stop);
  process.on("SIGINT", stop);
}

async function main(): Promise<void> {
  const config = readConfig(process.env);
  requireAuthSecret(config);
  await runServer(config, { log: createLog(config.logLevel) });
}

if (import.meta.main) {
  main().catch((error: Error) => {
    process.stderr.write(`${startFailure(error)}\n`);
    process.exit(1);
  });
}
