import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openDatabase } from "../../../src/store/database.ts";
import type { TestDatabase } from "../../support/database.ts";
import { cookieOf } from "../../support/people.ts";
import { type Accounts, APP_URL, accounts, onDatabase, PASSWORD } from "../accounts.ts";

const BODY = { name: "Person", email: "person@example.com", password: PASSWORD };

async function problem(answer: Response) {
  return { status: answer.status, body: await answer.json() };
}

describe("the routes below /api/auth", () => {
  const context = accounts();

  it.each([
    ["POST", "/delete-user"],
    ["POST", "/sign-in/social"],
    ["POST", "/two-factor/send-otp"],
    ["POST", "/two-factor/get-totp-uri"],
    ["GET", "/ok"],
    ["GET", "/error"],
    ["POST", "/admin/set-role"],
    ["GET", "/verify-email?token=x"],
    ["POST", "/send-verification-email"],
    ["POST", "/sign-in/email/"],
    ["POST", "//sign-in/email"],
    ["POST", "/sign-in%2Femail"],
    ["POST", "/SIGN-IN/EMAIL"],
    ["GET", "/reset-password/%00"],
    ["GET", "/"],
    ["GET", ""],
  ])("do not include %s %s", async (method, path) => {
    const { cookie } = await context.signedUp();
    const request = new Request(`${APP_URL}/api/auth${path}`, {
      method,
      headers: { cookie, "content-type": "application/json" },
      ...(method === "POST" ? { body: JSON.stringify({ ...BODY, role: "admin" }) } : {}),
    });
    expect(await problem(await context.auth.handle(request, "a"))).toEqual({
      status: 404,
      body: { error: "Not found", message: "Not found", code: "NOT_FOUND" },
    });
  });

  it("return 405 with Allow for another method", async () => {
    const response = await context.auth.handle(new Request(`${APP_URL}/api/auth/sign-up/email`), "a");
    expect(response.headers.get("allow")).toBe("POST");
    expect(await problem(response)).toEqual({
      status: 405,
      body: { error: "Method not allowed", message: "Method not allowed", code: "METHOD_NOT_ALLOWED" },
    });
    const put = await context.auth.handle(
      new Request(`${APP_URL}/api/auth/get-session`, { method: "PUT" }),
      "a",
    );
    expect(put.headers.get("allow")).toBe("GET");
  });

  it("charge each path to its scope", () => {
    const { auth } = onDatabase(context.test, [], [], { requireConfirmation: true });
    const scopeOf = (method: string, path: string) => auth.scopeOf(method, `/api/auth${path}`);
    expect(scopeOf("POST", "/sign-up/email")).toBe("auth-sign-up");
    expect(scopeOf("POST", "/sign-in/email")).toBe("auth-sign-in");
    for (const path of [
      "/change-password",
      "/request-password-reset",
      "/reset-password",
      "/send-verification-email",
    ]) {
      expect(scopeOf("POST", path)).toBe("auth-password");
    }
    for (const path of ["/verify-email", "/reset-password/abc"]) {
      expect(scopeOf("GET", path)).toBe("auth-sign-in");
    }
    expect(scopeOf("GET", "/get-session")).toBe("api");
    for (const path of ["/sign-out", "/update-user", "/revoke-session", "/revoke-other-sessions"]) {
      expect(scopeOf("POST", path)).toBe("auth-session");
    }
    expect(scopeOf("POST", "/nothing")).toBeNull();
    expect(scopeOf("GET", "/sign-in/email")).toBeNull();
    expect(context.auth.scopeOf("POST", "/api/auth/send-verification-email")).toBeNull();
  });

  it.each([
    ["", "callbackURL: is required"],
    ["?callbackUrl=/x", "callbackURL: is required"],
    ["?callbackURL=", "callbackURL: must not be empty"],
    ["?callbackURL=/x&callbackURL=/y", "callbackURL: given more than once"],
  ])("name the parameter of a link that cannot be used: %s", async (query, error) => {
    const request = new Request(`${APP_URL}/api/auth/reset-password/abc${query}`);
    expect(await problem(await context.auth.handle(request, "a"))).toEqual({
      status: 400,
      body: { error, message: error, code: "BAD_REQUEST" },
    });
  });

  it.each([
    ["{", 400, "expected JSON"],
    ["", 400, "expected JSON"],
    ["null", 400, "expected a JSON object"],
    ["[1]", 400, "expected a JSON object"],
    [`"x"`, 400, "expected a JSON object"],
    ["{}", 400, "email: is required"],
    ["[".repeat(100_000), 400, "expected JSON"],
  ])("reject the body %.20s with a sentence", async (body, status, error) => {
    const request = new Request(`${APP_URL}/api/auth/sign-in/email`, {
      method: "POST",
      body,
      headers: { "content-type": "application/json" },
    });
    expect(await problem(await context.auth.handle(request, "a"))).toEqual({
      status,
      body: { error, message: error, code: "BAD_REQUEST" },
    });
  });

  it.each([
    "application/x-www-form-urlencoded",
    "text/plain",
    "multipart/form-data; boundary=x",
    "",
    "application/json; charset=latin1",
  ])("reject a body that does not say it is JSON in UTF-8: %s", async (type) => {
    const response = await context.call("/sign-in/email", BODY, { "content-type": type });
    expect(await problem(response)).toMatchObject({
      status: 415,
      body: { error: "Content-Type: expected application/json", code: "UNSUPPORTED_MEDIA_TYPE" },
    });
  });

  it("delete the session and the cookie on sign-out", async () => {
    const { cookie } = await context.signedUp();
    const request = new Request(`${APP_URL}/api/auth/sign-out`, { method: "POST", headers: { cookie } });
    const response = await context.auth.handle(request, "a");
    expect(response.status).toBe(200);
    expect(response.headers.getSetCookie().some((line) => /session_token=;.*Max-Age=0/.test(line))).toBe(
      true,
    );
    expect((await context.identify({ cookie })).caller.kind).toBe("anonymous");
  });

  it.each<[string, Record<string, string>, number]>([
    ["no browser's headers", {}, 200],
    ["our own origin", { origin: APP_URL, "sec-fetch-site": "same-origin" }, 200],
    ["our other own origin", { origin: "http://127.0.0.1:3000" }, 200],
    ["an address typed in", { "sec-fetch-site": "none" }, 200],
    ["a foreign referer alone", { referer: "https://evil.example/" }, 200],
    ["a foreign origin", { origin: "https://evil.example" }, 403],
    ["our name on another port", { origin: "http://localhost:3001" }, 403],
    ["an opaque origin", { origin: "null" }, 403],
    ["another site", { "sec-fetch-site": "cross-site" }, 403],
    ["a sister site", { "sec-fetch-site": "same-site", origin: APP_URL }, 403],
  ])("check the origin of a write by cookie with %s", async (_, headers, status) => {
    const { cookie, email } = await context.signedUp();
    const body = { currentPassword: PASSWORD, newPassword: "another good password" };
    const response = await context.call("/change-password", body, { cookie, ...headers });
    expect(response.status).toBe(status);
    if (status === 403) expect(await response.json()).toMatchObject({ error: "Forbidden" });
    const signIn = await context.call("/sign-in/email", { email, password: PASSWORD });
    expect(signIn.status).toBe(status === 403 ? 200 : 401);
  });

  it("set HttpOnly cookies for this origin, Secure on https", async () => {
    const secure = onDatabase(context.test, [], [], { appUrl: "https://app.example.com" });
    for (const [server, prefix, ending] of [
      [context as Omit<Accounts, "test">, "", "HttpOnly; SameSite=Lax"],
      [secure, "__Host-", "HttpOnly; Secure; SameSite=Lax"],
    ] as const) {
      const email = `${prefix}cookies@example.com`;
      const response = await server.call("/sign-up/email", { ...BODY, email });
      expect(response.headers.getSetCookie()).toHaveLength(1);
      expect(response.headers.getSetCookie()[0]).toMatch(
        new RegExp(`^${prefix}better-auth\\.session_token=\\S+; Max-Age=604800; Path=/; ${ending}$`),
      );
      expect(cookieOf(response)).not.toBe("");
    }
  });
});

describe("while the database is unreachable", () => {
  const context = accounts();
  let away: Omit<Accounts, "test" | "mails" | "lines">;
  let database: TestDatabase["database"];
  beforeAll(() => {
    database = openDatabase({
      url: "postgres://nobody@127.0.0.1:9/none",
      prepared: true,
      maxConnections: 2,
      answerTimeoutMs: 1_000,
    });
    away = onDatabase({ ...context.test, database }, [], context.lines);
  });
  afterAll(() => database.close());

  it.each<[string, unknown]>([
    ["/sign-up/email", BODY],
    ["/sign-in/email", BODY],
    ["/sign-out", {}],
    ["/get-session", undefined],
    ["/change-password", { currentPassword: PASSWORD, newPassword: PASSWORD }],
    ["/request-password-reset", { email: BODY.email }],
    ["/reset-password/secret-token?callbackURL=%2Fx", undefined],
    ["/reset-password", { token: "secret-token", newPassword: PASSWORD }],
  ])("%s returns 503 without details", async (path, body) => {
    const { cookie } = await context.signedUp();
    const response = await away.call(path, body, { cookie });
    expect(response.headers.get("retry-after")).toBe("5");
    expect(response.headers.getSetCookie()).toEqual([]);
    expect(await problem(response)).toMatchObject({
      status: 503,
      body: { error: "Service unavailable", code: "SERVICE_UNAVAILABLE" },
    });
    expect(context.lines.some(({ level }) => level === "error")).toBe(true);
    expect(JSON.stringify(context.lines)).not.toMatch(/secret-token|session_token/);
  });

  it("authentication fails instead of treating the caller as signed out", async () => {
    const { cookie } = await context.signedUp();
    const unavailable = { name: "DatabaseUnavailable" };
    await expect(away.identify({ cookie })).rejects.toMatchObject(unavailable);
    await expect(away.identify({ "x-api-key": `tg_${"a".repeat(40)}` })).rejects.toMatchObject(unavailable);
    expect((await away.identify({ cookie: `${cookie.slice(0, -4)}AAA=` })).caller.kind).toBe("anonymous");
  });
});
