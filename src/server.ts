import "./config/report-definition-errors.ts";
import type { RequestListener, Server } from "node:http";
import type { AddressInfo } from "node:net";
import { getRequestListener } from "@hono/node-server";
import configuredVersions from "../versions.config.ts";
import { directWebhooks } from "./api/direct-webhooks.ts";
import { fixedHeadersOf } from "./api/versions/version-headers.ts";
import { type Config, readConfig, requireAuthSecret } from "./config/config.ts";
import { ownOrigins } from "./config/own-origins.ts";
import { trustsProxies } from "./config/trusted-proxies.ts";
import { connectApi, connectClientAddress, connectWebhooks } from "./connect-api.ts";
import type { VersionCatalog } from "./domain/api-version.ts";
import type { Slot } from "./domain/slot.ts";
import type { ClientAddress } from "./http/client-address.ts";
import { createUnroutable, isMalformed } from "./http/unroutable.ts";
import type { Milestone } from "./intake/intake.ts";
import { captureOutput } from "./observability/capture-output.ts";
import { limitRepeats } from "./observability/limit-repeats.ts";
import { createLog, type Log } from "./observability/log.ts";
import { startTracing } from "./observability/start-tracing.ts";
import { collectGarbage } from "./runtime/collect-garbage.ts";
import { NOTICE_WITHIN_MS, prepareDrain } from "./runtime/drain-server.ts";
import { createHttpServer } from "./runtime/http-server.ts";
import { createPages } from "./runtime/pages/create-pages.ts";
import { outputContext } from "./runtime/pages/output-context.ts";
import { type RuntimeOptions, startRuntime } from "./runtime/runtime.ts";
import { type Service, type ServiceOptions, startService } from "./runtime/service.ts";
import { startFailure } from "./runtime/start-failure.ts";
import { startupBanner } from "./runtime/startup-banner.ts";
import { stopOnSignal } from "./runtime/stop-on-signal.ts";
import { tuneGarbageCollector } from "./runtime/tune-garbage-collector.ts";
import { warnOfMissingSecrets } from "./runtime/warn-of-missing-secrets.ts";
import { warnOfUndefinedPlans } from "./runtime/warn-of-undefined-plans.ts";

export type RunningServer = {
  /** Where it listens, e.g. `http://127.0.0.1:3000`. */
  url: string;
  /** Where the simulated payment provider is; `null`: there is none. */
  simulatorUrl: string | null;
  /** Stops accepting, finishes what runs, closes the database. */
  close(): Promise<void>;
};

type StartedServer = RunningServer & {
  /** Stops an embedded database under whatever still runs: nothing else outlives this process. */
  stopDatabase(): Promise<void>;
};

export type ServerOptions = Pick<RuntimeOptions, "hooks" | "hookTimeoutMs"> & {
  log: Log;
  reached?: (milestone: Milestone) => void | Promise<void>;
  /** The same for outbound events. */
  reachedOutbound?: ServiceOptions["reachedOutbound"];
  /** Those of `versions.config.ts` unless given. */
  versions?: VersionCatalog;
  limitsAnswerWithinMs?: number;
  /** Goes on when its terminal is closed. */
  ignoresHangup?: boolean;
  eventHeartbeatMs?: number;
};

export async function startServer(config: Config, options: ServerOptions): Promise<StartedServer> {
  const { log, versions = configuredVersions } = options;
  const origins: string[] = [];
  let url = `http://127.0.0.1:${config.port}`;
  const deliverTo = (slot: Slot) => `${url}/api/webhooks/${slot}`;
  const tracing = await startTracing(config.tracing, log);
  const closing = tracing === null ? [] : [tracing.close];
  let isStopping = false;
  const close = async () => {
    isStopping = true;
    const failures: unknown[] = [];
    for (const end of closing.splice(0).reverse()) {
      // All of them: an embedded database above all must not stay behind because something else failed.
      try {
        await end();
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
  };
  try {
    const runtime = await startRuntime(config, { ...options, deliverTo, tracing });
    closing.push(runtime.close);
    warnOfMissingSecrets(config, runtime, log);
    void warnOfUndefinedPlans(config, runtime, log);
    const clientAddress = connectClientAddress(config, log);
    const service = await startService(config, runtime, { ...options, ownOrigins: () => origins });
    closing.push(service.close);
    const wired = { runtime, service, clientAddress, ownOrigins: () => origins };
    const webhooks = connectWebhooks(config, wired, log);
    const api = await connectApi(
      config,
      { ...wired, webhooks },
      { ...options, versions, isStopping: () => isStopping },
    );
    const isDirect = directWebhooks({
      webhooks,
      versions,
      deprecationFormat: config.deprecationFormat,
      appUrl: config.appUrl,
      requested: service.metrics?.requested ?? null,
    });
    const pages = connectPages(config, wired, log);
    closing.push(pages.close);
    const versionHeaders = fixedHeadersOf(versions.current, versions, config.deprecationFormat);
    const unroutable = createUnroutable(versionHeaders, log);
    const toApi = getRequestListener(api.fetch, {
      hostname: "localhost",
      errorHandler: unroutable.toResponse,
    });
    const answer: RequestListener = (incoming, outgoing) => {
      if (isDirect(incoming, outgoing)) {
        tracing?.setRoute("/api/webhooks/:slot");
        return;
      }
      if (isMalformed(incoming)) unroutable.refuse(outgoing);
      else if (isPage(incoming.url)) void pages.answer(incoming, outgoing);
      else void toApi(incoming, outgoing);
    };
    const listener = tracing === null ? answer : tracing.traceRequests(answer);
    const server = createHttpServer(listener, unroutable.refuseSocket);
    server.on("checkExpectation", unroutable.refuseExpectation);
    const acceptAtLeastMs = trustsProxies(config.trustedProxies) ? NOTICE_WITHIN_MS : 0;
    const drain = prepareDrain(server, { acceptAtLeastMs });
    await listen(server, config);
    closing.push(drain);
    // Streams would keep the drain waiting until its deadline.
    closing.push(async () => service.deps.eventFeed.stop());
    const { port } = server.address() as AddressInfo;
    origins.push(...ownOrigins(config, port));
    const host = config.host.includes(":") ? `[${config.host}]` : config.host;
    url = `http://${host}:${port}`;
    return { url, simulatorUrl: runtime.simulatorUrl, close, stopDatabase: runtime.stopDatabase };
  } catch (error) {
    // What has been started, an embedded database above all, must not outlive a start that failed.
    await close().catch((err: unknown) => log.error({ err }, "stopping what had been started failed"));
    throw error;
  }
}

/**
 * Pages serve plain paths outside `/api`. Other targets go to the API, which refuses them: some parsers take
 * `//host` and backslashes for a host, to which Next.js would redirect.
 */
function isPage(url = ""): boolean {
  return url.startsWith("/") && !/^\/(?:\/|[^?]*\\|api(?:[/?]|$))/.test(url);
}

function connectPages(
  config: Config,
  {
    service,
    clientAddress,
    ownOrigins,
  }: { service: Service; clientAddress: ClientAddress; ownOrigins(): readonly string[] },
  log: Log,
) {
  return createPages({
    auth: service.auth,
    deps: service.deps,
    clientAddress,
    ownOrigins,
    appUrl: config.appUrl,
    mails: config.mail.smtpUrl !== null,
    log: limitRepeats(log),
  });
}

function listen(server: Server, { host, port }: Config): Promise<void> {
  return new Promise((listens, reject) => {
    server.once("error", reject);
    server.listen(port, host, listens);
  });
}

/** The server as a process: until a signal stops it, then drained, exit status 0. */
export async function runServer(config: Config, options: ServerOptions): Promise<void> {
  const { log } = options;
  tuneGarbageCollector();
  const writeToTerminal = process.stderr.write.bind(process.stderr);
  // A terminal, a reader or a disk that takes nothing more must not end the server.
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {});
  const release = captureOutput({ log, context: outputContext });
  let isStopping = false;
  try {
    const starting = startServer(config, options);
    let isListening = false;
    // An embedded database would outlive a start that is broken off; all else ends with this process.
    const stop = async () => {
      isStopping = true;
      if (!isListening && config.databaseUrl !== null) return;
      // Where the signal has ended initdb as well, the start fails, and has stopped everything.
      const server = await starting.catch(() => null);
      await server?.close();
    };
    const endNow = async () => {
      if (config.databaseUrl === null) await (await starting).stopDatabase();
    };
    stopOnSignal({ stop, endNow, ignoresHangup: options.ignoresHangup ?? false }, log);
    const server = await starting;
    isListening = true;
    if (isStopping) return;
    collectGarbage();
    log.info({ url: server.url }, "listening");
    if (config.databaseUrl === null) writeToTerminal(startupBanner(config, server));
  } catch (error) {
    release();
    if (!isStopping) throw error;
  }
}

async function main(): Promise<void> {
  const config = readConfig(process.env);
  requireAuthSecret(config);
  const ignoresHangup = process.argv.includes("--ignore-hangup");
  await runServer(config, { log: createLog(config.logLevel), ignoresHangup });
}

if (import.meta.main) {
  main().catch((error: Error) => {
    const databaseVariable = process.env.DATABASE_URL?.trim() ? "DATABASE_URL" : "DATA_DIR";
    process.stderr.write(`${startFailure(error, databaseVariable)}\n`);
    process.exit(1);
  });
}
