import { type OutgoingHttpHeaders, request } from "node:http";
import { TRPCError } from "@trpc/server";
import superjson from "superjson";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { shapeOf } from "../../../src/api/rpc/errors.ts";
import { REASONS, type Reason } from "../../../src/domain/refusals/reasons.ts";
import { Refusal, type RefusalFacts } from "../../../src/domain/refusals/refusal.ts";
import { statusOf } from "../../../src/http/status-of.ts";
import type { Dependencies } from "../../../src/operations/dependencies.ts";
import { freshDatabase } from "../../support/database.ts";
import { freshServer } from "../../support/fresh-server.ts";
import { listen, type RequestOptions, sendRequest } from "../../support/http.ts";
import { createUser, type TestUser } from "../../support/people.ts";
import { startTestServer } from "../../support/server.ts";
import { GENEROUS_LIMITS } from "../../support/variables.ts";
import { testApi } from "../unguarded-api.ts";

const RENAME = "/api/trpc/user.updateProfile";
const BOUNDARY = "----a-form";

const { test, server } = freshServer({ users: 3 });
let person: TestUser;

beforeAll(async () => {
  person = await createUser(test);
});
afterAll(async () => {
  expect(await storedPerson()).toEqual({ name: person.name, onboarded: false });
});

async function storedPerson() {
  const [row] = await test.rows(`select name, onboarded from "user" where id = $1`, [person.id]);
  return row;
}

const send = (method: string, path: string, call: RequestOptions = {}) =>
  sendRequest(server.url, method, path, { cookie: person.cookie, ...call });

describe("a write that a foreign page could send", () => {
  const form = `--${BOUNDARY}\r\nContent-Disposition: form-data; name="json"\r\n\r\n{"name":"X"}\r\n--${BOUNDARY}--\r\n`;

  it.each([
    ["a form", "application/x-www-form-urlencoded", "json=%7B%22name%22%3A%22X%22%7D"],
    ["a form with files", `multipart/form-data; boundary=${BOUNDARY}`, form],
    ["a form with files, in capitals", `Multipart/Form-Data; boundary=${BOUNDARY}`, form],
    ["a file", "application/octet-stream", '{"json":{"name":"X"}}'],
    ["text", "text/plain", '{"json":{"name":"X"}}'],
    ["text that speaks of JSON", "text/plain; charset=application/json", '{"json":{"name":"X"}}'],
    ["a type that begins like JSON", "application/jsonp", '{"json":{"name":"X"}}'],
    ["JSON in another encoding", "application/json; charset=latin1", '{"json":{"name":"X"}}'],
    ["two types", "application/json, text/plain", '{"json":{"name":"X"}}'],
    ["a beacon's blob", "", '{"json":{"name":"X"}}'],
  ])("is refused because of its content type: %s", async (_, type, body) => {
    // Without Sec-Fetch-Site and Origin, as from no browser: the content type alone decides.
    for (const path of [
      RENAME,
      "/api/trpc/user.completeOnboarding",
      `${RENAME}?batch=1`,
      `/api/v1/trpc/user.completeOnboarding`,
    ]) {
      const response = await send("POST", path, {
        body: Buffer.from(body),
        headers: { "content-type": type },
      });
      expect([path, response.status, response.body.error.json.data.code]).toEqual([
        path,
        415,
        "UNSUPPORTED_MEDIA_TYPE",
      ]);
    }
    expect(await storedPerson()).toEqual({ name: person.name, onboarded: false });
  });

  it("is refused because of its origin, also as JSON", async () => {
    for (const headers of [
      { origin: "https://evil.example.com" },
      { "sec-fetch-site": "cross-site" },
      { "sec-fetch-site": "same-site", origin: "null" },
    ] as Record<string, string>[]) {
      for (const more of [{}, { "trpc-accept": "application/jsonl" }]) {
        const response = await send("POST", `${RENAME}?batch=1`, {
          body: { 0: { json: { name: "X" } } },
          headers: { ...headers, ...more },
        });
        expect([response.status, response.body.error.json.message]).toEqual([403, "Forbidden"]);
      }
    }
  });

  it("does not run by GET or HEAD", async () => {
    const input = encodeURIComponent('{"json":{"name":"X"}}');
    for (const path of [`${RENAME}?input=${input}`, "/api/trpc/user.completeOnboarding"]) {
      for (const headers of [{}, { "x-http-method-override": "POST", "content-type": "application/json" }]) {
        const response = await send("GET", path, { headers: headers as Record<string, string> });
        expect([response.status, response.headers.get("allow")]).toEqual([405, "POST"]);
        expect((await send("HEAD", path, { headers: headers as Record<string, string> })).status).toBe(405);
      }
    }
  });
});

describe("a malformed request", () => {
  it("returns 405 with Allow for another method", async () => {
    for (const method of ["PUT", "PATCH", "DELETE", "OPTIONS"]) {
      for (const path of ["/api/trpc/user.me", "/api/v2/trpc/user.me", "/api/trpc"]) {
        const response = await send(method, path);
        const data = {
          code: "METHOD_NOT_SUPPORTED",
          httpStatus: 405,
          reason: "method_not_allowed",
          params: {},
        };
        expect([method, response.status, response.body]).toMatchObject([
          method,
          405,
          { error: { json: { message: "Method not allowed", data } } },
        ]);
        expect(response.headers.get("cache-control")).toBe("no-store");
        expect(response.headers.get("allow")?.split(", ").sort()).toEqual(["GET", "HEAD", "POST"]);
      }
    }
  });

  it("answers HEAD like GET, without the body", async () => {
    for (const path of ["/api/trpc/user.me", "/api/trpc/user.nothing", "/api/trpc/user.list"]) {
      const got = await send("GET", path);
      const head = await send("HEAD", path);
      expect([head.status, head.text]).toEqual([got.status, ""]);
      for (const name of ["content-type", "x-api-version", "ratelimit-policy", "cache-control"]) {
        expect(head.headers.get(name)).toBe(got.headers.get(name));
      }
    }
  });

  it("returns 404 for an unknown procedure, without suggestions", async () => {
    for (const name of [
      "nothing",
      "user",
      "user.",
      "__proto__",
      "constructor",
      "user.me.call",
      "user%2Fme",
      "user/me",
      "",
      "_def",
    ]) {
      const response = await send("GET", `/api/trpc/${name}`);
      expect([name, response.status, response.body.error.json]).toEqual([
        name,
        404,
        {
          message: "No such procedure",
          code: -32004,
          data: expect.objectContaining({ code: "NOT_FOUND", httpStatus: 404 }),
        },
      ]);
    }
  });

  it.each([
    ["no JSON", "{"],
    ["a list", "[]"],
    ["text", '"json"'],
    ["a field twice", '{"json":{"name":"A"},"json":{"name":"B"}}'],
    ["a prototype", '{"json":{"__proto__":{"admin":true},"name":"X"}}'],
    ["a constructor", '{"json":{"constructor":{"prototype":{"admin":true}},"name":"X"}}'],
    ["a prototype beside the input", '{"json":{"name":"X"},"__proto__":{}}'],
    ["too deep", `{"json":${'{"a":'.repeat(5_000)}1${"}".repeat(5_000)}}`],
    ["too deep in lists", `{"json":${"[".repeat(20_000)}${"]".repeat(20_000)}}`],
    [
      "annotations that are too deep",
      `{"json":{},"meta":{"values":${'{"a":'.repeat(500)}1${"}".repeat(500)}}}`,
    ],
    ["NUL", '{"json":{"name":"a\\u0000b"}}'],
    ["half a character", '{"json":{"name":"a\\ud800b"}}'],
    ["bytes that are no UTF-8", Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])],
    ["no envelope", '{"name":"X"}'],
    ["a way into the prototype", '{"json":{"name":"X"},"meta":{"values":{"__proto__.x":["undefined"]}}}'],
    ["gigabytes", '{"json":{"name":4000000000},"meta":{"values":{"name":[["typed-array","Float64Array"]]}}}'],
    ["a knot", '{"json":{"name":"X"},"meta":{"referentialEqualities":[["name"]]}}'],
  ])("returns 400 with a sentence that quotes nothing: %s", async (_, body) => {
    const batched = typeof body === "string" ? [[`${RENAME}?batch=1`, `{"0":${body}}`] as const] : [];
    for (const [path, sent] of [[RENAME, body] as const, ...batched]) {
      const response = await send("POST", path, {
        body: typeof sent === "string" ? sent : new Uint8Array(sent),
        headers: { "content-type": "application/json" },
      });
      const error = (response.body[0] ?? response.body).error.json;
      expect([response.status, error.data]).toEqual([
        400,
        expect.objectContaining({ code: "BAD_REQUEST", httpStatus: 400, path: "user.updateProfile" }),
      ]);
      expect(error.message.length).toBeLessThan(120);
      expect(error.message).not.toMatch(/position|token|node_modules|at \S+:\d/);
      if (typeof sent !== "string") continue;
      const got = await send(
        "GET",
        `/api/trpc/billing.plans?${path.split("?")[1] ?? ""}&input=${encodeURIComponent(sent).slice(0, 12_000)}`,
      );
      expect(got.status).toBe(400);
    }
    expect("admin" in Object.prototype || "x" in Object.prototype).toBe(false);
  });

  it("returns 400 for an invalid URL", async () => {
    for (const path of [
      "/api/trpc/%E0%A4%A",
      "/api/trpc/user.me?connectionParams=x",
      "/api/trpc/user.me,user.updateProfile?batch=1",
    ]) {
      const response = await send("GET", path);
      expect([path, response.status, response.body.error.json.data.code]).toEqual([
        path,
        400,
        expect.stringMatching(/^(BAD_REQUEST|PARSE_ERROR)$/),
      ]);
    }
  });

  it("returns 413 for a body that is too large, before it has arrived", async () => {
    const body = { json: { name: "x".repeat(70_000) } };
    const response = await send("POST", RENAME, { body });
    expect([response.status, response.body.error.json.data.code]).toEqual([413, "PAYLOAD_TOO_LARGE"]);
    const batch = await send("POST", `${RENAME}?batch=1`, { body: { 0: body } });
    expect([batch.status, batch.body[0].error.json.data.code]).toEqual([413, "PAYLOAD_TOO_LARGE"]);
    expect(await answerToUnfinished({ "content-length": 10_000_000 }, Buffer.alloc(0))).toBe(413);
    expect(await answerToUnfinished({ "transfer-encoding": "chunked" }, Buffer.alloc(70_000, " "))).toBe(413);
  });

  it("does not inflate a compressed body", async () => {
    const headers = { "content-type": "application/json", "content-encoding": "gzip" };
    expect((await send("POST", RENAME, { body: new Uint8Array([0x1f, 0x8b]), headers })).status).toBe(400);
  });

  it("is refused before its body is read for an unauthenticated caller", async () => {
    const response = await sendRequest(server.url, "POST", RENAME, { body: "{" });
    expect([response.status, response.body.error.json.message]).toEqual([401, "Unauthorized"]);
    expect(response.headers.get("www-authenticate")).toMatch(/^Bearer /);
  });
});

/** Sends the beginning of a body, and nothing more. */
function answerToUnfinished(headers: OutgoingHttpHeaders, firstBytes: Buffer): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const outgoing = request(`${server.url}${RENAME}`, {
      method: "POST",
      headers: { cookie: person.cookie, "content-type": "application/json", ...headers },
    });
    outgoing.on("error", reject);
    outgoing.on("response", (incoming) => {
      outgoing.removeAllListeners("error").on("error", () => {});
      outgoing.destroy();
      resolve(incoming.statusCode);
    });
    outgoing.flushHeaders();
    outgoing.write(firstBytes);
  });
}

const EXAMPLE_PARAMS = { problem: "missing", cause: "no_plan", origins: [], supported: [] };

describe("an RPC response", () => {
  it("has the version and security headers of every API answer", async () => {
    for (const [path, version] of [
      ["/api/trpc/user.me", "v1"],
      ["/api/v2/trpc/user.me", "v2"],
      ["/api/v2/trpc/user.nothing", "v2"],
    ] as const) {
      for (const accept of [{}, { "trpc-accept": "application/jsonl" }]) {
        const batch = "trpc-accept" in accept ? "?batch=1" : "";
        const { headers } = await send("GET", path + batch, { headers: accept as Record<string, string> });
        expect(headers.get("x-api-version")).toBe(version);
        expect(headers.get("x-request-id")).toMatch(/^[0-9a-f-]{36}$/);
        expect(headers.get("cache-control")).toBe("no-store");
        expect(headers.get("x-content-type-options")).toBe("nosniff");
        expect(headers.get("vary")).toContain("trpc-accept");
        expect(headers.get("content-type")).toBe(batch === "" ? "application/json" : "application/x-ndjson");
      }
    }
    expect((await send("GET", "/api/v99/trpc/user.me")).status).toBe(404);
  });

  it("has the same status as REST for a refusal", () => {
    for (const [reason, { code }] of Object.entries(REASONS)) {
      // tRPC has no code for 410 Gone.
      if (code === "gone") continue;
      const cause = new Refusal({ reason: reason as Reason, params: EXAMPLE_PARAMS } as RefusalFacts);
      const shape = shapeOf(new TRPCError({ code: "INTERNAL_SERVER_ERROR", cause }), "user.me");
      expect([reason, shape.data.httpStatus, shape.message]).toEqual([reason, statusOf[code], cause.message]);
      expect(shape.data).toMatchObject({ reason, params: EXAMPLE_PARAMS });
    }
  });
});

describe("an internal error", () => {
  const SECRET = "postgres://tollgate:hunter2@db.internal:5432/tollgate";

  it.each([
    ["an error", () => new Error(`connect ECONNREFUSED ${SECRET}`)],
    ["an error with a cause", () => new Error("query failed", { cause: new Error(SECRET) })],
    [
      "an error that names itself like a refusal",
      () => Object.assign(new Error(SECRET), { name: "Refusal" }),
    ],
    ["an error with a code", () => Object.assign(new Error(SECRET), { code: "NOT_FOUND" })],
    ["what is no error", () => SECRET],
    ["an object", () => ({ message: SECRET })],
    ["nothing", () => undefined],
  ])("(%s) returns 500 without details, and is logged once", async (_, thrown) => {
    const database = {
      run: async () => {
        throw thrown();
      },
    } as unknown as Dependencies["database"];
    const { app, noted } = testApi({ database });
    const served = await listen(app);
    for (const [path, headers] of [
      ["/api/trpc/user.me", {}],
      ["/api/v2/trpc/user.me,billing.plans?batch=1", {}],
      ["/api/trpc/billing.plans,user.me?batch=1", { "trpc-accept": "application/jsonl" }],
    ] as const) {
      noted.length = 0;
      const response = await sendRequest(served.url, "GET", path, {
        headers: { "x-test-user": "user_0", ...headers },
      });
      expect(response.text).toContain('"message":"Internal server error"');
      const visible = `${response.text}${JSON.stringify([...response.headers])}`;
      for (const part of ["hunter2", "db.internal", "stack", "Error:", "file:"])
        expect(visible).not.toContain(part);
      expect(noted).toEqual([
        {
          fields: expect.objectContaining({
            err: expect.any(Error),
            requestId: response.headers.get("x-request-id"),
          }),
          message: "request failed",
        },
      ]);
    }
    await served.close();
  });

  it("logs an error in authentication once, and returns it to every call of a batch", async () => {
    const ownDatabase = await freshDatabase(0);
    const running = await startTestServer(ownDatabase.url, GENEROUS_LIMITS);
    const { cookie } = await createUser(test);
    await ownDatabase.drop();
    for (const headers of [{}, { "trpc-accept": "application/jsonl" }]) {
      const response = await sendRequest(running.url, "GET", "/api/trpc/user.me,billing.plans?batch=1", {
        cookie,
        headers: headers as Record<string, string>,
      });
      expect([response.status, superjson.deserialize(response.body.error)]).toEqual([
        503,
        {
          message: "Service unavailable",
          code: -32603,
          data: expect.objectContaining({ code: "SERVICE_UNAVAILABLE", httpStatus: 503 }),
        },
      ]);
      expect(Number(response.headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
    }
    await running.close();
  });
});
