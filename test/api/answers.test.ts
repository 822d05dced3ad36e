import { describe, expect, it } from "vitest";
import type { Dependencies } from "../../src/operations/dependencies.ts";
import { freshDatabase } from "../support/database.ts";
import { freshServer } from "../support/fresh-server.ts";
import { listen, sendRequest } from "../support/http.ts";
import { createUser } from "../support/people.ts";
import { startTestServer } from "../support/server.ts";
import { GENEROUS_LIMITS } from "../support/variables.ts";
import { testApi } from "./unguarded-api.ts";

const REQUEST_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

const { test, server } = freshServer();

describe("every API response", () => {
  it("has its own request id for any status", async () => {
    const { cookie } = await createUser(test);
    const ids = new Set<string>();
    const requests: [number, string, string, object?][] = [
      [200, "GET", "/api/health"],
      [200, "GET", "/api/plans"],
      [200, "GET", "/api/users/me", { cookie }],
      [400, "GET", "/api/users?limit=x", { cookie }],
      [400, "GET", "/api/health", { headers: { "x-api-version": "v99" } }],
      [400, "POST", "/api/webhooks/provider-a", { body: {} }],
      [400, "POST", "/api/auth/sign-in/email", { body: {} }],
      [401, "GET", "/api/users/me"],
      [403, "GET", "/api/webhook-deliveries", { cookie }],
      [404, "GET", "/api/nothing"],
      [404, "GET", "/api/v99/users"],
      [404, "GET", "/api/auth/nothing"],
      [404, "GET", "//api/users/me", { cookie }],
      [405, "PUT", "/api/users"],
      [413, "PATCH", "/api/users/me", { cookie, body: { name: "x".repeat(70_000) } }],
      [503, "POST", "/api/portal", { cookie }],
    ];
    for (const [status, method, path, call] of requests) {
      const response = await sendRequest(server.url, method, path, call);
      expect([method, path, response.status]).toEqual([method, path, status]);
      expect(response.headers.get("x-request-id")).toMatch(REQUEST_ID);
      ids.add(response.headers.get("x-request-id") as string);
      if (status >= 400) {
        expect(response.body).toMatchObject({ error: expect.stringMatching(/./) });
        expect(response.headers.get("cache-control")).toBe("no-store");
      }
    }
    expect(ids.size).toBe(requests.length);
  });

  it.each([
    [400, "BAD_REQUEST", "/api/auth/get-session", { "x-api-version": "v99" }],
    [401, "UNAUTHORIZED", "/api/auth/get-session", { "x-api-key": "tg_unknown" }],
    [404, "NOT_FOUND", "/api/v99/auth/get-session", {}],
  ])("has for status %i the code %s below /api/auth", async (status, code, path, headers) => {
    const response = await sendRequest(server.url, "GET", path, { headers });
    expect(response).toMatchObject({ status, body: { code } });
    expect(response.body.message).toBe(response.body.error);
  });

  it("returns 405 with Allow for a method that the path does not have", async () => {
    for (const [method, path, allowed] of [
      ["POST", "/api/plans", ["GET"]],
      ["PUT", "/api/users/me", ["GET", "PATCH"]],
      ["PATCH", "/api/api-keys", ["GET", "POST"]],
      ["GET", "/api/checkout", ["POST"]],
      ["GET", "/api/api-keys/1", ["DELETE"]],
      ["DELETE", "/api/webhook-deliveries/1/replay", ["POST"]],
      ["GET", "/api/webhooks/provider-a", ["POST"]],
      ["GET", "/api/auth/sign-in/email", ["POST"]],
      ["POST", "/api/version", ["GET"]],
      ["GET", "/api/chat", ["POST"]],
      ["OPTIONS", "/api/users/me", ["GET", "PATCH"]],
    ] as const) {
      for (const prefix of ["", "/v1", "/v2"]) {
        const response = await sendRequest(server.url, method, path.replace("/api", `/api${prefix}`));
        expect([path, response.status, response.body.error]).toEqual([path, 405, "Method not allowed"]);
        const allow = response.headers
          .get("allow")
          ?.split(", ")
          .filter((method) => method !== "HEAD");
        expect(allow?.sort()).toEqual([...allowed].sort());
      }
    }
  });

  it("answers HEAD like GET, without the body", async () => {
    const { cookie } = await createUser(test);
    for (const [path, call] of [
      ["/api/plans", {}],
      ["/api/users/me", { cookie }],
      ["/api/users/me", {}],
      ["/api/users?limit=x", { cookie }],
      ["/api/nothing", {}],
    ] as const) {
      const got = await sendRequest(server.url, "GET", path, call);
      const head = await sendRequest(server.url, "HEAD", path, call);
      expect([path, head.status, head.text]).toEqual([path, got.status, ""]);
      const names = [
        "content-type",
        "cache-control",
        "x-api-version",
        "www-authenticate",
        "ratelimit-policy",
      ];
      for (const name of names) expect(head.headers.get(name)).toBe(got.headers.get(name));
    }
    const { cookie: counted } = await createUser(test);
    const remaining = [];
    for (const method of ["HEAD", "GET", "HEAD"]) {
      const { headers } = await sendRequest(server.url, method, "/api/users/me", { cookie: counted });
      remaining.push(100_000 - Number(headers.get("x-ratelimit-remaining")));
    }
    expect(remaining).toEqual([1, 2, 3]);
  });
});

describe("an internal error", () => {
  const SECRET = "postgres://tollgate:hunter2@db.internal:5432/tollgate";
  const THROWN = {
    "an error": () => new Error(`connect ECONNREFUSED ${SECRET}`),
    "an error with a cause": () => new Error("query failed", { cause: new Error(SECRET) }),
    "an error with a status of its own": () =>
      Object.assign(new Error(SECRET), { status: 418, code: "not_found" }),
    "an error that can answer for itself": () =>
      Object.assign(new Error(SECRET), { getResponse: () => new Response(SECRET, { status: 200 }) }),
    "an error that names itself like a refusal": () => Object.assign(new Error(SECRET), { name: "Refusal" }),
    "what is no error": () => SECRET,
    nothing: () => undefined,
  };

  it.each(Object.entries(THROWN))(
    "(%s) returns 500 without details, and is logged in full",
    async (_, thrown) => {
      const database = {
        run: async () => {
          throw thrown();
        },
      } as unknown as Dependencies["database"];
      const { app, noted } = testApi({ database });
      const served = await listen(app);
      const headers = { "x-test-user": "user_0" };
      for (const [method, path, body] of [
        ["GET", "/api/users/me"],
        ["GET", "/api/v2/subscriptions"],
        ["PATCH", "/api/users/me", { name: "New" }],
      ] as const) {
        noted.length = 0;
        const response = await sendRequest(served.url, method, path, { headers, body });
        expect([response.status, response.body.error]).toEqual([500, "Internal server error"]);
        const headerText = JSON.stringify([...response.headers]);
        for (const part of ["hunter2", "db.internal", "at ", "Error:"])
          expect(headerText).not.toContain(part);
        expect(response.headers.get("x-ratelimit-remaining")).toMatch(/^\d+$/);
        expect(noted).toEqual([
          {
            fields: expect.objectContaining({ requestId: response.headers.get("x-request-id") }),
            message: "request failed",
          },
        ]);
      }
      await served.close();
    },
  );

  it("returns 503 with Retry-After while the database is unreachable", async () => {
    const ownDatabase = await freshDatabase(0);
    const running = await startTestServer(ownDatabase.url, GENEROUS_LIMITS);
    const { cookie } = await createUser(ownDatabase);
    const { body: apiKey } = await sendRequest(running.url, "POST", "/api/api-keys", {
      cookie,
      body: { name: "CI" },
    });
    await ownDatabase.drop();
    for (const [method, path, call] of [
      ["GET", "/api/users/me", { cookie }],
      ["GET", "/api/users/me", { key: apiKey.key }],
      ["POST", "/api/checkout", { cookie, body: { planId: "pro" } }],
      ["GET", "/api/ready", {}],
      ["POST", "/api/auth/sign-in/email", { body: { email: "a@example.com", password: "12345678" } }],
    ] as const) {
      const response = await sendRequest(running.url, method, path, call);
      expect([path, response.status, response.body.error]).toEqual([path, 503, "Service unavailable"]);
      expect(Number(response.headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
      expect(response.headers.get("x-request-id")).toMatch(REQUEST_ID);
    }
    expect((await sendRequest(running.url, "GET", "/api/plans")).status).toBe(200);
    expect((await sendRequest(running.url, "GET", "/api/health")).status).toBe(200);
    await running.close();
  });
});
