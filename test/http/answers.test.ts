import { Hono } from "hono";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { versionedPath } from "../../src/api/versions/version-path.ts";
import { type Versioned, versioning } from "../../src/api/versions/versioning.ts";
import { REASONS, type Reason } from "../../src/domain/refusals/reasons.ts";
import { Refusal, type RefusalFacts } from "../../src/domain/refusals/refusal.ts";
import { answerError, onlyErrors } from "../../src/http/error-response.ts";
import type { HonoEnv } from "../../src/http/hono-env.ts";
import { apiHeaders } from "../../src/http/security-headers.ts";
import { statusOf } from "../../src/http/status-of.ts";
import versions from "../../versions.config.ts";
import { listen, sendRequest } from "../support/http.ts";

const SECRET = "postgres://tollgate:hunter2@db.internal:5432/tollgate";

const EXAMPLE = {
  params: {
    plan: "Pro",
    retryAfterSeconds: 30,
    min: 1,
    max: 50,
    origins: [],
    supported: [],
    problem: "missing",
    cause: "no_provider_id",
  },
  field: "seats",
};

class DatabaseUnavailable extends Error {
  override name = "DatabaseUnavailable";
}

describe("a response of the API", () => {
  const defects: unknown[] = [];
  let http: Awaited<ReturnType<typeof listen>>;
  let https: typeof http;

  function app(appUrl: string) {
    const api = new Hono<HonoEnv & Versioned>({ getPath: versionedPath });
    api.use(apiHeaders(appUrl));
    api.use(versioning({ catalog: versions, appUrl, format: "simple" }));
    api.use(onlyErrors);
    api.get("/api/mine", (c) => c.json({}));
    api.get("/api/public", (c) => {
      c.header("cache-control", "public, max-age=60");
      return c.json({});
    });
    api.get("/api/docs", (c) => c.html("<p>", 200, { "content-security-policy": "default-src 'self'" }));
    api.get("/api/raw", () => new Response("x", { headers: { "cache-control": "public, max-age=5" } }));
    api.get("/api/fetched", () => fetch("data:text/plain,x"));
    api.get("/api/moved", () => Response.redirect("http://localhost/api/mine"));
    api.get("/api/refused/:code", (c) => {
      c.header("cache-control", "public, max-age=60");
      throw new Refusal({ ...EXAMPLE, reason: c.req.param("code") as Reason } as RefusalFacts);
    });
    api.get("/api/broken/:how", (c) => {
      const broken: Record<string, unknown> = {
        error: new Error(`connect ECONNREFUSED ${SECRET}`),
        database: new DatabaseUnavailable(SECRET),
        caused: new Error("query failed", { cause: new Error(SECRET) }),
        text: SECRET,
        nothing: undefined,
        object: { message: SECRET, stack: SECRET, code: "not_found" },
        "like a refusal": Object.assign(new Error(SECRET), { code: "not_found", status: 404 }),
      };
      throw broken[c.req.param("how")];
    });
    api.notFound((c) => c.json({ error: "Not found" }, 404));
    api.onError((error, c) => answerError(c, error, (defect) => defects.push(defect)));
    return api;
  }

  beforeAll(async () => {
    http = await listen(app("http://localhost:3000"));
    https = await listen(app("https://app.example.com"));
  });
  afterAll(async () => {
    await http.close();
    await https.close();
  });

  const SAFE = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    "cross-origin-resource-policy": "same-origin",
  };

  it.each([
    ["/api/mine", 200],
    ["/api/v2/mine", 200],
    ["/api/nothing", 404],
    ["/api/v9/mine", 404],
    ["/api/broken/error", 500],
    ["/api/refused/unauthorized", 401],
    ["/api/refused/rate_limited", 429],
    ["/api/fetched", 200],
    ["/api/moved", 302],
  ])("has no-store and cross-origin headers: %s", async (path, status) => {
    const response = await sendRequest(http.url, "GET", path);
    expect(response.status).toBe(status);
    expect(response.fields).toMatchObject({ ...SAFE, "cache-control": "no-store" });
    expect(response.fields["x-api-version"]).toBeDefined();
  });

  it("keeps the route's own Cache-Control and policy", async () => {
    const open = await sendRequest(http.url, "GET", "/api/public");
    expect(open.fields).toMatchObject({ ...SAFE, "cache-control": "public, max-age=60" });
    const raw = await sendRequest(http.url, "GET", "/api/raw");
    expect(raw.fields).toMatchObject({ ...SAFE, "cache-control": "public, max-age=5" });
    const docs = await sendRequest(http.url, "GET", "/api/docs");
    expect(docs.fields).toMatchObject({ ...SAFE, "content-security-policy": "default-src 'self'" });
  });

  it("has Strict-Transport-Security only on https", async () => {
    for (const path of ["/api/mine", "/api/raw", "/api/nothing"]) {
      expect((await sendRequest(https.url, "GET", path)).fields["strict-transport-security"]).toBe(
        "max-age=31536000",
      );
      expect((await sendRequest(http.url, "GET", path)).fields).not.toHaveProperty(
        "strict-transport-security",
      );
    }
  });

  it.each(Object.entries(REASONS).map(([reason, { code }]) => [reason, statusOf[code]] as const))(
    "has for the reason %s the status %d, and the reason in v2 only",
    async (reason, status) => {
      const response = await sendRequest(http.url, "GET", `/api/refused/${reason}`);
      expect(response.status).toBe(status);
      const error = new Refusal({ ...EXAMPLE, reason } as RefusalFacts).message;
      expect(response.body).toEqual({ error });
      const inV2 = await sendRequest(http.url, "GET", `/api/v2/refused/${reason}`);
      expect(inV2.status).toBe(status);
      expect(inV2.body).toEqual({ error, reason, params: { field: "seats", ...EXAMPLE.params } });
      expect(response.fields["cache-control"]).toBe("no-store");
      expect(response.fields["www-authenticate"]).toBe(
        status === 401 ? 'Bearer realm="tollgate"' : undefined,
      );
      expect(response.fields["retry-after"]).toBe({ 429: "30", 503: "5" }[status as number]);
    },
  );

  it.each([
    ["error", 500, "Internal server error"],
    ["caused", 500, "Internal server error"],
    ["text", 500, "Internal server error"],
    ["nothing", 500, "Internal server error"],
    ["object", 500, "Internal server error"],
    ["like a refusal", 500, "Internal server error"],
    ["database", 503, "Service unavailable"],
  ])("hides the cause (%s), and logs it", async (how, status, error) => {
    defects.length = 0;
    const response = await sendRequest(http.url, "GET", `/api/broken/${encodeURIComponent(how)}`);
    expect(response.status).toBe(status);
    expect(response.body).toEqual({ error });
    expect(JSON.stringify(response)).not.toMatch(/hunter2|db\.internal|at .*\.ts/);
    expect(response.fields["retry-after"]).toBe(status === 503 ? "5" : undefined);
    expect(response.fields["x-api-version"]).toBe("v1");
    expect(defects).toHaveLength(1);
  });

  it("does not log a refusal", async () => {
    defects.length = 0;
    await sendRequest(http.url, "GET", "/api/refused/subscription_exists");
    expect(defects).toEqual([]);
  });
});
