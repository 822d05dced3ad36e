import { beforeAll, describe, expect, it } from "vitest";
import { type ApiOptions, createApi } from "../../../../src/api/app.ts";
import { loadPlugins } from "../../../../src/api/plugins.ts";
import { ROUTES } from "../../../../src/api/rest/routes.ts";
import { configureBetterAuth } from "../../../../src/auth/better-auth.ts";
import { requestScopes } from "../../../../src/auth/request-scope.ts";
import { DEFAULT_POLICIES } from "../../../../src/limits/policies.ts";
import { createLog } from "../../../../src/observability/log.ts";
import versions from "../../../../versions.config.ts";
import { GENEROUS_LIMITS } from "../../../support/variables.ts";
import { BODIES, nameOf, requestTo } from "./requests.ts";
import { type SecurityContext, securityContext } from "./security-context.ts";
import { send } from "./send.ts";

const METRICS_TOKEN = "a-token-for-the-metrics-alone";

/** What exists beside the documented routes, and why. */
const BESIDE_THE_DOCUMENT = [
  // Better Auth's, checked below.
  "ALL /api/auth/*",
  // A stream, which OpenAPI cannot describe.
  "POST /api/chat",
  // Surfaces with schemas of their own, over the same operations; ALL is their 405 for any other method.
  "ALL /api/trpc/*",
  "ALL /api/graphql",
  "GET /api/trpc/*",
  "POST /api/trpc/*",
  "GET /api/graphql",
  "POST /api/graphql",
  // The document and its page.
  "GET /api/openapi.json",
  "GET /api/docs",
  "GET /api/docs/start.js",
  "GET /api/docs/swagger-ui.css",
  "GET /api/docs/swagger-ui-bundle.js",
  "GET /api/docs/favicon-32x32.png",
  // For the operator.
  "GET /api/metrics",
  // Each plugin documents itself, and is reached through the gate or by its own secret address only.
  "GET /api/plugins/renewals/calendar.ics",
  "ALL /api/plugins/renewals/links/:secret/*",
  "GET /api/plugins/renewals/links/:secret/calendar.ics",
];

/** What the product uses of Better Auth. */
const AUTH_PATHS = [
  "POST /sign-up/email",
  "POST /sign-in/email",
  "POST /sign-out",
  "GET /get-session",
  "POST /update-user",
  "GET /list-sessions",
  "POST /revoke-session",
  "POST /revoke-sessions",
  "POST /revoke-other-sessions",
  "POST /change-email",
  "POST /two-factor/enable",
  "POST /two-factor/disable",
  "POST /two-factor/generate-backup-codes",
  "POST /two-factor/verify-totp",
  "POST /two-factor/verify-backup-code",
  "POST /change-password",
  "POST /request-password-reset",
  "GET /reset-password/:token",
  "POST /reset-password",
];

/** Where addresses are confirmed. */
const CONFIRMATION_PATHS = ["GET /verify-email", "POST /send-verification-email"];

const FORGOTTEN = [
  "/.env",
  "/.git/config",
  "/package.json",
  "/plans.config.ts",
  "/server-status",
  "/metrics",
  "/debug/pprof",
  "/actuator/env",
  "/swagger",
  "/swagger.json",
  "/graphiql",
  "/phpinfo.php",
  "/api",
  "/api/",
  "/api/.env",
  "/api/admin",
  "/api/admin/users",
  "/api/internal",
  "/api/debug",
  "/api/test",
  "/api/dev",
  "/api/config",
  "/api/env",
  "/api/metrics/",
  "/api/metric",
  "/api/status",
  "/api/info",
  "/api/swagger.json",
  "/api/swagger-ui",
  "/api/api-docs",
  "/api/openapi.yaml",
  "/api/docs/../openapi",
  "/api/docs/package.json",
  "/api/docs/swagger-ui.js",
  "/api/docs/swagger-ui-bundle.js.map",
  "/api/docs/oauth2-redirect.html",
  "/api/docs/index.html",
  "/api/simulator",
  "/api/webhooks",
  "/api/webhooks/",
  "/api/webhooks/provider-d",
  "/api/webhooks/stripe",
  "/api/webhooks/test",
  "/api/plugins.json",
];

const VERSIONS_THAT_ARE_NOT = [
  "v0",
  "v3",
  "v9",
  "v10",
  "v01",
  "v1.0",
  "v1.1",
  "v-1",
  "v",
  "V1",
  "v1a",
  "v1beta",
  "beta",
];

const context = securityContext();

describe("API9:2023 Improper Inventory Management", () => {
  let url: string;
  beforeAll(async () => {
    url = await context.serverWith({ ...GENEROUS_LIMITS, METRICS_TOKEN });
  });

  it("documents every mounted route", async () => {
    const mounted = (await mountedApi()).routes
      .map(({ method, path }) => `${method} ${path}`)
      .filter((route) => !MIDDLEWARE.has(route));
    const document = (await send(url, "GET /api/openapi.json")).body;
    const documented = operationsOf(document)
      // Mounted as one route: each of its paths is compared in test/auth/documented-routes.test.ts.
      .filter((operation) => !operation.includes(" /api/auth/"))
      .map((operation) => operation.replace("POST /api/webhooks/:slot", "ALL /api/webhooks/:slot"));
    const known = [...documented, ...BESIDE_THE_DOCUMENT];
    expect([...new Set(mounted)].filter((route) => !known.includes(route))).toEqual([]);
    expect(known.filter((route) => !mounted.includes(route))).toEqual([]);
  });

  it("serves every documented route in each version behind the gate", async () => {
    const documents = await Promise.all(
      versions.supported.map(async (version) => (await send(url, `GET /api/${version}/openapi.json`)).body),
    );
    const [first, ...others] = documents.map(operationsOf);
    for (const answer of others) expect(answer).toEqual(first);
    for (const route of ROUTES) {
      const request = requestTo(route, context.victim, context);
      const responses = await Promise.all(
        ["/api/", ...versions.supported.map((version) => `/api/${version}/`)].map((prefix) =>
          send(url, request.replace("/api/", prefix), { body: BODIES[nameOf(route)] }),
        ),
      );
      const expected = route.operation.access === "anyone" ? 200 : 401;
      expect([request, ...responses.map(({ status }) => status)]).toEqual([
        request,
        ...responses.map(() => expected),
      ]);
    }
  });

  it("reveals no internal paths or hosts in the document", async () => {
    const { text, body } = await send(url, "GET /api/openapi.json", {
      headers: { host: "internal.example" },
    });
    expect(text).not.toMatch(/metrics|127\.0\.0\.1|internal\.|whsec|postgres|redis/i);
    expect(body.servers).toHaveLength(1);
  });

  it.each(VERSIONS_THAT_ARE_NOT)("returns 404 for version %s", async (version) => {
    for (const request of [
      `GET /api/${version}/plans`,
      `GET /api/${version}/users`,
      `POST /api/${version}/api-keys`,
    ]) {
      const response = await send(url, request, { cookie: context.admin.cookie });
      expect([request, response.status]).toEqual([request, 404]);
    }
    const chosen = await send(url, "GET /api/plans", { headers: { "x-api-version": version } });
    expect(chosen.status).toBe(400);
  });

  it("serves no forgotten files", async () => {
    for (const path of FORGOTTEN) {
      for (const method of ["GET", "POST"]) {
        const { status } = await send(url, `${method} ${path}`, { cookie: context.admin.cookie });
        expect([method, path, status]).toEqual([method, path, 404]);
      }
    }
  });

  it("mounts only the used paths of Better Auth", async () => {
    const confirming = await context.serverWith({
      ...GENEROUS_LIMITS,
      REQUIRE_EMAIL_CONFIRMATION: "on",
      SMTP_URL: "smtp://127.0.0.1:9",
    });
    const offered = betterAuthPaths(context);
    expect(offered.length).toBeGreaterThan(25);
    expect(AUTH_PATHS.filter((used) => !offered.includes(used))).toEqual([]);
    const routes: string[] = [];
    const thereToConfirm: string[] = [];
    for (const route of offered) {
      const request = route.replace(" ", " /api/auth").replace(/:\w+/g, "token");
      // Without a page to return to, a mailed link returns 400, so the route exists.
      const isThere = async (server: string) => {
        const { status } = await send(server, request, {
          cookie: "",
          ...(route.startsWith("POST") ? { body: {} } : {}),
        });
        return ![404, 405].includes(status);
      };
      if (await isThere(url)) routes.push(route);
      if (await isThere(confirming)) thereToConfirm.push(route);
    }
    expect(routes.sort()).toEqual([...AUTH_PATHS].sort());
    expect(thereToConfirm.sort()).toEqual([...AUTH_PATHS, ...CONFIRMATION_PATHS].sort());
  });

  it("mounts no paths of its plugins", async () => {
    for (const path of [
      "admin/list-users",
      "admin/set-role",
      "admin/ban-user",
      "admin/impersonate-user",
      "api-key/create",
      "api-key/verify",
      "organization/create",
      "two-factor/send-otp",
      "two-factor/get-totp-uri",
      "magic-link/verify",
      "sign-in/anonymous",
      "sign-in/username",
      "oauth2/authorize",
      "jwks",
      "token",
      "reference",
      "open-api/generate-schema",
    ]) {
      for (const method of ["GET", "POST"]) {
        const attack = { cookie: context.admin.cookie, ...(method === "POST" ? { body: {} } : {}) };
        expect((await send(url, `${method} /api/auth/${path}`, attack)).status).toBe(404);
      }
    }
  });

  it("serves metrics with the right token only", async () => {
    for (const as of [
      {},
      { cookie: context.admin.cookie },
      { headers: { authorization: `Bearer ${METRICS_TOKEN}` } },
    ])
      expect((await send(context.url, "GET /api/metrics", as)).status).toBe(404);
    const tries = [
      {},
      { cookie: context.admin.cookie },
      { key: context.admin.key },
      { key: METRICS_TOKEN.slice(0, -1) },
      { key: `${METRICS_TOKEN}x` },
      { key: "" },
      { headers: { authorization: METRICS_TOKEN } },
      { headers: { authorization: `Basic ${METRICS_TOKEN}` } },
      { headers: { "x-api-key": METRICS_TOKEN } },
      { cookie: `token=${METRICS_TOKEN}` },
    ];
    for (const as of tries) {
      for (const path of ["/api/metrics", "/api/v1/metrics", `/api/metrics?token=${METRICS_TOKEN}`])
        expect((await send(url, `GET ${path}`, as)).status).toBe(401);
    }
    const read = await send(url, "GET /api/metrics", { key: METRICS_TOKEN });
    expect(read.status).toBe(200);
    expect(read.text).not.toMatch(/@example\.com|tg_|person-/);
  });

  function betterAuthPaths({ test }: SecurityContext): string[] {
    const { api } = configureBetterAuth(
      {
        database: test.database,
        secret: "x".repeat(32),
        appUrl: "http://localhost:3000",
        ownOrigins: () => [],
        sendMail: async () => {},
        requireConfirmation: true,
        log: createLog("silent"),
      },
      requestScopes(),
    );
    const endpoints = Object.values(api) as unknown as {
      path?: string;
      options: { method: string | string[] };
    }[];
    return endpoints.flatMap(({ path, options }) =>
      path === undefined ? [] : [options.method].flat().map((method) => `${method} ${path}`),
    );
  }
});

const MIDDLEWARE = new Set(["ALL /*", "ALL /api/plugins/*"]);

/** As it is in a server, but for what stands behind the routes: here nothing is asked. */
async function mountedApi() {
  return createApi({
    webhooks: {},
    callers: {},
    auth: { documentedRoutes: () => [] },
    deps: { limits: { policies: DEFAULT_POLICIES } },
    plugins: await loadPlugins(),
    graphql: { enabled: true, introspection: true },
    metrics: { token: METRICS_TOKEN, metrics: {} },
    cron: { secret: METRICS_TOKEN, runJob: () => undefined },
    versions,
    deprecationFormat: "simple",
    appUrl: "http://localhost:3000",
    corsOrigins: [],
    log: createLog("silent"),
  } as unknown as ApiOptions);
}

function operationsOf(document: { paths: Record<string, Record<string, unknown>> }): string[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} /api${path.replace(/\{(\w+)\}/g, ":$1")}`),
  );
}
