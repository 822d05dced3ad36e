import { beforeAll, describe, expect, it } from "vitest";
import { numberedEvent } from "../../../fixtures/numbered-event.ts";
import { freshDatabase } from "../../../support/database.ts";
import { deliverWebhook } from "../../../support/http.ts";
import { createAdmin, createUser } from "../../../support/people.ts";
import { startTestServer } from "../../../support/server.ts";
import { GENEROUS_LIMITS } from "../../../support/variables.ts";
import { type SecurityContext, securityContext } from "./security-context.ts";
import { type Answer, type Attack, answerTo, send } from "./send.ts";

/** Internals that no response may show: stacks, files, SQL, drivers, connection strings. */
const INSIDE = new RegExp(
  [
    String.raw`\bat .+:\d+:\d+`,
    String.raw`\.(ts|mjs|js):\d+`,
    "node_modules|node:internal|/src/|/test/|file://",
    String.raw`\b(select|insert into|update|delete from) .+\b(from|where|set|values)\b`,
    "postgres|pg_|relation|column|constraint|duplicate key|syntax error|violates|operator does not",
    "ECONN|ENOENT|EPIPE|ERR_|TypeError|SyntaxError|ZodError|BetterAuth|drizzle|hono|undici",
    String.raw`\[object |undefined|NaN|Unexpected token|in JSON at`,
  ].join("|"),
  "i",
);

const ANYTHING_GOES = ["docs/swagger-ui-bundle.js", "docs/swagger-ui.css", "openapi.json"];

function expectSafe({ status, fields: headers, text, body }: Answer, what: unknown): void {
  const problems = [
    headers["x-content-type-options"] !== "nosniff" && "may be sniffed",
    !/^[0-9a-f-]{36}$/.test(`${headers["x-request-id"]}`) && "has no id",
    headers["cache-control"] === undefined && "may be cached",
    status >= 400 && headers["cache-control"] !== "no-store" && "is kept by caches",
    status === 401 && headers["www-authenticate"] === undefined && "does not say how to sign in",
    ["server", "x-powered-by", "via", "x-aspnet-version"].find((name) => headers[name] !== undefined),
    Object.keys(headers).find((name) => name.startsWith("access-control-")),
    status >= 500 && status !== 503 && `is a defect: ${status}`,
    status >= 400 && text !== "" && !headers["content-type"]?.startsWith("application/json") && "is not JSON",
    status >= 400 &&
      text !== "" &&
      !['["error"]', '["error","message","code"]'].includes(JSON.stringify(Object.keys(body ?? {}))) &&
      "is not { error }",
    status >= 400 && INSIDE.exec(text)?.[0],
  ].filter(Boolean);
  expect([what, status, problems]).toEqual([what, status, []]);
}

function expectGuarded(answer: Answer, what: unknown): void {
  expectSafe(answer, what);
  expect([what, answer.fields["referrer-policy"]]).toEqual([what, "no-referrer"]);
  expect([what, answer.fields["cross-origin-resource-policy"]]).toEqual([what, "same-origin"]);
  expect(answer.fields["content-security-policy"], `${what}`).toMatch(
    /^default-src 'none';.*frame-ancestors 'none'/,
  );
  expect([what, answer.fields["x-api-version"]]).toEqual([what, expect.stringMatching(/^v[12]$/)]);
}

/** The same of a page, or of what is said in the place of one. */
function expectGuardedPage({ status, fields: headers, text }: Answer, what: unknown): void {
  const visible = text.replaceAll(/<script.*?<\/script>|<[^>]*>/gs, " ");
  const problems = [
    headers["x-content-type-options"] !== "nosniff" && "may be sniffed",
    !/^[0-9a-f-]{36}$/.test(`${headers["x-request-id"]}`) && "has no id",
    !/no-store/.test(headers["cache-control"] ?? "") && "may be kept",
    !/^text\/(html|plain)/.test(headers["content-type"] ?? "text/plain") && "is no text",
    headers["content-type"]?.startsWith("text/html") &&
      !/script-src 'self' 'nonce-.*frame-ancestors 'none'/.test(`${headers["content-security-policy"]}`) &&
      "has no policy",
    !/^(same-origin|no-referrer)$/.test(`${headers["referrer-policy"]}`) && "tells others its address",
    ["server", "x-powered-by", "via"].find((name) => headers[name] !== undefined),
    Object.keys(headers).find((name) => name.startsWith("access-control-")),
    status >= 500 && `is a defect: ${status}`,
    headers.location !== undefined && !/^\/(?![/\\])/.test(headers.location) && "leads elsewhere",
    status >= 400 && INSIDE.exec(visible)?.[0],
  ].filter(Boolean);
  expect([what, status, problems]).toEqual([what, status, []]);
}

const context = securityContext();

describe("API8:2023 Security Misconfiguration", () => {
  it("sets security headers on every kind of page", async () => {
    const { cookie } = context.attacker;
    const form = { "content-type": "multipart/form-data; boundary=x" };
    const kinds: [status: number, request: string, attack?: Attack][] = [
      [200, "GET /"],
      [200, "GET /sign-in"],
      [200, "GET /settings", { cookie }],
      [200, "HEAD /settings", { cookie }],
      [307, "GET /settings"],
      [400, "POST /settings", { cookie, headers: form, body: "--x\r\n" }],
      [403, "GET /admin/users", { cookie }],
      [403, "POST /settings", { cookie, headers: { origin: "https://evil.example" } }],
      [404, "GET /nothing"],
      [404, "GET /nothing", { cookie }],
      [404, "GET /_next/nothing"],
      [405, "PUT /settings", { cookie }],
      [405, "TRACE /"],
      [409, "POST /settings", { cookie, headers: { "next-action": "0".repeat(42) } }],
      [413, "POST /settings", { cookie, headers: form, body: "x".repeat(70_000) }],
    ];
    for (const [status, request, attack] of kinds) {
      const response = await send(context.url, request, attack);
      expect([request, response.status, response.text.slice(0, 100)]).toEqual([
        request,
        status,
        expect.anything(),
      ]);
      expectGuardedPage(response, request);
    }
  });

  it("sets security headers on every kind of answer", async () => {
    const { cookie, key } = context.attacker;
    const feed = await send(context.url, "GET /api/plugins/renewals/calendar.ics", { cookie });
    const kinds: [status: number, request: string, attack?: Attack][] = [
      [200, "GET /api/health"],
      [200, "GET /api/ready"],
      [200, "GET /api/version"],
      [200, "GET /api/plans"],
      [200, "GET /api/openapi.json"],
      [200, "GET /api/docs"],
      [200, "HEAD /api/users/me", { cookie }],
      [200, "GET /api/v2/users", { key }],
      [200, "GET /api/plugins/renewals/calendar.ics", { key }],
      [200, "GET /api/auth/get-session", { cookie }],
      [201, "POST /api/api-keys", { cookie, body: { name: "k" } }],
      [302, "GET /api/auth/reset-password/guessed?callbackURL=/x"],
      [
        304,
        "GET /api/plugins/renewals/calendar.ics",
        { cookie, headers: { "if-none-match": `${feed.fields.etag}` } },
      ],
      [400, "PATCH /api/users/me", { cookie, body: { name: "" } }],
      [400, "GET /api/plans", { headers: { "x-api-version": "v9" } }],
      [400, "POST /api/webhooks/provider-a", { body: {} }],
      [401, "GET /api/users/me"],
      [401, "POST /api/auth/sign-in/email", { body: { email: "a@example.com", password: "x" } }],
      [403, "GET /api/webhook-deliveries", { cookie }],
      [403, "POST /api/auth/sign-out", { headers: { origin: "https://evil.example" } }],
      [404, "GET /api/nothing"],
      [404, "GET /api/v9/plans"],
      [404, "GET //api/plans"],
      [404, "GET /api/auth/nothing"],
      [404, "POST /api/notifications/1000000000000/read", { cookie, body: {} }],
      [405, "DELETE /api/plans"],
      [405, "PUT /api/auth/sign-in/email"],
      [
        409,
        `POST /api/webhook-deliveries/${await successfulDelivery(context)}/replay`,
        { cookie: context.admin.cookie },
      ],
      [413, "PATCH /api/users/me", { cookie, body: "x".repeat(70_000) }],
      [400, "POST /api/auth/sign-in/email", { headers: { "content-type": "text/plain" }, body: "x" }],
      [503, "POST /api/chat", { cookie, body: { messages: [{ role: "user", content: "Hi" }] } }],
    ];
    for (const [status, request, attack] of kinds) {
      const response = await send(context.url, request, attack);
      expect([request, response.status, response.text.slice(0, 100)]).toEqual([
        request,
        status,
        expect.anything(),
      ]);
      expectGuarded(response, request);
    }
    const url = await context.serverWith({ RATE_LIMIT_API: "1/60" });
    await send(url, "GET /api/plans");
    const limited = await send(url, "GET /api/plans");
    expect(limited.status).toBe(429);
    expectGuarded(limited, "429");
  });

  it("forbids caching of personal data", async () => {
    const { cookie, key } = context.attacker;
    for (const path of [
      "users/me",
      "users",
      "subscriptions",
      "api-keys",
      "notifications",
      "auth/get-session",
    ]) {
      for (const as of [{ cookie }, { key }])
        expect((await send(context.url, `GET /api/${path}`, as)).fields["cache-control"]).toBe("no-store");
    }
  });

  it("allows no other origin", async () => {
    const origins = [
      "https://evil.example",
      "null",
      "http://localhost:3000",
      "https://localhost.evil.example",
    ];
    const preflight = {
      "access-control-request-method": "PATCH",
      "access-control-request-headers": "authorization",
    };
    for (const origin of origins) {
      for (const request of [
        "GET /api/users/me",
        "GET /api/plans",
        "OPTIONS /api/users/me",
        "OPTIONS /api/nothing",
      ]) {
        const headers = { origin, ...(request.startsWith("OPTIONS") ? preflight : {}) };
        const response = await send(context.url, request, { cookie: context.attacker.cookie, headers });
        if (request.startsWith("OPTIONS")) expect([401, 404, 405]).toContain(response.status);
        expectGuarded(response, `${request} from ${origin}`);
      }
    }
  });

  it("refuses cross-site writes with a cookie", async () => {
    const { cookie, id, email, password } = context.victim;
    const foreign: Record<string, string>[] = [
      { origin: "https://evil.example" },
      { origin: "null" },
      { origin: "" },
      { origin: `${context.url}.evil.example` },
      { origin: context.url.replace("http:", "https:") },
      { origin: `${context.url}/` },
      { origin: context.url, "sec-fetch-site": "cross-site" },
      { origin: context.url, "sec-fetch-site": "same-site" },
      { "sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors" },
      { "sec-fetch-site": "anything else" },
    ];
    const writes: [string, unknown][] = [
      ["PATCH /api/users/me", { name: "Changed" }],
      ["POST /api/checkout", { planId: "pro" }],
      ["POST /api/portal", {}],
      ["POST /api/api-keys", { name: "planted" }],
      [`DELETE /api/api-keys/${context.victim.keyId}`, undefined],
      [`POST /api/notifications/${context.victim.notificationIds[1]}/read`, {}],
      ["POST /api/chat", { messages: [] }],
      ["POST /api/plugins/renewals/calendar.ics", {}],
      ["POST /api/auth/sign-out", undefined],
      ["POST /api/auth/sign-in/email", { email, password }],
      ["POST /api/auth/change-password", { currentPassword: password, newPassword: "mallory's password" }],
    ];
    for (const headers of foreign) {
      for (const [request, body] of writes) {
        const response = await send(context.url, request, { cookie, headers, body });
        expect([headers, request, response.status]).toEqual([headers, request, 403]);
        expect(response.fields["set-cookie"]).toBeUndefined();
      }
      const replay = `POST /api/webhook-deliveries/${context.deliveryId}/replay`;
      expect(
        (await send(context.url, replay, { cookie: context.admin.cookie, headers, body: {} })).status,
      ).toBe(403);
    }
    const profile = await send(context.url, "GET /api/users/me", { cookie });
    expect([profile.body.id, profile.body.name === "Changed"]).toEqual([id, false]);
    for (const headers of [
      { origin: context.url },
      { "sec-fetch-site": "same-origin" },
      { "sec-fetch-site": "none" },
    ] as Record<string, string>[])
      expect(
        (await send(context.url, "PATCH /api/users/me", { cookie, headers, body: { name: "A New Name" } }))
          .status,
      ).toBe(200);
  });

  it("does not parse cross-site form bodies as JSON", async () => {
    const { cookie } = await createUser(context.test);
    for (const type of [
      "text/plain",
      "application/x-www-form-urlencoded",
      "multipart/form-data",
      "text/json",
      "",
    ]) {
      for (const request of ["PATCH /api/users/me", "POST /api/api-keys", "POST /api/auth/sign-in/email"]) {
        const body = '{"name":"Planted","email":"a@example.com","password":"x"}';
        const response = await send(context.url, request, {
          cookie,
          body,
          headers: { "content-type": type },
        });
        expect([request, type, [400, 415].includes(response.status)]).toEqual([request, type, true]);
      }
    }
  });

  it("sets HttpOnly cookies, Secure on https", async () => {
    const https = await context.serverWith({ ...GENEROUS_LIMITS, APP_URL: "https://app.example.com" });
    const { email, password } = context.attacker;
    for (const [url, prefix, secure] of [
      [context.url, "", false],
      [https, "__Host-", true],
    ] as const) {
      const response = await send(url, "POST /api/auth/sign-in/email", { body: { email, password } });
      const cookies = response.fields["set-cookie"] ?? [];
      expect(cookies.length).toBeGreaterThan(0);
      for (const cookie of cookies) {
        expect(cookie.startsWith(`${prefix}better-auth.`)).toBe(true);
        expect(cookie).toMatch(/; HttpOnly/i);
        expect(cookie).toMatch(/; SameSite=(Lax|Strict)/i);
        expect(cookie).toMatch(/; Path=\//i);
        expect(cookie).not.toMatch(/; Domain=/i);
        expect(/; Secure/i.test(cookie)).toBe(secure);
      }
      const health = await send(url, "GET /api/health");
      expect(health.fields["strict-transport-security"]).toBe(secure ? "max-age=31536000" : undefined);
    }
    // A cookie from before, or from plain http, does not count on https.
    expect((await send(https, "GET /api/users/me", { cookie: context.attacker.cookie })).status).toBe(401);
  });

  const MALFORMED_PATHS = [
    "%",
    "%zz",
    "%c0%af",
    "%ff%fe",
    "%00",
    "%ed%a0%80",
    "%0d%0aSet-Cookie:%20a=b",
    "..%2f..%2f..%2fetc%2fpasswd",
    "../../../etc/passwd",
    "<script>alert(1)</script>",
    "%3Cscript%3Ealert(1)%3C/script%3E",
    "' or 1=1--",
    "{{7*7}}",
    "#{7*7}",
    "__proto__",
    "constructor",
    "toString",
    "a".repeat(2_000),
    "\u{1f600}",
  ].map((path) => (/[^\x21-\x7e]/.test(path) ? encodeURIComponent(path) : path));

  it("reveals nothing for broken paths and queries", async () => {
    const { cookie } = context.admin;
    const requests = MALFORMED_PATHS.flatMap((odd) => [
      `GET /api/${odd}`,
      `GET /api/v1/${odd}`,
      `GET /api/subscriptions/${odd}`,
      `GET /api/webhook-deliveries/${odd}`,
      `POST /api/notifications/${odd}/read`,
      `DELETE /api/api-keys/${odd}`,
      `GET /api/users?cursor=${odd}`,
      `GET /api/subscriptions?cursor=${odd}&limit=1`,
      `GET /api/webhook-deliveries?type=${odd}`,
      `GET /api/webhook-deliveries?provider=${odd}&status=${odd}`,
      `GET /api/plans?${odd}=1`,
      `GET /api/plans?limit=${odd}`,
      `GET /api/auth/${odd}`,
      `GET /api/auth/reset-password/${odd}?callbackURL=/x`,
      `POST /api/auth/sign-in/email?${odd}`,
      `GET /api/docs/${odd}`,
      `GET /api/plugins/${odd}`,
      `GET /api/plugins/renewals/${odd}`,
      `POST /api/webhooks/${odd}`,
    ]);
    for (const request of requests) {
      const response = await send(context.url, request, { cookie });
      expectGuarded(response, request);
      expect(response.fields["content-type"] ?? "", request).not.toContain("text/html");
    }
  });

  it("reveals nothing for broken page URLs", async () => {
    const requests = MALFORMED_PATHS.flatMap((odd) => [
      `GET /${odd}`,
      `GET /${odd}/`,
      `GET /settings/${odd}`,
      `GET /_next/static/${odd}`,
      `GET /_next/image?url=${odd}&w=64&q=75`,
      `GET /_next/data/${odd}.json`,
      `GET /sign-in?next=${odd}`,
      `GET /?${odd}=${odd}`,
      `GET /admin/users/${odd}`,
      `GET /admin/users?search=${odd}&cursor=${odd}`,
      `GET /admin/webhooks/${odd}?status=${odd}`,
      `POST /${odd}`,
    ]);
    for (const request of requests) {
      for (const as of [{}, { cookie: context.admin.cookie }]) {
        const response = await send(context.url, request, as);
        if (response.body === undefined) expectGuardedPage(response, request);
        else expectGuarded(response, request);
        expect(response.text, request).not.toMatch(/<script>alert|root:x:0/);
        expect(response.fields["set-cookie"] ?? [], request).not.toContain("a=b");
      }
    }
  });

  it("reveals nothing for broken headers", async () => {
    const { cookie } = context.attacker;
    const values = ["", " ", "%00", "{}", "null", "\u00ff\u00fe", "a,b", "'", "../../..", "x".repeat(5_000)];
    const names = [
      "accept",
      "accept-encoding",
      "accept-language",
      "authorization",
      "content-type",
      "cookie",
      "origin",
      "range",
      "sec-fetch-site",
      "user-agent",
      "x-api-key",
      "x-api-version",
      "x-forwarded-for",
      "x-forwarded-proto",
      "x-request-id",
      "if-none-match",
      "if-modified-since",
      "te",
    ];
    for (const name of names) {
      for (const value of values) {
        for (const request of ["GET /api/users/me", "PATCH /api/users/me", "POST /api/auth/reset-password"]) {
          const as = request.startsWith("GET") ? {} : { body: {} };
          const response = await send(context.url, request, { cookie, ...as, headers: { [name]: value } });
          expectGuarded(response, `${request}, ${name}: ${value.slice(0, 20)}`);
          expect(response.fields["x-request-id"]).not.toBe(value);
        }
      }
    }
  });

  it("reveals nothing for broken bodies", async () => {
    const { cookie } = context.admin;
    const bodies: (string | Buffer)[] = [
      "",
      "{",
      "[]",
      "null",
      '"text"',
      "0",
      "NaN",
      "{'name':'x'}",
      '{"name":undefined}',
      '{"name":"x",}',
      '{"name":"x"}{"name":"y"}',
      '{"name":"x","name":"y"}',
      '{"__proto__":{"a":1}}',
      '{"name":"\\ud800"}',
      '{"name":"a\\u0000b","email":"a\\u0000@example.com","password":"\\u0000\\u0000\\u0000\\u0000\\u0000\\u0000\\u0000\\u0000"}',
      '{"name":1e999,"planId":1e999,"force":1e999,"email":1e999,"password":1e999}',
      '{"name":{"toString":1},"planId":{"toJSON":1},"email":{"length":1},"password":{"length":8}}',
      '{"name":["x"],"planId":["pro"],"email":["a@example.com"],"password":["12345678"],"token":["x"]}',
      "<?xml version='1.0'?><!DOCTYPE x [<!ENTITY e SYSTEM 'file:///etc/passwd'>]><x>&e;</x>",
      "name=x&email=a@example.com",
      Buffer.from([0xff, 0xfe, 0x7b, 0x7d]),
      Buffer.from([0x7b, 0x22, 0xc0, 0xaf, 0x22, 0x3a, 0x31, 0x7d]),
      Buffer.from("\ufeff{}", "utf8"),
      Buffer.from('{"name":"x"}', "utf16le"),
      Buffer.alloc(1_000),
    ];
    const requests = [
      "PATCH /api/users/me",
      "POST /api/checkout",
      "POST /api/api-keys",
      `POST /api/webhook-deliveries/${context.deliveryId}/replay`,
      "POST /api/chat",
      "POST /api/webhooks/provider-a",
      "POST /api/webhooks/provider-b",
      "POST /api/webhooks/provider-c",
      "POST /api/plugins/renewals/calendar.ics",
      ...[
        "sign-up/email",
        "sign-in/email",
        "sign-out",
        "change-password",
        "request-password-reset",
        "reset-password",
      ].map((path) => `POST /api/auth/${path}`),
    ];
    const person = await createAdmin(context.test);
    for (const body of bodies) {
      for (const request of requests) {
        const as = request.endsWith("sign-out") ? (await createUser(context.test)).cookie : person.cookie;
        const response = await send(context.url, request, { cookie: as, body });
        expectGuarded(response, `${request}: ${body.toString().slice(0, 60)}`);
      }
    }
    expect((await send(context.url, "GET /api/users/me", { cookie })).status).toBe(200);
  });

  it("answers every method on every path without a 5xx", async () => {
    const { cookie } = context.attacker;
    const paths = [
      "/api/plans",
      "/api/users/me",
      "/api/checkout",
      "/api/auth/sign-in/email",
      "/api/auth/get-session",
      "/api/auth/nothing",
      "/api/webhooks/provider-a",
      "/api/plugins/renewals/calendar.ics",
      "/api/chat",
      "/api/docs",
      "/api/nothing",
    ];
    for (const method of [
      "TRACE",
      "OPTIONS",
      "PUT",
      "DELETE",
      "PROPFIND",
      "SEARCH",
      "PURGE",
      "MKCOL",
      "LOCK",
      "LINK",
    ]) {
      for (const path of paths) {
        const secret = "a header that must not come back";
        const response = await send(context.url, `${method} ${path}`, {
          cookie,
          headers: { "x-secret": secret },
        });
        expect([method, path, [404, 405].includes(response.status)]).toEqual([method, path, true]);
        if (response.status === 405) expect(response.fields.allow).toBeDefined();
        expectGuarded(response, `${method} ${path}`);
        expect(response.text).not.toContain(secret);
      }
    }
  });

  it("rejects invalid HTTP and serves the next request", async () => {
    const raw = (lines: string[], body = "") => Buffer.from(`${lines.join("\r\n")}\r\n\r\n${body}`, "latin1");
    const host = "Host: localhost";
    const smuggled = "GET /api/users HTTP/1.1\r\nHost: localhost\r\n\r\n";
    const requests = [
      raw(["GET /api/plans HTTP/1.1", "Host: a b"]),
      raw(["GET /api/plans HTTP/1.1", "Host: [::1"]),
      raw(["GET /api/plans HTTP/1.1", "Host: evil.example/../x"]),
      raw(["GET /api/plans HTTP/1.1"]),
      raw(["OPTIONS * HTTP/1.1", host]),
      raw(["GET ftp://localhost/api/plans HTTP/1.1", host]),
      raw(["GET http:///api/plans HTTP/1.1", host]),
      raw(["GET api/plans HTTP/1.1", host]),
      raw(["GET /api/\xff\xfe HTTP/1.1", host]),
      raw(["GET /api/pl\0ans HTTP/1.1", host]),
      raw(["GET /api/plans HTTP/9.9", host]),
      raw(["BREW /api/plans HTTP/1.1", host]),
      raw(["GET /api/plans HTTP/1.1", host, "X-Bad: a\0b"]),
      raw(["GET /api/plans HTTP/1.1", host, "X Bad: a"]),
      raw(["GET /api/plans HTTP/1.1", host, "Expect: something"]),
      raw(
        ["POST /api/checkout HTTP/1.1", host, "Content-Length: 5", "Transfer-Encoding: chunked"],
        `0\r\n\r\n${smuggled}`,
      ),
      raw(["POST /api/checkout HTTP/1.1", host, "Content-Length: 0", "Content-Length: 44"], smuggled),
      raw(["POST /api/checkout HTTP/1.1", host, "Content-Length: -1"], smuggled),
      raw(["POST /api/checkout HTTP/1.1", host, "Transfer-Encoding: xchunked"], smuggled),
      raw(["POST /api/checkout HTTP/1.1", host, "Transfer-Encoding : chunked"], `0\r\n\r\n${smuggled}`),
      raw(["POST /api/checkout HTTP/1.1", host, "Transfer-Encoding: chunked"], `zz\r\n\r\n${smuggled}`),
      Buffer.from("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", "latin1"),
      Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
      Buffer.alloc(2_000, 0xff),
    ];
    const responses = await Promise.all(requests.map((request) => answerTo(context.url, request)));
    for (const [n, response] of responses.entries()) {
      const requestLine = requests[n]?.toString("latin1").split("\r\n")[0];
      expect([requestLine, response.slice(0, 12)]).toEqual([
        requestLine,
        expect.stringMatching(/^(HTTP\/1\.1 4|$)/),
      ]);
      // No request smuggled in a body was answered.
      expect([requestLine, response.split("HTTP/1.1 ").length]).toEqual([
        requestLine,
        response === "" ? 1 : 2,
      ]);
      expect(response).not.toMatch(INSIDE);
    }
    expect((await send(context.url, "GET /api/health")).status).toBe(200);
  });

  it("logs database errors without showing them", async () => {
    const ownDatabase = await freshDatabase(0);
    const server = await startTestServer(ownDatabase.url, GENEROUS_LIMITS);
    try {
      const body = { name: "Somebody", email: "somebody@example.com", password: "a password of some length" };
      const signUp = await send(server.url, "POST /api/auth/sign-up/email", { body });
      const cookie = (signUp.fields["set-cookie"] ?? []).map((line) => line.split(";")[0]).join("; ");
      await ownDatabase.rows("alter table notification rename to notification_hidden");
      await ownDatabase.rows("alter table session rename column user_agent to user_agent_hidden");
      await ownDatabase.rows("alter table webhook_delivery rename to webhook_delivery_hidden");
      const attacks: [string, Attack][] = [
        ["GET /api/notifications", { cookie }],
        ["POST /api/notifications/1/read", { cookie, body: {} }],
        ["POST /api/auth/sign-in/email", { body }],
        ["POST /api/auth/sign-up/email", { body: { ...body, email: "another@example.com" } }],
      ];
      for (const [request, attack] of attacks) {
        const response = await send(server.url, request, attack);
        expect([request, response.status, response.body.error]).toEqual([
          request,
          500,
          "Internal server error",
        ]);
        expectGuarded({ ...response, status: 503 }, request);
      }
      const delivery = await deliverWebhook(server.url, "provider-a", numberedEvent("hidden", 0));
      expect(delivery.status).toBeGreaterThanOrEqual(500);
      expect(JSON.stringify(delivery.body)).not.toMatch(INSIDE);
    } finally {
      await server.close();
      await ownDatabase.drop();
    }
  });

  let page: Answer;
  beforeAll(async () => {
    page = await send(context.url, "GET /api/docs");
  });
  it("allows only scripts from this server on the documentation page", async () => {
    const policy = page.fields["content-security-policy"] as string;
    expect(policy).toContain("script-src 'self'");
    expect(policy).not.toMatch(/script-src[^;]*('unsafe|\*|data:|https?:)/);
    expect(page.text).not.toMatch(/<script(?![^>]*\bsrc=)/);
    expect(
      [...page.text.matchAll(/(?:src|href)="([^"]+)"/g)].filter(([, to]) => /^(https?:)?\/\//.test(`${to}`)),
    ).toEqual([]);
    for (const file of ANYTHING_GOES) {
      const response = await send(context.url, `GET /api/${file}`);
      expect([response.status, response.fields["x-content-type-options"]]).toEqual([200, "nosniff"]);
    }
  });
});

async function successfulDelivery(on: SecurityContext): Promise<string> {
  await deliverWebhook(on.url, "provider-a", numberedEvent("configured", 1, 3));
  const [row] = await on.test.rows<{ id: string }>(
    "select id::text from webhook_delivery where event_id = 'configured-1' and status = 'successful'",
  );
  return (row as { id: string }).id;
}
