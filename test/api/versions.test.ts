import { createHash } from "node:crypto";
import fc from "fast-check";
import { Hono } from "hono";
import { getPath } from "hono/utils/url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { toVersion } from "../../src/api/versions/list-shape.ts";
import { successorLink } from "../../src/api/versions/version-headers.ts";
import { unversionedUrl, versionedPath } from "../../src/api/versions/version-path.ts";
import { type Versioned, type Versioning, versioning } from "../../src/api/versions/versioning.ts";
import { defineVersions, successorOf, versionStatus } from "../../src/domain/api-version.ts";
import type { HonoEnv } from "../../src/http/hono-env.ts";
import { readBody } from "../../src/http/read-body.ts";
import real from "../../versions.config.ts";
import { listen, sendRequest } from "../support/http.ts";

const APP_URL = "https://app.example.com";

type Environment = HonoEnv & Versioned;

/** An app with every kind of response, behind the middleware for versions. */
function appOf(options: Partial<Versioning> = {}): Hono<Environment> {
  const app = new Hono<Environment>({ getPath: versionedPath });
  app.use(versioning({ catalog: real, appUrl: APP_URL, format: "simple", ...options }));
  app.get("/api/version", (c) => c.json(versionStatus(real)));
  app.get("/api/users", (c) =>
    c.json(toVersion(c.get("apiVersion"), { plural: "users", items: [1], nextCursor: null })),
  );
  app.get("/api/path/*", (c) => c.json({ path: c.req.path }));
  app.get("/api/linked", (c) => {
    c.header("link", "</api/openapi.json>; rel=service-desc");
    return c.json({}, 200, { vary: "accept" });
  });
  app.get(
    "/api/raw",
    () => new Response("made elsewhere", { headers: { link: "</>; rel=up", vary: "accept" } }),
  );
  app.get("/api/fetched", () => fetch("data:text/plain,fetched"));
  app.get("/api/streamed", () => new Response(new Blob(["a", "b"]).stream()));
  app.get("/api/broken", () => {
    throw new Error("postgres://user:password@db");
  });
  app.all("/api/only-post", (c) => c.json({ error: "Method not allowed" }, 405, { allow: "POST" }));
  app.post("/api/webhooks/provider-a", async (c) => {
    const body = await readBody(c.env.incoming, 1_000_000);
    return c.json({ sha256: createHash("sha256").update(body).digest("hex") });
  });
  app.notFound((c) => c.json({ error: "Not found" }, 404));
  app.onError((_, c) => c.json({ error: "Internal server error" }, 500));
  return app;
}

const v1Deprecated = defineVersions({
  current: "v1",
  versions: {
    v1: { deprecated: true, deprecatedAt: "2026-12-01", sunset: "2027-06-01" },
    v2: { deprecated: false },
  },
});

describe("the catalog of versions", () => {
  it("has v1 as the current version and v2, neither deprecated", () => {
    expect(versionStatus(real)).toEqual({
      current: "v1",
      supported: ["v1", "v2"],
      versions: { v1: { deprecated: false }, v2: { deprecated: false } },
    });
  });

  it("is ordered by number; the successor is the next version", () => {
    const version = { deprecated: false };
    const catalog = defineVersions({ current: "v9", versions: { v10: version, v2: version, v9: version } });
    expect(catalog.supported).toEqual(["v2", "v9", "v10"]);
    expect(["v2", "v9", "v10"].map((name) => successorOf(name, catalog))).toEqual(["v9", "v10", null]);
  });

  it("is returned by GET /api/version", () => {
    expect(versionStatus(v1Deprecated).versions).toEqual({
      v1: { deprecated: true, sunset: "2027-06-01" },
      v2: { deprecated: false },
    });
  });

  const notDeprecated = { deprecated: false };
  it.each([
    [
      "a current version that is none",
      { current: "v3", versions: { v1: notDeprecated } },
      'versions.config.ts: current: "v3" is not among the versions',
    ],
    [
      "a current version that every object has",
      { current: "toString", versions: { v1: notDeprecated } },
      /toString/,
    ],
    ["no versions", { current: "v1", versions: {} }, /is not among the versions/],
    [
      "a name that is none",
      { current: "v1", versions: { v1: notDeprecated, two: notDeprecated } },
      "versions.config.ts: versions.two: use v and a number, such as v1",
    ],
    [
      "two names for one number",
      { current: "v1", versions: { v1: notDeprecated, v01: notDeprecated } },
      /v01/,
    ],
    [
      "a sunset that is no date",
      { current: "v1", versions: { v1: { ...notDeprecated, sunset: "soon" } } },
      /ISO date/,
    ],
    [
      "a day that is not",
      { current: "v1", versions: { v1: { ...notDeprecated, sunset: "2027-02-30" } } },
      "versions.config.ts: versions.v1.sunset: use an ISO date such as 2027-06-01",
    ],
    ["an unknown word", { current: "v1", versions: { v1: { deprecated: false, sunste: "x" } } }, /sunste/],
    [
      "the date of a deprecation that is not one",
      { current: "v1", versions: { v1: { ...notDeprecated, deprecatedAt: "2027-01-01" } } },
      /not deprecated/,
    ],
    [
      "a sunset before the deprecation",
      {
        current: "v1",
        versions: { v1: { deprecated: true, deprecatedAt: "2027-01-02", sunset: "2027-01-01" } },
      },
      /sunset is earlier/,
    ],
  ])("rejects %s, and names it", (_, definition, problem) => {
    expect(() => defineVersions(definition as never)).toThrow(problem);
  });
});

describe("the routed path", () => {
  const routed = (path: string) => versionedPath({ url: `http://localhost${path}` });

  it.each([
    ["/api/v1/users", "/api/users"],
    ["/api/v2/users/me?x=/api/v1/", "/api/users/me"],
    ["/api/v77/users", "/api/users"],
    ["/api/v1/users#/api/v2/x", "/api/users"],
    ["/api/v1/a%20b/%2F", "/api/a b/%2F"],
    ["/api/v1/v2/users", "/api/v2/users"],
    ["/api/v1//users", "/api//users"],
    ["/api/v1", "/api/v1"],
    ["/api/v1/", "/api/v1/"],
    ["/api/v1/?x=1", "/api/v1/"],
    ["/api/v/users", "/api/v/users"],
    ["/api/vault/users", "/api/vault/users"],
    ["/api/V1/users", "/api/V1/users"],
    ["/api/v%31/users", "/api/v1/users"],
    ["/%61pi/v1/users", "/api/v1/users"],
    ["//api/v1/users", "//api/v1/users"],
    ["/v1/api/users", "/v1/api/users"],
    ["/other/api/v1/users", "/other/api/v1/users"],
  ])("routes %s to %s", (path, expected) => {
    expect(routed(path)).toBe(expected);
  });

  const anything = fc.oneof(
    fc.string(),
    fc.string({
      unit: fc.constantFrom("/", "v", "1", "2", "%", "a", "p", "i", ".", "?", "#", "%76", "%2f", "é"),
    }),
  );

  it("never throws, for any URL", () => {
    fc.assert(
      fc.property(fc.oneof(anything, fc.webUrl({ withQueryParameters: true })), (url) => {
        versionedPath({ url });
        unversionedUrl(url);
      }),
    );
  });

  it("drops one version prefix, not two", () => {
    fc.assert(
      fc.property(fc.constantFrom("v1", "v2", "v10"), anything, (version, rest) => {
        const url = `http://localhost/api/${version}/${rest}`;
        const isKept = rest === "" || rest.startsWith("?") || rest.startsWith("#");
        const without = isKept ? url : `http://localhost/api/${rest}`;
        expect(versionedPath({ url })).toBe(getPath(new FakeRequest(without) as Request));
        expect(unversionedUrl(url)).toBe(without);
      }),
      { numRuns: 2_000 },
    );
  });

  it("is unchanged without a prefix", () => {
    fc.assert(
      fc.property(anything, (rest) => {
        const url = `http://localhost/${rest}`;
        if (/^api\/v\d+\//.test(rest)) return;
        expect(versionedPath({ url })).toBe(getPath(new FakeRequest(url) as Request));
      }),
    );
  });
});

/** `Request` itself accepts no malformed URL. */
class FakeRequest {
  readonly url: string;
  constructor(url: string) {
    this.url = url;
  }
}

describe("the link to the successor", () => {
  it("keeps the query and drops the fragment", () => {
    expect(successorLink("https://app.example.com/api/v2/", "users?a=1&b=,#x")).toBe(
      '<https://app.example.com/api/v2/users?a=1&b=,>; rel="successor-version"',
    );
  });

  it("stays on our origin for any path", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (rest) => {
        const link = successorLink("https://app.example.com/api/v2/", rest);
        const [, address = ""] = /^<([^<>"\s\\]+)>; rel="successor-version"$/.exec(link) ?? [];
        expect(address).toMatch(/^https:\/\/app\.example\.com\/api\/v2\/[!-~]*$/);
        expect(new URL(address).origin).toBe("https://app.example.com");
        expect(() => new Headers({ link })).not.toThrow();
      }),
      { numRuns: 1_000 },
    );
  });
});

describe("a versioned response", () => {
  let server: Awaited<ReturnType<typeof listen>>;
  beforeAll(async () => {
    server = await listen(appOf());
  });
  afterAll(() => server.close());

  const get = (path: string, headers: Record<string, string> = {}) =>
    sendRequest(server.url, "GET", path, { headers });

  it.each([
    ["the current one", "/api/users", {}, "v1", { users: [1], nextCursor: null }],
    ["that of the path", "/api/v2/users", {}, "v2", { data: [1], nextCursor: null }],
    ["that of the header", "/api/users", { "X-API-Version": "v2" }, "v2", { data: [1], nextCursor: null }],
    [
      "that of the path and not of the header",
      "/api/v1/users",
      { "X-API-Version": "v2" },
      "v1",
      { users: [1], nextCursor: null },
    ],
    ["that of the path, with a header that is none", "/api/v2/users", { "X-API-Version": "v9" }, "v2", null],
  ])("is sent for %s", async (_, path, headers, version, body) => {
    const response = await get(path, headers);
    expect(response.status).toBe(200);
    expect(response.fields["x-api-version"]).toBe(version);
    if (body) expect(response.body).toEqual(body);
    expect(response.fields).not.toHaveProperty("deprecation");
    expect(response.fields).not.toHaveProperty("sunset");
  });

  it("has Vary: X-API-Version exactly when the path has no version", async () => {
    expect((await get("/api/users")).fields.vary).toBe("X-API-Version");
    expect((await get("/api/users", { "X-API-Version": "v2" })).fields.vary).toBe("X-API-Version");
    expect((await get("/api/v1/users")).fields).not.toHaveProperty("vary");
  });

  it("links the same path in the successor version, and nothing in the newest", async () => {
    const link = `<${APP_URL}/api/v2/users?limit=1&cursor=a%2Fb>; rel="successor-version"`;
    expect((await get("/api/v1/users?limit=1&cursor=a%2Fb")).fields.link).toBe(link);
    expect((await get("/api/users?limit=1&cursor=a%2Fb")).fields.link).toBe(link);
    expect((await get("/api/v2/users")).fields).not.toHaveProperty("link");
  });

  it.each([
    ["/api/v1/path/x>;rel=next,<//evil.example", `${APP_URL}/api/v2/path/x%3E;rel=next,%3C//evil.example`],
    ['/api/v1/path/"x"', `${APP_URL}/api/v2/path/%22x%22`],
    ["/api/v1//evil.example/x", `${APP_URL}/api/v2//evil.example/x`],
    ["/api/v1/path/..%2f..%2fevil", `${APP_URL}/api/v2/path/..%2f..%2fevil`],
    ["/api/v1/path/@evil.example", `${APP_URL}/api/v2/path/@evil.example`],
  ])("links %s to our own origin", async (path, expected) => {
    expect((await get(path)).fields.link).toBe(`<${expected}>; rel="successor-version"`);
  });

  it("is routed to the path without its version", async () => {
    expect((await get("/api/v1/path/a%20b/v1/c")).body).toEqual({ path: "/api/path/a b/v1/c" });
    expect((await get("/api/v1/version")).status).toBe(200);
    expect((await sendRequest(server.url, "HEAD", "/api/v1/users")).fields["x-api-version"]).toBe("v1");
  });

  it.each([
    ["404", "/api/v1/nothing-here", 404],
    ["405", "/api/v1/only-post", 405],
    ["500", "/api/v1/broken", 500],
    ["a stream", "/api/v1/streamed", 200],
    ["a Response of the handler's own", "/api/v1/raw", 200],
    ["a Response that was fetched, and is read-only", "/api/v1/fetched", 200],
  ])("has its headers when it is %s", async (_, path, status) => {
    const response = await get(path);
    expect(response.status).toBe(status);
    expect(response.fields["x-api-version"]).toBe("v1");
    expect(response.fields.link).toContain(
      `<${APP_URL}${path.replace("v1", "v2")}>; rel="successor-version"`,
    );
    expect(response.text).not.toContain("password");
  });

  it.each(["/api/linked", "/api/raw"])("keeps the Link and Vary headers that %s has set", async (path) => {
    const { fields } = await get(path);
    expect(fields.link).toMatch(/^<\/[^>]*>; rel=\S+, <https:.*>; rel="successor-version"$/);
    expect(fields.vary).toBe("accept, X-API-Version");
  });

  it("receives the raw bytes of the request", async () => {
    const body = Buffer.from([0x7b, 0xff, 0xfe, 0x00, 0x0d, 0x0a, 0xef, 0xbb, 0xbf, 0x7d]);
    const sha256 = createHash("sha256").update(body).digest("hex");
    for (const prefix of ["/api", "/api/v1", "/api/v2"]) {
      const response = await sendRequest(server.url, "POST", `${prefix}/webhooks/provider-a`, { body });
      expect(response.body).toEqual({ sha256 });
    }
  });

  it.each([
    ["v3, which there is not", "/api/v3/users"],
    ["v0", "/api/v0/users"],
    ["v01", "/api/v01/users"],
    ["a number beyond all numbers", `/api/v${"9".repeat(400)}/users`],
    ["two versions", "/api/v1/v2/users"],
    ["the same version twice", "/api/v1/v1/users"],
    ["an encoded letter", "/api/%761/users"],
    ["an encoded digit", "/api/v%31/users"],
    ["an encoded second version", "/api/v1/%76%32/users"],
    ["an encoded api", "/%61pi/v1/users"],
    ["an encoded slash", "/api/v1%2fusers"],
    ["a doubly encoded letter", "/api/%25761/users"],
    ["an empty segment before it", "/api//v1/users"],
    ["an empty segment after it", "/api/v1//users"],
    ["a capital letter", "/api/V1/users"],
    ["nothing behind it", "/api/v1"],
    ["only a slash behind it", "/api/v1/"],
    ["only a query behind it", "/api/v1/?limit=1"],
    ["a foreign digit", "/api/v%EF%BC%91/users"],
    ["a suffix", "/api/v1.0/users"],
    ["the whole prefix twice", "/api/v1/api/v1/users"],
  ])("returns 404 for %s", async (_, path) => {
    const response = await get(path, { "X-API-Version": "v2" });
    expect(response.status).toBe(404);
    expect(response.body).toMatchObject({ error: expect.stringMatching(/^Not found/) });
    expect(response.fields["x-api-version"]).toMatch(/^v[12]$/);
  });

  it.each([
    "/api/v3/users",
    "/api/v1/v2/users",
    "/api/v1/v1",
    "/api/%761/users",
    "/api/v%31/users",
    "/api/v1/%76%32/users",
    "/api//v1/users",
    "/api/v1//v2/users",
    "/api/V1/users",
    "/api/v1",
    "/api/v1/",
  ])("returns 404 for %s, even where a route accepts any path", async (path) => {
    const app = new Hono<Environment>({ getPath: versionedPath });
    app.use(versioning({ catalog: real, appUrl: APP_URL, format: "simple" }));
    app.all("*", (c) => c.text("reached"));
    expect((await app.request(path)).status).toBe(404);
    expect((await app.request("/api/v1/anything")).status).toBe(200);
  });

  it.each<[string, Record<string, string>, object]>([
    ["/api/v2/v1/users", {}, { "x-api-version": "v2" }],
    ["/api/v2/v9/users", { "X-API-Version": "v1" }, { "x-api-version": "v2" }],
    ["/api/V1/users", { "X-API-Version": "v2" }, { "x-api-version": "v2", vary: "X-API-Version" }],
    ["/api/v1", { "X-API-Version": "v2" }, { "x-api-version": "v2", vary: "X-API-Version" }],
  ])("refuses %s with %j in v2, which the request chose", async (path, headers, fields) => {
    const response = await get(path, headers);
    expect(response.status).toBe(404);
    expect(response.fields).toMatchObject(fields);
    expect(response.body).toMatchObject({ reason: "unknown_version", params: { supported: ["v1", "v2"] } });
  });

  it.each<[string, Record<string, string>]>([
    ["/api/v1/v2/users", { "X-API-Version": "v2" }],
    ["/api/v3/users", { "X-API-Version": "v2" }],
    ["/api/V1/users", {}],
    ["/api/V1/users", { "X-API-Version": "v9" }],
  ])("refuses %s with %j in v1", async (path, headers) => {
    const response = await get(path, headers);
    expect(response.status).toBe(404);
    expect(response.fields["x-api-version"]).toBe("v1");
    expect(Object.keys(response.body as object)).toEqual(["error"]);
  });

  it("resolves dot segments in a path", async () => {
    expect((await get("/api/v1/../v2/users")).fields["x-api-version"]).toBe("v2");
    expect((await get("/api/v1/%2e%2e/users")).fields.vary).toBe("X-API-Version");
    expect((await get("/api/v1/..%2fv2/users")).status).toBe(404);
  });

  it.each([["v3"], ["V2"], ["2"], ["v1, v2"], [""], ["__proto__"], ["constructor"], ["v1\u00a0"]])(
    "returns 400 for the header %j, and lists the versions",
    async (value) => {
      const response = await get("/api/users", { "X-API-Version": value });
      expect(response.status).toBe(400);
      expect(response.body).toEqual({ error: "X-API-Version: expected one of v1, v2" });
      expect(response.fields.vary).toBe("X-API-Version");
    },
  );

  it("returns 400 for two different X-API-Version headers", async () => {
    const headers = { "X-API-Version": ["v1", "v2"] };
    expect((await sendRequest(server.url, "GET", "/api/users", { headers })).status).toBe(400);
  });
});

describe("a version that is deprecated by configuration", () => {
  it.each([
    ["simple", "true", "2027-06-01"],
    ["rfc", `@${Date.UTC(2026, 11, 1) / 1000}`, "Tue, 01 Jun 2027 00:00:00 GMT"],
  ] as const)("is announced in all four headers (%s)", async (format, deprecation, sunset) => {
    const server = await listen(appOf({ catalog: v1Deprecated, format }));
    try {
      for (const path of ["/api/v1/users", "/api/users", "/api/v1/nothing-here", "/api/v1/broken"]) {
        const { fields: headers } = await sendRequest(server.url, "GET", path);
        expect(headers).toMatchObject({
          "x-api-version": "v1",
          deprecation,
          sunset,
          link: `<${APP_URL}/api/v2/${path.replace(/^\/api\/(v1\/)?/, "")}>; rel="successor-version"`,
        });
      }
      const { fields: headers } = await sendRequest(server.url, "GET", "/api/v2/users");
      expect(headers["x-api-version"]).toBe("v2");
      for (const name of ["deprecation", "sunset", "link"]) expect(headers).not.toHaveProperty(name);
    } finally {
      await server.close();
    }
  });

  it("sends the deprecation date 0 when none is configured (rfc)", async () => {
    const catalog = defineVersions({ current: "v1", versions: { v1: { deprecated: true } } });
    const response = await appOf({ catalog, format: "rfc" }).request("/api/users");
    expect(response.headers.get("deprecation")).toBe("@0");
    expect(response.headers.has("sunset")).toBe(false);
    expect(response.headers.has("link")).toBe(false);
  });
});
