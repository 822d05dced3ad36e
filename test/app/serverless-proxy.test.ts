import { afterEach, expect, it } from "vitest";
import { DEFAULT_POLICIES } from "../../src/limits/policies.ts";
import { testLimits } from "../support/guarded-app.ts";

/** Whose types are those of pages, which are checked apart. */
const load = (path: string) => import(path);

const HOST = Symbol.for("tollgate.host");
const APP_URL = "https://app.example.com";
const logged: object[] = [];

afterEach(() => {
  delete (globalThis as { [HOST]?: unknown })[HOST];
  logged.length = 0;
});

type Sent = { method?: string; path?: string; headers?: Record<string, string> };

/** What a page's request is answered with where it stops, or passed on to Next.js with. */
async function send({ method = "GET", path = "/settings", headers = {} }: Sent, host: object = {}) {
  const { proxy } = await load("../../src/proxy.serverless.ts");
  const { NextRequest } = await load("next/server");
  (globalThis as { [HOST]?: unknown })[HOST] = Promise.resolve({
    appUrl: APP_URL,
    clientAddress: (forwardedFor: string | null) => forwardedFor ?? "unknown",
    deps: { limits: testLimits() },
    identify: async () => ({ setCookies: [] }),
    log: { error: (fields: object) => logged.push(fields) },
    ownOrigins: () => [APP_URL],
    ...host,
  });
  const response: Response = await proxy(new NextRequest(`${APP_URL}${path}`, { method, headers }));
  const passed = Object.fromEntries(
    [...response.headers].flatMap(([name, value]) =>
      name.startsWith("x-middleware-request-") ? [[name.slice("x-middleware-request-".length), value]] : [],
    ),
  );
  return { response, passed, isPassedOn: response.headers.get("x-middleware-next") === "1" };
}

it.each<[string, number, Sent]>([
  ["another method", 405, { method: "DELETE" }],
  ["too many parameters", 414, { path: `/settings?${"a&".repeat(100)}a` }],
  ["a write of another site", 403, { method: "POST", headers: { "sec-fetch-site": "cross-site" } }],
  ["a write of another origin", 403, { method: "POST", headers: { origin: "https://elsewhere.example" } }],
  ["a large body", 413, { method: "POST", headers: { origin: APP_URL, "content-length": "65537" } }],
])("refuses %s with %d, in text that nobody stores", async (_, status, sent) => {
  const { response, isPassedOn } = await send(sent);
  expect([response.status, isPassedOn]).toEqual([status, false]);
  expect(response.headers.get("content-type")).toBe("text/plain; charset=utf-8");
  expect(response.headers.get("cache-control")).toBe("no-store");
  expect(response.headers.get("content-security-policy")).toMatch(/frame-ancestors 'none'/);
  expect(response.headers.get("allow")).toBe(status === 405 ? "GET, HEAD, POST" : null);
  expect(await response.text()).toMatch(/^[A-Z][a-z ]+\n$/);
});

it.each<Sent>([
  { method: "HEAD" },
  { path: `/settings?${"a&".repeat(99)}a` },
  {
    method: "POST",
    headers: { origin: APP_URL, "sec-fetch-site": "same-origin", "content-length": "65536" },
  },
])("passes on %o", async (sent) => {
  expect((await send(sent)).isPassedOn).toBe(true);
});

it("passes on what it knows of a request, in place of what a client says", async () => {
  const headers = {
    "x-tollgate-request": '{"id":"forged","nonce":"forged","path":"/admin"}',
    "content-security-policy": "script-src 'nonce-forged'",
    "user-agent": "x".repeat(600),
  };
  const { response, passed } = await send({ path: "/settings?tab=1", headers });
  const known = JSON.parse(passed["x-tollgate-request"] ?? "null");
  expect(known).toEqual({
    id: response.headers.get("x-request-id"),
    nonce: expect.stringMatching(/^[A-Za-z0-9+/]{22}==$/),
    path: "/settings?tab=1",
  });
  const policy = response.headers.get("content-security-policy");
  expect(policy).toContain(`'nonce-${known.nonce}'`);
  expect(passed["content-security-policy"]).toBe(policy);
  expect(passed["user-agent"]).toHaveLength(500);
});

it("charges a page to its client, and refuses it over the limit", async () => {
  const keys: string[] = [];
  const policies = { ...DEFAULT_POLICIES, pages: { limit: 1, windowSeconds: 60 } };
  const limits = { ...testLimits(), policies };
  const deps = {
    limits: {
      ...limits,
      rateLimit: (key: string, options: { limit: number; windowSeconds: number }) => {
        keys.push(key);
        return limits.rateLimit(key, options);
      },
    },
  };
  const headers = { "x-forwarded-for": "192.0.2.7" };
  const served = await send({ headers }, { deps });
  expect([served.isPassedOn, served.response.headers.get("x-ratelimit-remaining")]).toEqual([true, "0"]);
  const { response, isPassedOn } = await send({ headers }, { deps });
  expect([response.status, isPassedOn, response.headers.get("x-ratelimit-remaining")]).toEqual([
    429,
    false,
    "0",
  ]);
  expect(Number(response.headers.get("retry-after"))).toBeGreaterThan(0);
  const form = await send({ headers: { ...headers, "next-action": "of a form" } }, { deps });
  expect(form.response.headers.get("content-type")).toBe("text/plain");
  const retryAfterSeconds = Number(form.response.headers.get("retry-after"));
  expect(await form.response.json()).toEqual({ code: "rate_limited", retryAfterSeconds });
  expect(keys).toEqual(Array(3).fill(expect.stringContaining("192.0.2.7")));
});

it("renews the session, and serves the page although that fails", async () => {
  const cookies = ["a=1; Path=/", "b=2; Path=/"];
  const identified: object[] = [];
  const identify = async (credentials: { header(name: string): string | undefined }) => {
    identified.push({ ...credentials, header: credentials.header("cookie") });
    return { setCookies: cookies };
  };
  const sent = { headers: { cookie: "session=1", "x-forwarded-for": "192.0.2.7" } };
  const { response } = await send(sent, { identify });
  expect(response.headers.getSetCookie()).toEqual(cookies);
  expect(identified).toEqual([{ address: "192.0.2.7", header: "session=1", sessionsOnly: true }]);
  const failing = await send(sent, { identify: () => Promise.reject(new Error("no database")) });
  expect([failing.isPassedOn, failing.response.headers.getSetCookie()]).toEqual([true, []]);
});

it("answers a defect with 500 and logs it, without its text", async () => {
  const clientAddress = () => {
    throw new Error("secret");
  };
  const { response } = await send({}, { clientAddress });
  expect([response.status, await response.text()]).toEqual([500, "Internal server error\n"]);
  expect(logged).toEqual([{ err: expect.any(Error), requestId: response.headers.get("x-request-id") }]);
});

it("is unavailable while the limiter has no store", async () => {
  const { LimiterUnavailable } = await load("../../src/limits/rate-limit.ts");
  const limits = { ...testLimits(), rateLimit: () => Promise.reject(new LimiterUnavailable()) };
  const { response, isPassedOn } = await send({}, { deps: { limits } });
  expect([response.status, isPassedOn, response.headers.get("retry-after")]).toEqual([503, false, "5"]);
});
