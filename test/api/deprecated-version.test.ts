import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readConfig } from "../../src/config/config.ts";
import { defineVersions } from "../../src/domain/api-version.ts";
import { createLog } from "../../src/observability/log.ts";
import { type RunningServer, startServer } from "../../src/server.ts";
import { sendRequest } from "../support/http.ts";
import { createUser, type TestUser } from "../support/people.ts";
import { openRawConnection } from "../support/raw-connection.ts";
import { createServiceKey } from "../support/service-keys.ts";
import { testDatabase } from "../support/test-database.ts";
import { GENEROUS_LIMITS, serverVariables } from "../support/variables.ts";

// Not https: its cookies have another name than those of the test.
const APP_URL = "http://app.example.com";
const PAGE = "https://shop.example.com";
const TOKEN = "a-token-of-16-characters-or-more";
const ANNOUNCED = { "x-api-version": "v1", deprecation: "true", sunset: "2027-06-01" };

const test = testDatabase(0);
let server: RunningServer;
let person: TestUser;
let key: string;

beforeAll(async () => {
  const config = readConfig({
    ...serverVariables(test.url),
    ...GENEROUS_LIMITS,
    APP_URL,
    CORS_ORIGINS: PAGE,
    METRICS_TOKEN: TOKEN,
    CRON_SECRET: TOKEN,
  });
  const versions = defineVersions({
    current: "v1",
    versions: { v1: { deprecated: true, sunset: "2027-06-01" }, v2: { deprecated: false } },
  });
  server = await startServer(config, { log: createLog("silent"), versions });
  person = await createUser(test);
  ({ key } = await createServiceKey(test, { permissions: ["events:read"] }));
});
afterAll(() => server.close());

const bearer = { authorization: `Bearer ${TOKEN}` };
const preflight = { origin: PAGE, "access-control-request-method": "POST" };
const MESSAGE = { messages: [{ role: "user", parts: [{ type: "text", text: "How are you?" }] }] };
const noLength = { "transfer-encoding": "chunked", "content-length": undefined };

describe("a deprecated version is announced", () => {
  it.each<[string, number, string, string, object]>([
    ["a REST route", 200, "GET", "/users/me", {}],
    ["an unchanged resource", 304, "GET", "/entitlements", { headers: { "if-none-match": "*" } }],
    ["an unauthenticated request", 401, "GET", "/users/me", { cookie: "" }],
    ["an unknown route", 404, "GET", "/nothing", {}],
    ["another method", 405, "DELETE", "/plans", {}],
    ["an invalid input", 400, "GET", "/plans?limit=0", {}],
    ["an RPC query", 200, "GET", "/trpc/user.me", {}],
    ["an RPC batch", 200, "GET", "/trpc/user.me,billing.plans?batch=1", {}],
    ["an RPC mutation without input", 400, "POST", "/trpc/user.updateProfile", { body: {} }],
    [
      "an RPC form",
      415,
      "POST",
      "/trpc/user.updateProfile",
      { body: "x", headers: { "content-type": "text/plain" } },
    ],
    ["an unknown procedure", 404, "GET", "/trpc/nothing", {}],
    ["another method of RPC", 405, "PUT", "/trpc/user.me", {}],
    ["a GraphQL query", 200, "POST", "/graphql", { body: { query: "{ me { id } }" } }],
    ["GraphQL without a query", 400, "POST", "/graphql", { body: {} }],
    ["a persisted query", 200, "POST", "/graphql", { body: { extensions: { persistedQuery: {} } } }],
    ["another method of GraphQL", 405, "PUT", "/graphql", {}],
    ["an unsigned webhook", 400, "POST", "/webhooks/provider-a", { body: {} }],
    ["a webhook without a length", 400, "POST", "/webhooks/provider-a", { body: {}, headers: noLength }],
    ["a webhook's other method", 405, "GET", "/webhooks/provider-a", {}],
    ["an unknown slot", 404, "POST", "/webhooks/provider-x", { body: {} }],
    ["a session", 200, "GET", "/auth/get-session", {}],
    [
      "a wrong password",
      401,
      "POST",
      "/auth/sign-in/email",
      { body: { email: "a@b.example", password: "wrong password" } },
    ],
    ["an unknown route of accounts", 404, "GET", "/auth/nothing", {}],
    ["an unknown API key", 401, "GET", "/auth/get-session", { key: "tg_none" }],
    ["health", 200, "GET", "/health", {}],
    ["readiness", 200, "GET", "/ready", {}],
    ["the versions", 200, "GET", "/version", {}],
    ["the OpenAPI document", 200, "GET", "/openapi.json", {}],
    ["the reader of the OpenAPI document", 200, "GET", "/docs", {}],
    ["the script of that reader", 200, "GET", "/docs/start.js", {}],
    ["metrics", 200, "GET", "/metrics", { headers: bearer }],
    ["metrics without the token", 401, "GET", "/metrics", {}],
    ["a job", 200, "GET", "/cron/session-clean-up", { headers: bearer }],
    ["an unknown job", 404, "GET", "/cron/nothing", { headers: bearer }],
    ["an assistant that is not configured", 503, "POST", "/chat", { body: MESSAGE }],
    ["a plugin without a person", 401, "GET", "/plugins/renewals/renewals.ics", { cookie: "" }],
    ["an unknown plugin", 404, "GET", "/plugins/nothing", {}],
    ["an unknown calendar link", 404, "GET", "/plugins/renewals/links/none/renewals.ics", {}],
    ["an event stream", 200, "HEAD", "/events/stream", { cookie: "", serviceKey: true }],
    ["an event stream that is refused", 401, "GET", "/events/stream", { cookie: "" }],
    ["a preflight", 204, "OPTIONS", "/users/me", { headers: preflight }],
  ])(
    "by the response to %s",
    async (_, status, method, path, { serviceKey, ...options }: { serviceKey?: boolean }) => {
      const credentials = serviceKey ? { key } : { cookie: person.cookie };
      for (const prefix of ["/api/v1", "/api"]) {
        const response = await sendRequest(server.url, method, `${prefix}${path}`, {
          ...credentials,
          ...options,
        });
        expect([prefix, response.status]).toEqual([prefix, status]);
        expect(response.fields).toMatchObject(ANNOUNCED);
        expect(response.fields.link).toContain(`<${APP_URL}/api/v2${path}>; rel="successor-version"`);
      }
      const other = await sendRequest(server.url, method, `/api/v2${path}`, { ...credentials, ...options });
      expect(other.status).toBe(status);
      expect(other.fields["x-api-version"]).toBe("v2");
      for (const name of ["deprecation", "sunset", "link"]) expect(other.fields).not.toHaveProperty(name);
    },
  );

  it.each<[string, number, string, Record<string, string>]>([
    ["an unknown version in the path", 404, "/api/v9/plans", {}],
    ["two versions", 404, "/api/v1/v2/plans", {}],
    ["an unknown version in the header", 400, "/api/plans", { "x-api-version": "v9" }],
  ])("by the refusal of %s, in the format of the current version", async (_, status, path, headers) => {
    const response = await sendRequest(server.url, "GET", path, { headers });
    expect(response.status).toBe(status);
    expect(response.fields).toMatchObject(ANNOUNCED);
  });

  it.each([
    ["without a Host", 400, "GET /api/plans HTTP/1.1"],
    ["with an invalid Host", 400, "GET /api/plans HTTP/1.1\r\nhost: a b"],
    ["with an unknown expectation", 417, "GET /api/plans HTTP/1.1\r\nhost: b\r\nexpect: a reply"],
    ["that is not HTTP", 400, "What is the time?"],
  ])("by the response to a request %s", async (_, status, request) => {
    const response = await openRawConnection(server.url, `${request}\r\nconnection: close\r\n\r\n`).closed;
    expect(response.slice(0, 13)).toBe(`HTTP/1.1 ${status} `);
    for (const [name, value] of Object.entries(ANNOUNCED))
      expect(response).toMatch(new RegExp(`^${name}: ${value}\r?$`, "im"));
  });
});
