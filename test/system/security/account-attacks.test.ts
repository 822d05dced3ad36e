import { describe, expect, it } from "vitest";
import { eventually } from "../../support/eventually.ts";
import { cookieOf, createUser, type TestUser } from "../../support/people.ts";
import { totp } from "../../support/totp.ts";
import { GENEROUS_LIMITS } from "../../support/variables.ts";
import { securityContext } from "./owasp/security-context.ts";
import { type Attack, send } from "./owasp/send.ts";

const context = securityContext();

const auth = (path: string, attack: Attack = {}, url = context.url) =>
  send(url, `POST /api/auth${path}`, attack);
const isSignedIn = async (cookie: string) =>
  (await send(context.url, "GET /api/users/me", { cookie })).status === 200;
const userRow = async (id: string) =>
  (
    await context.test.rows(
      'select role, email, email_verified, banned, two_factor_enabled from "user" where id = $1',
      [id],
    )
  )[0];
const fresh = () => createUser(context.test);
const sessionToken = async (userId: string) =>
  (await context.test.rows<{ token: string }>("select token from session where user_id = $1", [userId]))[0]
    ?.token;

async function withTwoFactor() {
  const person = await fresh();
  const { cookie, password } = person;
  const { totpURI, backupCodes } = (await auth("/two-factor/enable", { cookie, body: { password } })).body;
  const verified = await auth("/two-factor/verify-totp", { cookie, body: { code: totp(totpURI) } });
  expect(verified.status).toBe(200);
  return { ...person, cookie: cookieOf(verified), totpURI, backupCodes } as TestUser & {
    totpURI: string;
    backupCodes: string[];
  };
}

describe("an account takeover", () => {
  it.each([
    ["role", "admin"],
    ["banned", false],
    ["emailVerified", true],
    ["twoFactorEnabled", true],
    ["id", "user_chosen"],
    ["createdAt", "2001-01-01T00:00:00Z"],
  ])("fails by setting %s at sign-up", async (field, value) => {
    const email = `mass-${field}@example.com`.toLowerCase();
    const body = { name: "M", email, password: "a password of some length", [field]: value };
    const { status, body: created } = await auth("/sign-up/email", { body });
    expect(status).toBe(200);
    expect(created.user.id).not.toBe("user_chosen");
    expect(await userRow(created.user.id)).toMatchObject({
      role: "user",
      banned: false,
      email_verified: false,
      two_factor_enabled: false,
    });
  });

  it.each([
    ["email", "taken-over@example.com"],
    ["role", "admin"],
    ["emailVerified", true],
    ["twoFactorEnabled", false],
    ["__proto__", { role: "admin" }],
  ])("fails by setting %s with update-user", async (field, value) => {
    const { id, cookie, email } = await fresh();
    const body = JSON.parse(`{"name":"New","${field}":${JSON.stringify(value)}}`);
    await auth("/update-user", { cookie, body });
    expect(await userRow(id)).toMatchObject({ role: "user", email, email_verified: false });
  });

  it.each(["UPPER", "blanks"])("fails by a second account with the same address in %s", async (kind) => {
    const { email } = context.victim;
    const sameEmail = kind === "UPPER" ? email.toUpperCase() : `  ${email} `;
    const body = { name: "M", email: sameEmail, password: "a password of some length" };
    expect((await auth("/sign-up/email", { body })).status).toBe(409);
  });

  it("fails by changing to another user's address, who gets no mail, with the usual response", async () => {
    const { cookie } = await fresh();
    const before = (await context.mails()).filter((mail) =>
      mail.includes(`To: ${context.victim.email}`),
    ).length;
    const refusedChange = await auth("/change-email", { cookie, body: { newEmail: context.victim.email } });
    const free = await auth("/change-email", { cookie, body: { newEmail: "nobody-yet@example.com" } });
    expect([refusedChange.status, refusedChange.text]).toEqual([free.status, free.text]);
    const after = (await context.mails()).filter((mail) =>
      mail.includes(`To: ${context.victim.email}`),
    ).length;
    expect(after).toBe(before);
  });

  it.each(["x@example.com\r\nBcc: evil@example.com", "a@example.com,b@example.com", "<a@example.com>"])(
    "fails by injecting a header or a recipient in a new address: %j",
    async (newEmail) => {
      const { cookie } = await fresh();
      expect((await auth("/change-email", { cookie, body: { newEmail } })).status).toBe(400);
    },
  );

  it("fails by using one kind of token as another", async () => {
    const { cookie, id } = await fresh();
    const session = await sessionToken(id);
    for (const token of [session, "%", "' or ''='", "A".repeat(43), "A".repeat(32), id, ""]) {
      expect((await auth("/confirm-email-change", { body: { token } })).status).toBe(400);
      const reset = { token, newPassword: "a password of some length" };
      expect((await auth("/reset-password", { body: reset })).status).toBe(400);
    }
    expect(await isSignedIn(cookie)).toBe(true);
  });

  it("fails by a pending email change, which the owner's new password cancels", async () => {
    const owner = await fresh();
    const attackers = cookieOf(
      await auth("/sign-in/email", { body: { email: owner.email, password: owner.password } }),
    );
    await auth("/change-email", { cookie: attackers, body: { newEmail: "mallory@example.com" } });
    const change = { currentPassword: owner.password, newPassword: "a new and better one" };
    expect((await auth("/change-password", { cookie: owner.cookie, body: change })).status).toBe(200);
    expect(await context.test.rows("select from email_change where user_id = $1", [owner.id])).toEqual([]);
    expect(await isSignedIn(attackers)).toBe(false);
  });
});

describe("sessions", () => {
  it("refuses to revoke sessions of other users by token or id", async () => {
    const { cookie } = await fresh();
    await auth("/revoke-session", { cookie, body: { token: await sessionToken(context.victim.id) } });
    expect(await isSignedIn(context.victim.cookie)).toBe(true);
  });

  it("keeps the sessions of other users when a user revokes all of their own", async () => {
    const { cookie } = await fresh();
    expect((await auth("/revoke-sessions", { cookie })).status).toBe(200);
    expect(await isSignedIn(cookie)).toBe(false);
    expect(await isSignedIn(context.victim.cookie)).toBe(true);
  });

  it("end after 90 days, however often they were refreshed", async () => {
    const { cookie, id } = await fresh();
    const age = (days: number) =>
      context.test.rows(
        "update session set created_at = now() - $2::int * interval '1 day', expires_at = now() + interval '7 days' where user_id = $1",
        [id, days],
      );
    await age(89);
    expect(await isSignedIn(cookie)).toBe(true);
    await age(91);
    expect(await isSignedIn(cookie)).toBe(false);
    expect((await send(context.url, "GET /api/auth/get-session", { cookie })).text).toBe("null");
    expect((await send(context.url, "GET /api/auth/list-sessions", { cookie })).status).toBe(401);
    const change = { currentPassword: "x", newPassword: "a password of some length" };
    expect((await auth("/change-password", { cookie, body: change })).status).toBe(401);
  });

  it("are not usable by a token from the list of sessions", async () => {
    const { cookie } = await fresh();
    const [listed] = (await send(context.url, "GET /api/auth/list-sessions", { cookie })).body as {
      token: string;
    }[];
    const [name] = cookie.split("=");
    expect(await isSignedIn(`${name}=${listed?.token}`)).toBe(false);
    expect(await isSignedIn(`${name}=${listed?.token}.${listed?.token}`)).toBe(false);
  });

  it.each([
    "GET /api/auth/list-sessions",
    "POST /api/auth/revoke-sessions",
    "POST /api/auth/revoke-other-sessions",
    "POST /api/auth/revoke-session",
    "POST /api/auth/update-user",
    "POST /api/auth/change-email",
    "POST /api/auth/change-password",
    "POST /api/auth/two-factor/enable",
    "POST /api/auth/two-factor/disable",
    "POST /api/auth/two-factor/generate-backup-codes",
  ])("cannot be managed with an API key, with or without a cookie: %s", async (request) => {
    const { key, cookie, password } = context.victim;
    const body = {
      name: "Mallory",
      token: "t",
      newEmail: "mallory@example.com",
      password,
      currentPassword: password,
      newPassword: "a password of some length",
    };
    const sent = request.startsWith("POST") ? { body } : {};
    for (const credentials of [{ key }, { key, cookie }]) {
      const { status } = await send(context.url, request, { ...sent, ...credentials });
      expect([request, status]).toEqual([request, 401]);
    }
    expect(await isSignedIn(cookie)).toBe(true);
  });

  it("ends the sessions of a banned or deleted user at once, everywhere", async () => {
    const { cookie, id, email } = await fresh();
    await context.test.rows('update "user" set banned = true where id = $1', [id]);
    expect(await isSignedIn(cookie)).toBe(false);
    expect((await send(context.url, "GET /api/auth/list-sessions", { cookie })).status).toBe(401);
    expect((await auth("/change-email", { cookie, body: { newEmail: `x${email}` } })).status).toBe(401);
  });
});

describe("the second factor", () => {
  it("is not bypassed by the password, a used or forged cookie, or another sign-in's", async () => {
    const { email, password, totpURI } = await withTwoFactor();
    const first = await auth("/sign-in/email", { body: { email, password } });
    expect(first.body).toMatchObject({ twoFactorRedirect: true });
    expect(first.body.token).toBeUndefined();
    const pending = cookieOf(first);
    expect(await isSignedIn(pending)).toBe(false);
    const [name, value = ""] = pending.split("=");
    const session = (context.attacker.cookie.split("=")[1] as string).split(";")[0];
    for (const cookie of [
      "",
      `${name}=${value.slice(0, -6)}AAAA%3D`,
      `${name}=${session}`,
      `${name}=2fa-x`,
    ]) {
      const { status } = await auth("/two-factor/verify-totp", { cookie, body: { code: totp(totpURI) } });
      expect(status).toBe(401);
    }
    expect(
      (await auth("/two-factor/verify-totp", { cookie: pending, body: { code: totp(totpURI) } })).status,
    ).toBe(200);
    const repeated = await auth("/two-factor/verify-totp", {
      cookie: pending,
      body: { code: totp(totpURI) },
    });
    expect(repeated.status).toBe(401);
  });

  it.each(["12345", "abcdef", "1234567", "", " ", "0x1234", "１２３４５６"])(
    "rejects the code %j",
    async (code) => {
      expect((await auth("/two-factor/verify-totp", { body: { code } })).status).toBe(400);
    },
  );

  it("does not complete the victim's sign-in with an attacker's code", async () => {
    const victim = await withTwoFactor();
    const attacker = await withTwoFactor();
    const body = { email: victim.email, password: victim.password };
    const pending = cookieOf(await auth("/sign-in/email", { body }));
    for (const code of attacker.backupCodes.slice(0, 2)) {
      expect((await auth("/two-factor/verify-backup-code", { cookie: pending, body: { code } })).status).toBe(
        400,
      );
    }
  });

  it("cannot be disabled or replaced with a stolen session alone", async () => {
    const { cookie, id } = await withTwoFactor();
    for (const body of [
      {},
      { password: "" },
      { password: `${context.attacker.password}x` },
      { password: null },
    ]) {
      expect((await auth("/two-factor/disable", { cookie, body })).status).toBe(400);
      expect((await auth("/two-factor/enable", { cookie, body })).status).toBe(400);
      expect((await auth("/two-factor/generate-backup-codes", { cookie, body })).status).toBe(400);
    }
    expect(await userRow(id)).toMatchObject({ two_factor_enabled: true });
  });

  it("is required of administrators on every surface when configured", async () => {
    const url = await context.serverWith({ ...GENEROUS_LIMITS, REQUIRE_ADMIN_2FA: "on" });
    const { cookie } = context.admin;
    const reads = ["GET /api/audit", "GET /api/webhook-deliveries", "GET /api/user-directory"];
    for (const request of reads) expect((await send(url, request, { cookie })).status).toBe(403);
    expect((await send(url, "GET /api/trpc/user.list", { cookie })).status).toBe(403);
    const query = { query: "{ deliveries { items { id } } }" };
    expect((await send(url, "POST /api/graphql", { cookie, body: query })).text).toMatch(/FORBIDDEN|GRAPHQL/);
    expect((await send(url, "GET /api/users", { cookie })).body.users).toHaveLength(1);
    expect((await send(url, "GET /api/users/me", { cookie })).status).toBe(200);
  });
});

describe("password guesses", () => {
  it("counts guesses from a whole /48, in any case of the address, against one account, while sessions keep working", async () => {
    const url = await context.serverWith({ ...GENEROUS_LIMITS, TRUSTED_PROXIES: "1" });
    const { email, password, cookie } = await fresh();
    const guess = (n: number, secret: string) =>
      auth(
        "/sign-in/email",
        {
          headers: { "x-forwarded-for": `2001:db8:1:${n}::1` },
          body: { email: n % 2 ? email.toUpperCase() : ` ${email}`, password: secret },
        },
        url,
      );
    for (let n = 0; n < 10; n += 1) expect((await guess(n, "wrong")).status).toBe(401);
    const refused = await guess(99, password);
    expect([refused.status, refused.body.code]).toEqual([429, "TOO_MANY_REQUESTS"]);
    expect(Number(refused.fields["retry-after"])).toBeGreaterThan(0);
    expect(await isSignedIn(cookie)).toBe(true);
  });

  it("are still limited after a requested reset", async () => {
    const { email, password } = await fresh();
    await auth("/sign-in/email", { body: { email, password: "wrong" } });
    await context.test.rows("update sign_in_failure set failures = 10 where key like 'account:%'");
    await auth("/request-password-reset", { body: { email } });
    expect((await auth("/sign-in/email", { body: { email, password } })).status).toBe(429);
    await context.test.rows("truncate sign_in_failure");
  });

  it("do not reveal accounts by mails: at most five, with the same response", async () => {
    await context.test.rows("truncate mail_recipient");
    const { email } = await fresh();
    const before = (await context.mails()).length;
    const answers = new Set<string>();
    for (let n = 0; n < 7; n += 1) {
      const { status, text } = await auth("/request-password-reset", { body: { email } });
      answers.add(`${status} ${text}`);
    }
    const response = await auth("/request-password-reset", { body: { email: "no-one@example.com" } });
    answers.add(`${response.status} ${response.text}`);
    expect(answers.size).toBe(1);
    expect((await context.mails()).length - before).toBeLessThanOrEqual(5);
  });
});

describe("API keys", () => {
  it.each(["POST /api/portal", "POST /api/v2/portal", "POST /api/trpc/billing.openPortal"])(
    "do not open the billing portal: %s",
    async (request) => {
      expect((await send(context.url, request, { key: context.victim.key, body: {} })).status).toBe(403);
    },
  );

  it("returns 404 for revoking keys of other users", async () => {
    const { cookie } = context.attacker;
    expect((await send(context.url, `DELETE /api/api-keys/${context.victim.keyId}`, { cookie })).status).toBe(
      404,
    );
  });

  it("created by a squatter are revoked when the owner resets the password", async () => {
    const squatter = await fresh();
    const created = await send(context.url, "POST /api/api-keys", {
      cookie: squatter.cookie,
      body: { name: "k" },
    });
    await context.test.rows("truncate mail_recipient");
    const mailed = async () => (await context.mails()).filter((mail) => mail.includes(squatter.email));
    await auth("/request-password-reset", { body: { email: squatter.email } });
    await eventually(async () => (await mailed()).length, 1);
    const [mail = ""] = await mailed();
    const token = /reset-password\/([\w-]+)/.exec(mail)?.[1];
    const body = { token, newPassword: "the owner's own password" };
    expect((await auth("/reset-password", { body })).status).toBe(200);
    expect((await send(context.url, "GET /api/users/me", { key: created.body.key })).status).toBe(401);
    expect(await isSignedIn(squatter.cookie)).toBe(false);
  });
});

describe("the audit log", () => {
  it("is refused to users, keys and demoted administrators", async () => {
    const admin = await fresh();
    await context.test.rows(`update "user" set role = 'admin' where id = $1`, [admin.id]);
    expect((await send(context.url, "GET /api/audit", { cookie: admin.cookie })).status).toBe(200);
    await context.test.rows(`update "user" set role = 'user' where id = $1`, [admin.id]);
    for (const credentials of [
      { cookie: admin.cookie },
      { cookie: context.attacker.cookie },
      { key: context.admin.key },
    ]) {
      expect((await send(context.url, "GET /api/audit", credentials)).status).toBe(403);
    }
  });

  it.each([
    ["action=%25", 200],
    ["action=' or 1=1 --", 200],
    ["actor=%00", 400],
    ["cursor=99999999999999999999", 400],
    ["cursor=-1", 400],
    ["from=yesterday", 400],
    ["limit=1000000", 400],
    ["select=*", 400],
  ])("reveals nothing for ?%s", async (query, status) => {
    const response = await send(context.url, `GET /api/audit?${query.replaceAll(" ", "%20")}`, {
      cookie: context.admin.cookie,
    });
    expect(response.status).toBe(status);
    if (status === 200) expect(response.body.entries).toEqual([]);
  });
});

describe("other sites and caches", () => {
  const PATHS = [
    "sign-out",
    "update-user",
    "revoke-sessions",
    "revoke-other-sessions",
    "change-email",
    "change-password",
    "two-factor/disable",
    "two-factor/enable",
    "confirm-email-change",
  ];

  it.each<[string, Record<string, string>]>([
    ["another site's origin", { origin: "https://evil.example" }],
    ["an opaque origin", { origin: "null" }],
    ["a cross-site fetch", { "sec-fetch-site": "cross-site" }],
    ["a sister site's fetch", { "sec-fetch-site": "same-site" }],
  ])("cannot change an account: %s", async (_, headers) => {
    const { cookie, password } = context.victim;
    for (const path of PATHS) {
      const body = { password, currentPassword: password, newPassword: "mallory's password", name: "M" };
      const answer = await auth(`/${path}`, { cookie, headers, body });
      expect([path, answer.status, answer.body.code]).toEqual([path, 403, "FORBIDDEN"]);
      expect(answer.fields["set-cookie"]).toBeUndefined();
    }
    expect(await isSignedIn(cookie)).toBe(true);
  });

  it.each(["GET", "PUT", "DELETE", "PATCH"])("cannot do by %s what needs a POST", async (method) => {
    const { cookie } = await fresh();
    const headers = { "x-http-method-override": "POST" };
    for (const path of PATHS) {
      const { status } = await send(context.url, `${method} /api/auth/${path}`, { cookie, headers });
      expect([path, status]).toEqual([path, 405]);
    }
    expect(await isSignedIn(cookie)).toBe(true);
  });

  it.each([
    "/api/auth/get-session/x.css",
    "/api/auth/get-session.css",
    "/api/auth/list-sessions/..%2fstyle.css",
    "/api/auth/list-sessions;.png",
    "/api/users/me/avatar.png",
    "/api/users/me.json",
    "/api/audit/logo.svg",
    "/api/audit;x.js",
  ])("cannot be deceived into caching %s", async (path) => {
    const response = await send(context.url, `GET ${path}`, { cookie: context.admin.cookie });
    expect(response.status).toBe(404);
    expect(response.fields["cache-control"]).toBe("no-store");
    expect(response.text).not.toContain("@example.com");
  });

  it.each([
    "GET /api/auth/get-session",
    "GET /api/auth/list-sessions",
    "GET /api/audit",
    "GET /api/users/me",
  ])("do not store the response to %s", async (request) => {
    const response = await send(context.url, request, { cookie: context.admin.cookie });
    expect(response.status).toBe(200);
    expect(response.fields["cache-control"]).toMatch(/no-store/);
  });

  it("get no session cookie over https, as it has the __Host- prefix", async () => {
    const url = await context.serverWith({ ...GENEROUS_LIMITS, APP_URL: "https://app.example.com" });
    const { email, password } = await fresh();
    const answer = await auth("/sign-in/email", { body: { email, password } }, url);
    const cookies = (answer.fields["set-cookie"] ?? []) as string[];
    expect(cookies.length).toBeGreaterThan(0);
    for (const cookie of cookies) {
      expect(cookie).toMatch(/^__Host-[^;]+; .*Path=\/; .*HttpOnly; Secure; SameSite=Lax$/);
      expect(cookie).not.toMatch(/domain/i);
    }
    const [pair = ""] = (cookies[0] as string).split(";");
    const whoWith = async (cookie: string) => (await send(url, "GET /api/users/me", { cookie })).status;
    expect(await whoWith(pair)).toBe(200);
    expect(await whoWith(pair.replace("__Host-", ""))).toBe(401);
    expect(await whoWith(pair.replace("__Host-", "__Secure-"))).toBe(401);
  });
});
