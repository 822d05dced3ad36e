import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { freshServer } from "../support/fresh-server.ts";
import { type HttpResponse, type RequestOptions, sendRequest } from "../support/http.ts";
import { createKey, createUser, type TestUser } from "../support/people.ts";
import { startTestServer, type TestServer } from "../support/server.ts";
import { createServiceKey } from "../support/service-keys.ts";
import { GENEROUS_LIMITS } from "../support/variables.ts";

const APP = "https://app.example.com";
const DEV = "http://localhost:5173";
const STRANGERS = ["https://evil.example.com", "https://app.example.com.evil.example", "null", `${APP}:8443`];

const { test, server } = freshServer({ variables: { CORS_ORIGINS: `${APP}, ${DEV}` } });
let closed: TestServer;
let person: TestUser;
let key: string;
let serviceKey: string;
beforeAll(async () => {
  closed = await startTestServer(test.url, GENEROUS_LIMITS);
  person = await createUser(test);
  ({ key } = await createKey(server.url, person));
  ({ key: serviceKey } = await createServiceKey(test));
});
afterAll(async () => {
  await closed.close();
});

const send = (
  method: string,
  path: string,
  { origin, headers = {}, ...options }: RequestOptions & { origin?: string } = {},
  at = server,
): Promise<HttpResponse> =>
  sendRequest(at.url, method, path, { ...options, headers: { ...headers, ...(origin ? { origin } : {}) } });
const preflight = (path: string, origin: string, at = server) =>
  send("OPTIONS", path, { origin, headers: { "access-control-request-method": "PATCH" } }, at);
const cors = ({ headers }: HttpResponse) =>
  [...headers].filter(([name]) => name.startsWith("access-control-"));
const list = (value: string | null) => (value ?? "").toLowerCase().split(/,\s*/);

describe("a page of an allowed origin", () => {
  it.each([APP, DEV])("reads answers to requests with a key: %s", async (origin) => {
    const response = await send("GET", "/api/users/me", { origin, key });
    expect(response.status).toBe(200);
    expect(response.headers.get("access-control-allow-origin")).toBe(origin);
    expect(list(response.headers.get("vary"))).toEqual(expect.arrayContaining(["origin", "x-api-version"]));
    expect(list(response.headers.get("access-control-expose-headers"))).toEqual(
      expect.arrayContaining([
        ...["x-request-id", "x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"],
        ...["retry-after", "etag"],
      ]),
    );
    expect(response.headers.has("access-control-allow-credentials")).toBe(false);
  });

  it("shares no cache entry with clients that take another coding or version", async () => {
    const { headers } = await send("GET", "/api/openapi.json", { origin: APP });
    expect(list(headers.get("vary"))).toEqual(
      expect.arrayContaining(["origin", "x-api-version", "accept-encoding"]),
    );
  });

  it("writes with a key", async () => {
    const body = { name: "From Elsewhere" };
    const headers = { "sec-fetch-site": "cross-site" };
    const response = await send("PATCH", "/api/users/me", { origin: APP, key, body, headers });
    expect([response.status, response.body.name]).toEqual([200, "From Elsewhere"]);
    const byOtherHeader = await send("PATCH", "/api/v1/users/me", {
      origin: APP,
      body,
      headers: { ...headers, "x-api-key": key },
    });
    expect([byOtherHeader.status, byOtherHeader.headers.get("access-control-allow-origin")]).toEqual([
      200,
      APP,
    ]);
  });

  it("rejects writes with a cookie, and never allows credentials", async () => {
    const body = { name: "Forged" };
    for (const headers of [{}, { "sec-fetch-site": "cross-site" }, { "sec-fetch-site": "same-site" }]) {
      const response = await send("PATCH", "/api/users/me", {
        origin: APP,
        cookie: person.cookie,
        body,
        headers,
      });
      expect(response.status).toBe(403);
      expect(response.headers.has("access-control-allow-credentials")).toBe(false);
    }
    // A wrong key never falls back to the cookie.
    const wrong = `tg_${"x".repeat(40)}`;
    const response = await send("PATCH", "/api/users/me", {
      origin: APP,
      cookie: person.cookie,
      key: wrong,
      body,
    });
    expect(response.status).toBe(401);
    expect((await send("GET", "/api/users/me", { key })).body.name).not.toBe("Forged");
  });

  it.each([
    ["GET", "/api/users/me", 401],
    ["GET", "/api/nothing", 404],
    ["PUT", "/api/users/me", 405],
    ["GET", "/api/v9/users/me", 404],
    ["GET", "/api/subscriptions?limit=x", 400],
  ])("reads errors as well: %s %s", async (method, path, status) => {
    const response = await send(method, path, { origin: APP, ...(status === 400 ? { key } : {}) });
    expect(response.status).toBe(status);
    expect(response.headers.get("access-control-allow-origin")).toBe(APP);
    expect(list(response.headers.get("vary"))).toContain("origin");
  });

  it.each(["/api/trpc/user.me", "/api/graphql?query=%7B__typename%7D", "/api/version", "/api/openapi.json"])(
    "reads every surface: %s",
    async (path) => {
      const response = await send("GET", path, { origin: APP, key });
      expect(response.status).toBe(200);
      expect(response.headers.get("access-control-allow-origin")).toBe(APP);
      expect(list(response.headers.get("vary")).filter((name) => name === "origin")).toHaveLength(1);
    },
  );
});

describe("a page with a service key", () => {
  it.each([
    ["GET", "/api/entitlements?user=user_0", undefined],
    ["POST", "/api/usage", {}],
    ["GET", "/api/events/stream", undefined],
    ["GET", "/api/trpc/billing.plans", undefined],
    ["POST", "/api/graphql", { query: "{ __typename }" }],
    ["POST", "/api/chat", {}],
    ["GET", "/api/plugins/renewals/calendar.ics", undefined],
  ])("is refused, whatever its origin: %s %s", async (method, path, body) => {
    for (const origin of [APP, server.url, "https://evil.example.com", "null"]) {
      const response = await send(method, path, { origin, key: serviceKey, ...(body ? { body } : {}) });
      expect([origin, response.status]).toEqual([origin, 403]);
      expect(response.headers.get("access-control-allow-origin")).toBe(origin === APP ? APP : null);
    }
  });
});

describe("an answer", () => {
  it("has the CORS headers when it is a 304 and when it is streamed", async () => {
    const first = await send("GET", "/api/entitlements", { origin: APP, key });
    const headers = { "if-none-match": first.headers.get("etag") as string };
    const unchanged = await send("GET", "/api/entitlements", { origin: APP, key, headers });
    const input = encodeURIComponent("{}");
    const streamed = await send("GET", `/api/trpc/user.me,billing.plans?batch=1&input=${input}`, {
      origin: APP,
      key,
      headers: { "trpc-accept": "application/jsonl" },
    });
    expect([unchanged.status, streamed.status]).toEqual([304, 200]);
    for (const { headers } of [unchanged, streamed]) {
      expect(headers.get("access-control-allow-origin")).toBe(APP);
      expect(list(headers.get("vary"))).toContain("origin");
    }
  });

  it("can be read when the body is too large, or over the limit", async () => {
    const large = await send("PATCH", "/api/users/me", {
      origin: APP,
      key,
      body: { name: "x".repeat(2_000_000) },
    });
    expect([large.status, large.headers.get("access-control-allow-origin")]).toEqual([413, APP]);
    const strict = await startTestServer(test.url, { CORS_ORIGINS: APP, RATE_LIMIT_API: "1/3600" });
    await send("GET", "/api/plans", { origin: APP, key }, strict);
    const refused = await send("GET", "/api/plans", { origin: APP, key }, strict);
    expect([refused.status, refused.headers.get("access-control-allow-origin")]).toEqual([429, APP]);
    expect(list(refused.headers.get("access-control-expose-headers"))).toContain("retry-after");
    await strict.close();
  });
});

describe("a preflight", () => {
  it.each([
    ...["/api/users/me", "/api/v2/users/me", "/api/graphql", "/api/trpc/user.updateProfile", "/api/chat"],
    // So that the page can read why the request itself is refused.
    ...["/api/nothing", "/api/v9/users/me", "/api/v9/graphql", "/api/V1/trpc/user.me"],
  ])("of an allowed origin is answered: %s", async (path) => {
    const answer = await preflight(path, APP);
    expect([answer.status, answer.text]).toEqual([204, ""]);
    expect(answer.headers.get("access-control-allow-origin")).toBe(APP);
    expect(list(answer.headers.get("access-control-allow-methods"))).toEqual(
      expect.arrayContaining(["get", "post", "put", "patch", "delete"]),
    );
    expect(list(answer.headers.get("access-control-allow-headers"))).toEqual(
      expect.arrayContaining([
        ...["authorization", "x-api-key", "content-type", "last-event-id", "x-api-version"],
        ...["if-none-match", "trpc-accept"],
      ]),
    );
    expect(answer.headers.has("access-control-allow-credentials")).toBe(false);
    expect(list(answer.headers.get("vary"))).toContain("origin");
    expect(answer.headers.get("x-request-id")).toMatch(/./);
    expect(answer.headers.get("x-api-version")).toBe(path.includes("/v2/") ? "v2" : "v1");
    // An address that does not exist has no successor.
    expect(/\/(v9|V1)\//.test(path) && answer.headers.has("link")).toBe(false);
  });

  it.each(STRANGERS)("of another origin is refused: %s", async (origin) => {
    const answer = await preflight("/api/users/me", origin);
    expect(answer.status).toBe(405);
    expect(cors(answer)).toEqual([]);
    expect(list(answer.headers.get("vary"))).toContain("origin");
  });

  it.each([
    "/api/webhooks/provider-a",
    "/api/v1/webhooks/provider-a",
    "/api/v9/webhooks/provider-a",
    "/api/auth/sign-in/email",
    "/api/cron/x",
  ])("is refused where no page may call: %s", async (path) => {
    const answer = await preflight(path, APP);
    expect([404, 405]).toContain(answer.status);
    expect(cors(answer)).toEqual([]);
  });

  it("of another origin is refused in an unknown version, too", async () => {
    const answer = await preflight("/api/v9/users/me", "https://evil.example.com");
    expect([answer.status, cors(answer)]).toEqual([404, []]);
  });

  it("requires Access-Control-Request-Method", async () => {
    expect((await send("OPTIONS", "/api/users/me", { origin: APP })).status).toBe(405);
  });
});

describe("a page of another origin", () => {
  it.each(STRANGERS)("gets no CORS headers: %s", async (origin) => {
    const response = await send("GET", "/api/users/me", { origin, key });
    expect(response.status).toBe(200);
    expect(cors(response)).toEqual([]);
    expect(list(response.headers.get("vary"))).toContain("origin");
  });

  it("gets no CORS headers from webhooks and sign-in, even if it is allowed", async () => {
    for (const [method, path] of [
      ["POST", "/api/webhooks/provider-a"],
      ["GET", "/api/auth/get-session"],
      ["POST", "/api/auth/sign-in/email"],
    ] as const) {
      expect(cors(await send(method, path, { origin: APP, body: {} }))).toEqual([]);
    }
  });

  it("gets no CORS headers when no origin is configured", async () => {
    expect((await preflight("/api/users/me", APP, closed)).status).toBe(405);
    const response = await send("GET", "/api/users/me", { origin: APP, key }, closed);
    expect(cors(response)).toEqual([]);
    expect(list(response.headers.get("vary"))).not.toContain("origin");
  });
});
