import { randomUUID } from "node:crypto";
import { Hono } from "hono";
import { methodNotAllowed } from "hono/method-not-allowed";
import { type VersionCatalog, versionStatus } from "../domain/api-version.ts";
import { addHeaders } from "../http/add-headers.ts";
import { cors, preflightMatcher, preflights } from "../http/cors.ts";
import { answerError, answerRefusal, onlyErrors } from "../http/error-response.ts";
import type { HonoEnv } from "../http/hono-env.ts";
import { addLimitHeaders } from "../http/limit-headers.ts";
import { headersApplied, responseHeaders } from "../http/response-headers.ts";
import { apiHeaders } from "../http/security-headers.ts";
import type { ThrottledLog } from "../observability/limit-repeats.ts";
import type { Dependencies } from "../operations/dependencies.ts";
import { type AuthRoutesOptions, authRoutes, withErrorCode } from "./auth.ts";
import type { CallerContext } from "./authenticate.ts";
import { chat } from "./chat.ts";
import { countVersions } from "./count-versions.ts";
import { type CronOptions, cron } from "./cron.ts";
import { eventStream } from "./event-stream.ts";
import { graphql } from "./graphql/graphql.ts";
import { type MetricsOptions, metrics } from "./metrics.ts";
import { reader } from "./openapi/reader.ts";
import { serveDocument } from "./openapi/serve-document.ts";
import { type Plugin, pluginRoutes } from "./plugins.ts";
import type { WebhookOptions } from "./receive-delivery.ts";
import { rest } from "./rest/rest.ts";
import { ROUTES } from "./rest/routes.ts";
import { routeTemplates } from "./route-template.ts";
import { rpc } from "./rpc/rpc.ts";
import type { DeprecationFormat } from "./versions/version-headers.ts";
import { versionedPath } from "./versions/version-path.ts";
import { versioning } from "./versions/versioning.ts";
import { webhooks } from "./webhooks.ts";

export type ApiOptions = {
  webhooks: WebhookOptions;
  callers: CallerContext;
  auth: AuthRoutesOptions;
  deps: Dependencies;
  plugins: readonly Plugin[];
  graphql: { enabled: boolean; introspection: boolean };
  metrics: MetricsOptions;
  cron: CronOptions;
  versions: VersionCatalog;
  deprecationFormat: DeprecationFormat;
  /** The public origin, without a slash at the end. */
  appUrl: string;
  /** Origins whose pages may call with API keys, never with cookies. */
  corsOrigins: readonly string[];
  isReady(): Promise<boolean>;
  /** The time between two comments of an event stream. */
  eventHeartbeatMs?: number;
  log: ThrottledLog;
};

/** The whole of `/api`; pages are served elsewhere. */
export function createApi(options: ApiOptions): Hono<HonoEnv> {
  const { appUrl, deps, callers, versions, log } = options;
  const { tracing } = deps;
  const api = new Hono<HonoEnv>({ getPath: versionedPath });
  const templateOf = routeTemplates(options.auth.documentedRoutes());

  api.use(async (c, next) => {
    const requestId = randomUUID();
    c.set("requestId", requestId);
    responseHeaders(c)["x-request-id"] = requestId;
    await next();
    const route = tracing ? templateOf(c, c.req.path) : null;
    if (route !== null) tracing?.setRoute(route);
    if (!headersApplied(c)) addHeaders(c, (headers) => headers.set("x-request-id", requestId));
  });
  api.use(apiHeaders(appUrl));
  api.use(cors(options.corsOrigins));
  const versionOptions = { catalog: versions, appUrl, format: options.deprecationFormat };
  api.use(versioning(versionOptions, preflightMatcher(options.corsOrigins)));
  api.use(preflights(options.corsOrigins));
  if (options.metrics.metrics !== null) api.use(countVersions(options.metrics.metrics));
  api.use(
    methodNotAllowed({
      app: api,
      onMethodNotAllowed: (c, methods) =>
        answerRefusal(c, { reason: "method_not_allowed" }, { headers: { allow: methods.join(", ") } }),
    }),
  );
  api.use(onlyErrors);

  api.route("/api/webhooks", webhooks(options.webhooks));
  api.route("/api/auth", authRoutes(options.auth, deps.limits, callers));
  api.route("/api", rest(ROUTES, deps, callers));
  api.route("/api", chat(deps, callers, log));
  api.route("/api", eventStream(deps, callers, options.eventHeartbeatMs));
  api.route("/api/trpc", rpc(deps, callers, log));
  api.route("/api/graphql", graphql(deps, callers, { ...options.graphql, log }));
  api.route("/api/plugins", pluginRoutes(options.plugins, deps, callers));
  api.route("/api", system(options));

  api.notFound((c) => answerRefusal(c, { reason: "not_found", params: { resource: "endpoint" } }));
  api.onError((error, c) => {
    addLimitHeaders(c, c.get("charges") ?? []);
    const response = answerError(c, error, (defect) =>
      log.error({ err: defect, requestId: c.get("requestId"), path: c.req.path }, "request failed"),
    );
    return withErrorCode(c.req.path, response);
  });
  return api;
}

/** Public routes that describe the API itself. */
function system({ versions, appUrl, isReady, ...options }: ApiOptions): Hono<HonoEnv> {
  const routes = new Hono<HonoEnv>();
  const status = versionStatus(versions);
  routes.get("/version", (c) => c.json(status));
  routes.get("/health", (c) => c.json({ status: "ok" }));
  routes.get("/ready", async (c) =>
    (await isReady()) ? c.json({ status: "ready" }) : answerRefusal(c, { reason: "unavailable" }),
  );
  const authRoutes = options.auth.documentedRoutes();
  routes.get("/openapi.json", serveDocument({ routes: ROUTES, authRoutes, appUrl }));
  routes.route("/docs", reader());
  routes.route("/metrics", metrics(options.metrics));
  routes.route("/cron", cron(options.cron));
  return routes;
}
