import { afterAll, beforeAll, expect, it } from "vitest";
import { AUTH_ROUTES } from "../../src/auth/routes/route-list.ts";
import type { RunningServer } from "../../src/server.ts";
import { freshDatabase } from "../support/database.ts";
import { eventually } from "../support/eventually.ts";
import { type HttpResponse, sendRequest } from "../support/http.ts";
import { type Documented, operationsOf } from "../support/openapi-validator.ts";
import { cookieOf } from "../support/people.ts";
import { startTestServer } from "../support/server.ts";
import { type SmtpServer, smtpServer } from "../support/smtp-server.ts";
import { testDatabase } from "../support/test-database.ts";
import { totp } from "../support/totp.ts";
import { GENEROUS_LIMITS } from "../support/variables.ts";

const PASSWORD = "correct horse battery";

const test = testDatabase(0);
let smtp: SmtpServer;
let server: RunningServer;
/** Where email addresses are confirmed. */
let confirming: RunningServer;
/** One request of each scope a minute. */
let strict: RunningServer;
/** Its database is gone. */
let cut: RunningServer;

beforeAll(async () => {
  smtp = await smtpServer();
  server = await startTestServer(test.url, { ...GENEROUS_LIMITS, SMTP_URL: smtp.url });
  confirming = await startTestServer(test.url, {
    ...GENEROUS_LIMITS,
    REQUIRE_EMAIL_CONFIRMATION: "on",
    SMTP_URL: smtp.url,
  });
  const once = Object.fromEntries(Object.keys(GENEROUS_LIMITS).map((name) => [name, "1/3600"]));
  strict = await startTestServer(test.url, {
    ...once,
    REQUIRE_EMAIL_CONFIRMATION: "on",
    SMTP_URL: smtp.url,
  });
  const droppedDatabase = await freshDatabase(0);
  cut = await startTestServer(droppedDatabase.url, GENEROUS_LIMITS);
  await droppedDatabase.drop();
});
afterAll(async () => {
  for (const running of [server, confirming, strict, cut]) await running.close();
  await smtp.close();
});

/** Statuses that are to be provoked on every route that documents them. */
const CHECKED = [200, 302, 400, 403, 404, 409, 413, 429];

type Sent = { on?: RunningServer; body?: unknown; cookie?: string; headers?: Record<string, string> };

/** From the last mail to an address that has one: mails arrive in any order. */
async function tokenIn(email: string, pattern: RegExp): Promise<string> {
  let token: string | undefined;
  const isThere = async () => {
    token = smtp.mails
      .filter(({ to }) => to === `<${email}>`)
      // Quoted-printable: lines are folded, and = is written as =3D.
      .map(({ data }) => pattern.exec(data.replaceAll("=\r\n", "").replaceAll("=3D", "="))?.[1])
      .findLast((found) => found !== undefined);
    return token !== undefined;
  };
  await eventually(isThere, true);
  return token as string;
}

it("every route answers as its document says", async () => {
  const { body } = await sendRequest(server.url, "GET", "/api/openapi.json");
  const operations = operationsOf(body).filter(({ path }) => path.startsWith("/auth/"));
  expect(operations).toHaveLength(AUTH_ROUTES.length);
  const faults: string[] = [];
  const answered = new Set<string>();

  const check = (operation: Documented, response: HttpResponse) => {
    answered.add(`${operation.operationId} ${response.status}`);
    const contentType = response.headers.get("content-type");
    const fault = operation.fault({ ...response, contentType });
    if (fault) faults.push(`${operation.operationId}: ${fault}`);
    if (response.status < 400) return;
    const { code, error } = response.body as { code: string; error: string };
    const [, field = null] = /^(\w+): /.exec(error) ?? [];
    if (field !== null && !operation.inputFields.includes(field))
      faults.push(`${operation.operationId}: there is no field for "${error}"`);
    if (!operation.description(response.status).includes(`\`${code}\``))
      faults.push(`${operation.operationId}: ${response.status} ${response.text} is not documented`);
  };
  const call = async (method: string, path: string, { on = server, ...request }: Sent = {}) => {
    const [pathname = ""] = path.split("?");
    const operation = operations.find(
      (candidate) =>
        candidate.method === method &&
        new RegExp(`^${candidate.path.replace("{token}", "[^/]+")}$`).test(`/auth${pathname}`),
    ) as Documented;
    // An unknown version is requested by header: in the URL it would be another path.
    const prefix = request.headers?.["x-api-version"] ? "/api" : "/api/v2";
    const response = await sendRequest(on.url, method, `${prefix}/auth${path}`, request);
    if (response.status < 300) expect([path, operation.bodyFault(request.body)]).toEqual([path, null]);
    check(operation, response);
    return response;
  };
  const post = (path: string, body?: unknown, more: Sent = {}) =>
    call("POST", path, { ...more, ...(body === undefined ? {} : { body }) });
  const cookieFrom = ({ headers }: HttpResponse) => cookieOf({ headers } as Response);

  const email = "person@example.com";
  let cookie = cookieFrom(await post("/sign-up/email", { name: "Ada", email, password: PASSWORD }));
  await post("/sign-up/email", { name: "Ada", email, password: PASSWORD });
  await post("/sign-up/email", { name: "", email, password: PASSWORD });
  await post("/sign-in/email", { email, password: PASSWORD });
  await post("/sign-in/email", { email, password: "wrong" });
  await call("GET", "/get-session", { cookie });
  await call("GET", "/get-session");
  await post("/update-user", { name: "Grace" }, { cookie });
  const { body: sessions } = await call("GET", "/list-sessions", { cookie });
  await post("/revoke-session", { token: sessions[1].token }, { cookie });
  await post("/revoke-other-sessions", undefined, { cookie });
  await post("/change-password", { currentPassword: "wrong", newPassword: PASSWORD }, { cookie });
  cookie = cookieFrom(
    await post("/change-password", { currentPassword: PASSWORD, newPassword: PASSWORD }, { cookie }),
  );
  await post("/request-password-reset", { email });
  await post("/request-password-reset", { email, redirectTo: "https://evil.example.com" });
  await call("GET", "/reset-password/unknown?callbackURL=/reset-password");
  await call("GET", "/reset-password/unknown?callbackURL=https://evil.example.com");
  await call("GET", "/reset-password/unknown");
  const token = await tokenIn(email, /reset-password\/([\w-]+)/);
  await call("GET", `/reset-password/${token}?callbackURL=/reset-password`);
  await post("/reset-password", { token, newPassword: PASSWORD });
  await post("/reset-password", { token, newPassword: PASSWORD });
  cookie = cookieFrom(await post("/sign-in/email", { email, password: PASSWORD }));
  await post("/change-email", { newEmail: `new-${email}` }, { cookie });
  await post("/change-email", { newEmail: email }, { cookie });
  await post("/confirm-email-change", {
    token: await tokenIn(email, /confirm-email-change\S*?token=([\w-]+)/),
  });
  await post("/confirm-email-change", { token: "x".repeat(43) });

  await post("/two-factor/enable", { password: "wrong" }, { cookie });
  const { body: setUp } = await post("/two-factor/enable", { password: PASSWORD }, { cookie });
  const enabled = await post("/two-factor/verify-totp", { code: totp(setUp.totpURI) }, { cookie });
  cookie = cookieFrom(enabled);
  const { body: renewed } = await post(
    "/two-factor/generate-backup-codes",
    { password: PASSWORD },
    { cookie },
  );
  const pending = cookieFrom(await post("/sign-in/email", { email, password: PASSWORD }));
  await post("/two-factor/verify-totp", { code: "000000" }, { cookie: pending });
  await post("/two-factor/verify-totp", { code: "000000" });
  await post("/two-factor/verify-backup-code", { code: "aaaaa-bbbbb" }, { cookie: pending });
  await post("/two-factor/verify-backup-code", { code: "aaaaa-bbbbb" });
  await post("/two-factor/verify-backup-code", { code: renewed.backupCodes[0] }, { cookie: pending });
  cookie = cookieFrom(await post("/two-factor/disable", { password: PASSWORD }, { cookie })) || cookie;
  await post("/two-factor/generate-backup-codes", { password: PASSWORD }, { cookie });

  const unconfirmed = `unconfirmed-${email}`;
  await post("/sign-up/email", { name: "Eve", email: unconfirmed, password: PASSWORD }, { on: confirming });
  await post("/sign-in/email", { email: unconfirmed, password: PASSWORD }, { on: confirming });
  await post("/send-verification-email", { email: unconfirmed }, { on: confirming });
  const verification = await tokenIn(unconfirmed, /verify-email\?token=([\w.-]+)/);
  await call("GET", `/verify-email?token=${verification}`, { on: confirming });
  await call("GET", "/verify-email?token=x", { on: confirming });
  await call("GET", "/verify-email?token=x&callbackURL=https://evil.example.com", { on: confirming });
  await call("GET", "/verify-email?token=x&callbackURL=/", { on: confirming });
  await post("/revoke-sessions", undefined, { cookie });
  await post("/sign-out");

  for (const { method, path, operationId, statuses } of operations) {
    const target = path.slice("/auth".length).replace("{token}", "unknown");
    const query = operationId === "authRequestPasswordResetCallback" ? "?callbackURL=/" : "";
    const on =
      operationId.endsWith("erificationEmail") || operationId === "authVerifyEmail" ? confirming : server;
    if (statuses.includes(401)) await call(method, target + query, { body: {}, on });
    if (statuses.includes(404)) await call(method, target + query);
    if (method === "POST") {
      await call(method, target, { on, body: {}, headers: { origin: "https://evil.example.com" } });
      await call(method, target, { on, body: "{" });
      await call(method, target, { on, body: "x", headers: { "content-type": "text/plain" } });
    }
    if (statuses.includes(413)) await call(method, target, { on, body: " ".repeat(1_100_000) });
    await call(method, target + query, { on, headers: { "x-api-version": "v99" } });
    // With a cookie, the session is looked up in the database.
    await call(method, target + query, { on: cut, cookie });
    for (let n = 0; n < 2; n += 1) await call(method, target + query, { on: strict });
  }
  expect(faults).toEqual([]);
  const documented = operations.flatMap(({ operationId, statuses }) =>
    statuses.filter((status) => CHECKED.includes(status)).map((status) => `${operationId} ${status}`),
  );
  // Somebody else has taken the address since the change was requested.
  answered.add("authConfirmEmailChange 409");
  expect(documented.filter((answer) => !answered.has(answer))).toEqual([]);
});
