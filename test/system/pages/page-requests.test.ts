import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { RunningServer } from "../../../src/server.ts";
import { builtPages } from "../../support/built-pages.ts";
import { eventually } from "../../support/eventually.ts";
import { sendRequest } from "../../support/http.ts";
import { createKey, createUser } from "../../support/people.ts";
import { startTestServer } from "../../support/server.ts";
import {
  callAction,
  encodeArguments,
  findServerAction,
  postForm,
  submitAction,
} from "../../support/server-action.ts";
import { startTcpProxy, type TcpProxy } from "../../support/tcp-proxy.ts";
import { testDatabase } from "../../support/test-database.ts";

const test = testDatabase();
let toDatabase: TcpProxy;
let server: RunningServer;
let cookie: string;
beforeAll(async () => {
  await builtPages();
  const databaseUrl = new URL(test.url);
  toDatabase = await startTcpProxy(Number(databaseUrl.port));
  databaseUrl.port = String(toDatabase.port);
  server = await startTestServer(databaseUrl.href, { APP_URL: "https://app.example.com" });
  cookie = (await createUser(test, "Somebody New", { isHttps: true })).cookie;
}, 180_000);
afterAll(async () => {
  await server.close();
  await toDatabase.close();
});

/** With any headers, `Host` among them. */
const load = (path: string, headers: Record<string, string> = {}, method = "GET") =>
  sendRequest(server.url, method, path, { headers });

describe("a page", () => {
  it("has a content security policy with a nonce of its own", async () => {
    const nonces = new Set<string>();
    for (let n = 0; n < 3; n += 1) {
      const { status, fields: headers, text } = await load("/");
      expect(status).toBe(200);
      const policy = headers["content-security-policy"] as string;
      const nonce = /'nonce-([^']+)'/.exec(policy)?.[1] as string;
      nonces.add(nonce);
      expect(policy).not.toContain("unsafe");
      expect(policy).toContain("frame-ancestors 'none'");
      const scripts = [...text.matchAll(/<script\b[^>]*>/g)].map(([tag]) => tag);
      expect(scripts.length).toBeGreaterThan(3);
      expect(scripts.filter((tag) => !tag.includes(`nonce="${nonce}"`))).toEqual([]);
      expect(text).not.toMatch(/<[a-z][^>]*\s(?:style|on[a-z]+)=/);
    }
    expect(nonces.size).toBe(3);
  });

  it("ignores a nonce in the request", async () => {
    const { text } = await load("/", { "content-security-policy": "script-src 'nonce-mine'" });
    expect(text).not.toContain("mine");
  });

  it("has no-store, HSTS and same-origin referrer headers", async () => {
    const { fields: headers } = await load("/settings", { cookie });
    expect(headers).toMatchObject({
      "cache-control": "no-store",
      "strict-transport-security": "max-age=31536000",
      "x-content-type-options": "nosniff",
      "referrer-policy": "same-origin",
      "x-request-id": expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
    expect(headers["x-powered-by"]).toBeUndefined();
  });

  it("keeps the secret of a mailed link from the requests of its page, which proxies log with their referrer", async () => {
    const policyOf = async (path: string) => (await load(path)).fields["referrer-policy"];
    for (const path of ["/reset-password?token=secret", "/confirm-email-change?x=1&token=secret"])
      expect([path, await policyOf(path)]).toEqual([path, "strict-origin"]);
    expect(await policyOf("/sign-in?next=%2Ftoken%3D")).toBe("same-origin");
  });

  it("redirects to sign-in and back for a page that needs a session", async () => {
    const { status, fields: headers } = await load("/settings?tab=1");
    expect([status, headers.location]).toEqual([307, "/sign-in?next=%2Fsettings%3Ftab%3D1"]);
    expect((await load("/settings", { cookie })).status).toBe(200);
  });

  it("extends the session of a person who comes back after days", async () => {
    const person = await createUser(test, "Comes Back", { isHttps: true });
    const setCookies = async () =>
      (await load("/settings", { cookie: person.cookie })).headers.getSetCookie();
    expect(await setCookies()).toEqual([]);
    await test.rows("update session set expires_at = now() + interval '3 days' where user_id = $1", [
      person.id,
    ]);
    const week = /session_token=[^;]+; Max-Age=604800;/;
    expect(await setCookies()).toEqual([expect.stringMatching(week)]);
    expect(await setCookies()).toEqual([]);
  });

  it("treats an API key as signed out, whatever cookie is sent with it", async () => {
    const { key } = await createKey(server.url, { cookie });
    expect((await load("/settings", { authorization: `Bearer ${key}` })).status).toBe(307);
    expect((await load("/settings", { cookie, authorization: `Bearer ${key}` })).status).toBe(307);
    expect((await load("/settings", { cookie, authorization: "Basic dXNlcjpwYXNz" })).status).toBe(200);
  });

  it.each([
    ["PUT", 405],
    ["DELETE", 405],
    ["TRACE", 405],
    ["OPTIONS", 405],
    ["HEAD", 200],
  ])("answers %s with %i", async (method, status) => {
    expect((await load("/", {}, method)).status).toBe(status);
  });

  it.each([
    ["another site's form", { "sec-fetch-site": "cross-site" }],
    ["another site of the same domain", { "sec-fetch-site": "same-site" }],
    ["a foreign origin", { origin: "https://elsewhere.example.com" }],
    ["an origin that is hidden", { origin: "null" }],
    ["an origin that only the host has", { origin: "https://evil.example.com", host: "evil.example.com" }],
    [
      "an origin that a proxy seems to confirm",
      { origin: "https://evil.example.com", "x-forwarded-host": "evil.example.com" },
    ],
  ])("rejects a POST of %s", async (_, headers) => {
    expect((await load("/settings", { cookie, ...(headers as Record<string, string>) }, "POST")).status).toBe(
      403,
    );
  });

  it("is never fetched from another host", async () => {
    const { status, fields: headers } = await load("/settings", {
      host: "evil.example.com",
      "x-forwarded-host": "evil.example.com",
    });
    expect(status).toBe(307);
    expect(headers.location).toBe("/sign-in?next=%2Fsettings");
  });

  it("returns 404 for an unknown page", async () => {
    expect((await load("/nothing/here")).status).toBe(404);
    expect((await load("/apis")).status).toBe(404);
  });
});

describe("static files of pages", () => {
  it("are compressed as accepted, and cached for a year", async () => {
    const { text } = await load("/");
    const path = /src="(\/_next\/static\/[^"]+\.js)"/.exec(text)?.[1] as string;
    const document = await load(path);
    expect(document.fields).toMatchObject({
      "cache-control": "public, max-age=31536000, immutable",
      "content-type": expect.stringContaining("javascript"),
      vary: "Accept-Encoding",
    });
    const sizes = await Promise.all(
      ["br", "gzip"].map(async (encoding) => {
        const { fields: headers } = await load(path, { "accept-encoding": encoding });
        expect(headers["content-encoding"]).toBe(encoding);
        expect(headers.vary).toBe("Accept-Encoding");
        return Number(headers["content-length"]);
      }),
    );
    expect(sizes[0]).toBeLessThan(sizes[1] as number);
    expect(sizes[1]).toBeLessThan(document.text.length);

    const whole = await load(path, { range: "bytes=9-1" });
    expect([whole.status, whole.text]).toEqual([200, document.text]);
  });

  it.each([
    "/_next/static/../BUILD_ID",
    "/_next/static/%2e%2e/BUILD_ID",
    "/_next/static/..%2fBUILD_ID",
    "/_next/static/..%5cBUILD_ID",
    "/_next/static//../BUILD_ID",
    "/_next/BUILD_ID",
    "/_next/static/../../package.json",
    "/.next/BUILD_ID",
    "/_next/static/chunks",
  ])("do not include %s", async (path) => {
    const { status, text } = await load(path);
    expect([301, 307, 308, 400, 404]).toContain(status);
    expect(text).not.toContain("dependencies");
  });
});

describe("a page whose own data cannot be read", () => {
  const failing = async (headers: Record<string, string> = {}) => {
    await test.rows("alter table api_key rename to away");
    try {
      return await load("/api-keys?tab=%3Cb%3E", { cookie, ...headers });
    } finally {
      await test.rows("alter table away rename to api_key");
    }
  };

  it("shows an error with a reference, and a button that works without JavaScript", async () => {
    const { status, fields: headers, text } = await failing();
    expect([status, headers["retry-after"]]).toEqual([500, undefined]);
    expect(text).toContain("<title>This page couldn’t be loaded · Tollgate</title>");
    expect(text).toContain(headers["x-request-id"]);
    expect(text).toContain('<form action="/api-keys"><input type="hidden" name="tab" value="&lt;b&gt;">');
    expect(text).not.toContain("<script");
    const stylesheet = /<link rel="stylesheet" href="([^"]+)"/.exec(text)?.[1] as string;
    expect((await load(stylesheet)).fields["content-type"]).toContain("text/css");
  });

  it("shows it in the reader's language, to browsers that accept compressed pages too", async () => {
    const { fields: headers, text } = await failing({ "accept-language": "de", "accept-encoding": "gzip" });
    expect(headers["content-encoding"]).toBeUndefined();
    expect(text).toContain('<html lang="de">');
    expect(text).toContain("</html>");
  });

  it("returns 503 with Retry-After when the database cancels the query", async () => {
    await test.rows(`create function canceled() returns boolean language plpgsql as
      $$ begin raise exception using errcode = '57014'; end $$`);
    await test.rows("alter table api_key rename to away");
    await test.rows("create view api_key as select * from away where (select canceled())");
    try {
      const { status, fields: headers, text } = await load("/api-keys", { cookie });
      expect([status, headers["retry-after"]]).toEqual([503, "5"]);
      expect(text).toContain("<title>This page couldn’t be loaded · Tollgate</title>");
    } finally {
      await test.rows("drop view api_key");
      await test.rows("alter table away rename to api_key");
    }
  });
});

describe("while the database is unreachable", () => {
  beforeAll(() => toDatabase.cut());
  afterAll(async () => {
    toDatabase.restore();
    await eventually(async () => (await load("/settings", { cookie })).status, 200);
  });

  const UNAVAILABLE = [503, "5"];
  const statusOf = ({ status, headers }: { status: number; headers: Headers }) => [
    status,
    headers.get("retry-after"),
  ];
  const titleOf = (html: string) => /<title>([^<]*)<\/title>/.exec(html)?.[1];
  const FAILED = "This page couldn’t be loaded · Tollgate";

  it("returns 503 for a form with JavaScript, with a message and what was typed", async () => {
    const fields = { name: "Grace Hopper" };
    const response = await submitAction(server.url, findServerAction("updateProfile"), fields, { cookie });
    expect(statusOf(response)).toEqual(UNAVAILABLE);
    expect(response.returned).toMatchObject({
      done: false,
      code: "unavailable",
      entered: fields,
      message: "This is temporarily unavailable. Try again in a minute.",
    });
  });

  it("returns 503 for a form without JavaScript, with a page that says how to send it again", async () => {
    const action = findServerAction("updateProfile");
    const response = await postForm(server.url, action, { name: "Grace Hopper" }, { cookie });
    const html = response.text;
    expect(statusOf(response)).toEqual(UNAVAILABLE);
    expect(html).toContain("Reload this page to send them again");
    expect(html).toContain('href="/settings"');
    expect(titleOf(html)).toBe(FAILED);
  });

  it.each(["updateProfile", "changePassword", "createCheckout", "deleteUser", "signOut"])(
    "returns 503 for the action %s",
    async (name) => {
      const action = findServerAction(name);
      const path = (action.pages[0] as string).replace("[id]", "someone");
      const response = await callAction(server.url, action, encodeArguments([{ name: "Grace" }]), {
        cookie,
        path,
      });
      expect(statusOf(response)).toEqual(UNAVAILABLE);
    },
  );

  it("keeps what was typed into the sign-in form, except the password", async () => {
    const fields = { email: "grace@example.com", password: "typed by grace" };
    const response = await postForm(server.url, findServerAction("signIn"), fields, { path: "/sign-in" });
    const html = response.text;
    expect(statusOf(response)).toEqual(UNAVAILABLE);
    expect(html).not.toContain(fields.password);
    const { returned, ...scripted } = await submitAction(server.url, findServerAction("signIn"), fields, {
      path: "/sign-in",
    });
    expect(statusOf(scripted)).toEqual(UNAVAILABLE);
    expect(returned).toMatchObject({ code: "unavailable", entered: { email: fields.email } });
    expect(returned).not.toHaveProperty("entered.password");
  });

  it.each(["/settings", "/billing", "/onboarding", "/admin/users", "/admin/users/someone"])(
    "returns 503 for %s",
    async (path) => {
      const { status, fields: headers, text } = await load(path, { cookie });
      expect([status, headers["retry-after"]]).toEqual(UNAVAILABLE);
      expect(titleOf(text)).toBe(FAILED);
      expect(text).toContain("<h1");
    },
  );

  it("serves public pages", async () => {
    for (const path of ["/", "/sign-in"]) expect((await load(path, { cookie })).status).toBe(200);
  });
});
