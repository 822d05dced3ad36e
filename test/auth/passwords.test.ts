import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import { cookieOf } from "../support/people.ts";
import { ADDRESS, accounts, PASSWORD } from "./accounts.ts";

const NEXT = "another good password";
const WRONG = {
  error: "Incorrect email or password",
  message: "Incorrect email or password",
  code: "INVALID_EMAIL_OR_PASSWORD",
};

describe("sign-in", () => {
  const context = accounts();
  const signIn = (email: string, password: string, more = {}) =>
    context.call("/sign-in/email", { email, password, ...more });

  it("succeeds with the right password, and fails the same way for a wrong one as for an unknown address", async () => {
    const { id, email } = await context.signedUp();
    const response = await signIn(email.toUpperCase(), PASSWORD, { callbackURL: "https://evil.example/" });
    expect(response.status).toBe(200);
    expect(response.headers.get("location")).toBeNull();
    expect((await context.identify({ cookie: cookieOf(response) })).caller).toMatchObject({ userId: id });

    for (const [triedEmail, password] of [
      [email, "wrong password"],
      ["unknown@example.com", PASSWORD],
      [email, ""],
    ] as const) {
      const refused = await signIn(triedEmail, password);
      expect({ status: refused.status, body: await refused.json() }).toMatchObject({
        status: 401,
        body: WRONG,
      });
      expect(refused.headers.getSetCookie()).toEqual([]);
    }
  });

  it("fails the same way for a user without a password", async () => {
    await context.test.rows(
      `insert into "user" (id, name, email) values ('user_0', 'User 0', 'user_0@example.com')`,
    );
    const answer = await signIn("user_0@example.com", PASSWORD);
    expect({ status: answer.status, body: await answer.json() }).toMatchObject({ status: 401, body: WRONG });
  });

  it("reports a ban only after the right password, and signs in again once it has ended", async () => {
    const { id, email, cookie } = await context.signedUp();
    await context.test.rows(`update "user" set banned = true where id = $1`, [id]);
    expect((await signIn(email, "wrong password")).status).toBe(401);
    const refused = await signIn(email, PASSWORD);
    expect({ status: refused.status, body: await refused.json() }).toMatchObject({
      status: 403,
      body: expect.objectContaining({ error: "This account is suspended" }),
    });
    expect(refused.headers.getSetCookie()).toEqual([]);
    // Better Auth's own routes must not accept the session that the ban has ended either.
    const session = await context.call("/get-session", undefined, { cookie });
    expect({ status: session.status, body: await session.json() }).toMatchObject({ status: 200, body: null });
    const change = { currentPassword: PASSWORD, newPassword: NEXT };
    expect((await context.call("/change-password", change, { cookie })).status).toBe(401);
    await context.test.rows(`update "user" set ban_expires = now() - interval '1 second' where id = $1`, [
      id,
    ]);
    expect((await signIn(email, PASSWORD)).status).toBe(200);
  });

  it("ignores the session when an API key is sent", async () => {
    const { cookie } = await context.signedUp();
    const headers = { cookie, authorization: "Bearer tg_x" };
    expect(await (await context.call("/get-session", undefined, headers)).json()).toBeNull();
    const change = { currentPassword: PASSWORD, newPassword: NEXT };
    expect((await context.call("/change-password", change, headers)).status).toBe(401);
    await context.call("/sign-out", {}, headers);
    expect((await context.identify({ cookie })).caller.kind).toBe("session");
  });
});

describe("changing the password", () => {
  const context = accounts();

  it("requires the current one, ends other sessions, and keeps this one", async () => {
    const { email, cookie } = await context.signedUp();
    const elsewhere = cookieOf(await context.call("/sign-in/email", { email, password: PASSWORD }));
    const wrong = await context.call(
      "/change-password",
      { currentPassword: "wrong password", newPassword: NEXT },
      { cookie },
    );
    expect({ status: wrong.status, body: await wrong.json() }).toMatchObject({
      status: 400,
      body: expect.objectContaining({ error: "currentPassword: is not the current password" }),
    });
    const response = await context.call(
      "/change-password",
      { currentPassword: PASSWORD, newPassword: NEXT, revokeOtherSessions: false },
      { cookie },
    );
    expect(response.status).toBe(200);
    expect((await context.identify({ cookie: elsewhere })).caller.kind).toBe("anonymous");
    expect((await context.identify({ cookie: cookieOf(response) })).caller.kind).toBe("session");
    expect((await context.call("/sign-in/email", { email, password: PASSWORD })).status).toBe(401);
    expect((await context.call("/sign-in/email", { email, password: NEXT })).status).toBe(200);
  });

  it("needs a session", async () => {
    const response = await context.call("/change-password", { currentPassword: PASSWORD, newPassword: NEXT });
    expect({ status: response.status, body: await response.json() }).toMatchObject({
      status: 401,
      body: expect.objectContaining({ error: "Unauthorized" }),
    });
  });
});

describe("resetting the password", () => {
  const context = accounts();
  const reset = (token: unknown) => context.call("/reset-password", { token, newPassword: NEXT });
  const BAD_LINK = expect.objectContaining({ error: "This link is invalid or has expired" });

  it("responds alike for an unknown address, and mails a known one a link that works once", async () => {
    const { email, cookie } = await context.signedUp();
    const known = await context.call("/request-password-reset", { email });
    const unknown = await context.call("/request-password-reset", { email: "unknown@example.com" });
    expect([known.status, unknown.status]).toEqual([200, 200]);
    expect(await known.json()).toEqual(await unknown.json());
    expect(context.mails).toMatchObject([{ to: email, subject: "Reset your password" }]);
    const link = new URL(/https?:\S+/.exec(context.mails[0]?.text ?? "")?.[0] ?? "");
    expect(link.origin).toBe("http://localhost:3000");

    const opened = await context.auth.handle(new Request(link), "192.0.2.7");
    expect(opened.status).toBe(302);
    const page = new URL(opened.headers.get("location") as string);
    expect(page.pathname).toBe("/reset-password");
    const token = page.searchParams.get("token") as string;
    // The database does not contain it.
    expect(JSON.stringify(await context.test.rows("select * from verification"))).not.toContain(token);

    expect((await reset(token)).status).toBe(200);
    expect((await context.identify({ cookie })).caller.kind).toBe("anonymous");
    expect((await context.call("/sign-in/email", { email, password: NEXT })).status).toBe(200);
    const secondReset = await reset(token);
    expect({ status: secondReset.status, body: await secondReset.json() }).toMatchObject({
      status: 400,
      body: BAD_LINK,
    });
  });

  it.each(["/", "/reset-password?error=INVALID_TOKEN", "http://localhost:3000/blog", ""])(
    "leads to the page that sets it, not where a stranger wants the link to lead: %j",
    async (redirectTo) => {
      const { email } = await context.signedUp();
      expect((await context.call("/request-password-reset", { email, redirectTo })).status).toBe(200);
      const link = new URL(/https?:\S+/.exec(context.mails.at(-1)?.text ?? "")?.[0] ?? "");
      const opened = await context.auth.handle(new Request(link), ADDRESS);
      const page = new URL(opened.headers.get("location") as string);
      expect([page.pathname, [...page.searchParams.keys()]]).toEqual(["/reset-password", ["token"]]);
      expect((await reset(page.searchParams.get("token"))).status).toBe(200);
    },
  );

  it("succeeds once for two simultaneous requests", async () => {
    const { email } = await context.signedUp();
    await context.call("/request-password-reset", { email });
    const token = /reset-password\/([^?]+)/.exec(context.mails.at(-1)?.text ?? "")?.[1];
    const responses = await Promise.all([reset(token), reset(token), reset(token)]);
    expect(responses.map(({ status }) => status).sort()).toEqual([200, 400, 400]);
  });

  it("rejects an expired and an invented token", async () => {
    const { email } = await context.signedUp();
    await context.call("/request-password-reset", { email });
    const token = /reset-password\/([^?]+)/.exec(context.mails.at(-1)?.text ?? "")?.[1];
    await context.test.rows("update verification set expires_at = expires_at - interval '61 minutes'");
    for (const bad of [token, "x", "%00", "\0", "a".repeat(65), 7, undefined]) {
      expect((await reset(bad)).status).toBe(400);
    }
  });

  it("does not redirect to another site", async () => {
    const { email } = await context.signedUp();
    for (const redirectTo of ["https://evil.example/", "//evil.example/", "javascript:alert(1)"]) {
      expect((await context.call("/request-password-reset", { email, redirectTo })).status).toBe(403);
    }
    const opened = await context.call("/reset-password/abc?callbackURL=https%3A%2F%2Fevil.example%2F");
    expect(opened.status).toBe(403);
  });
});

describe("with email confirmation required", () => {
  const context = accounts({ requireConfirmation: true });

  it.each(["/.//evil.example/", "/..//evil.example/", "/x/..//evil.example/", "/././/evil.example/"])(
    "an invalid link redirects to no other site: %s",
    async (callbackURL) => {
      const query = new URLSearchParams({ token: "expired", callbackURL });
      const opened = await context.call(`/verify-email?${query}`);
      const location = opened.headers.get("location");
      expect([opened.status, location]).toEqual([403, null]);
      expect(await opened.json()).toMatchObject({ code: "INVALID_CALLBACK_URL" });
    },
  );

  it("sign-up starts no session before the mailed link is opened", async () => {
    const body = { name: "Person", email: "confirm@example.com", password: PASSWORD };
    const signUp = await context.call("/sign-up/email", body);
    expect({ status: signUp.status, cookies: signUp.headers.getSetCookie() }).toEqual({
      status: 200,
      cookies: [],
    });
    expect((await context.call("/sign-in/email", body)).status).toBe(403);
    const mail = context.mails.findLast(({ subject }) => subject === "Confirm your email address");
    const link = new URL(/https?:\S+/.exec(mail?.text ?? "")?.[0] ?? "");
    // A page with a button: mail scanners open links.
    expect(link.pathname).toBe("/verify-email");
    expect(link.searchParams.get("callbackURL")).toBe("/verify-email?done");
    const { search } = link;
    expect((await context.call(`/verify-email${search.replace("token=", "token=x")}`)).status).toBe(302);
    expect((await context.call("/sign-in/email", body)).status).toBe(403);
    expect((await context.call(`/verify-email${search}`)).status).toBe(302);
    expect((await context.call("/sign-in/email", body)).status).toBe(200);
    expect((await context.call("/verify-email?token=x")).status).toBe(400);
  });

  it.each([
    ["Reset your password", "?", "/reset-password?token="],
    ["Reset your password", "URL=", "/reset-password?token="],
    ["Reset your password", "-password", "/reset-password?token="],
    ["Confirm your email address", "ken=", "/verify-email?done&error=INVALID_TOKEN"],
    ["Confirm your email address", "&callback", "/verify-email?done"],
    ["Confirm your email address", "%3Fdone", "/verify-email?done"],
  ])(
    "a link that a mail program has cut leads a browser to a page: %s before %s",
    async (subject, end, page) => {
      const email = `cut-${randomUUID()}@example.com`;
      await context.call("/sign-up/email", { name: "Person", email, password: PASSWORD });
      await context.call("/request-password-reset", { email });
      const mail = context.mails.findLast((mail) => mail.to === email && mail.subject === subject);
      const mailed = /https?:\S+/.exec(mail?.text ?? "")?.[0] ?? "";
      // Those of an earlier release did without a button.
      const link = mailed.replace(/(?<!\/api\/auth)\/verify-email\?/, "/api/auth/verify-email?");
      const cut = link.slice(0, link.lastIndexOf(end));
      const opened = await context.auth.handle(
        new Request(cut, { headers: { accept: "text/html" } }),
        ADDRESS,
      );
      expect(opened.status).toBe(302);
      expect(opened.headers.get("location")).toContain(page);
    },
  );

  it("sign-up does not reveal who has an account", async () => {
    const { email } = { email: "confirm@example.com" };
    const refusedSignUp = await context.call("/sign-up/email", { name: "X", email, password: PASSWORD });
    const free = await context.call("/sign-up/email", {
      name: "X",
      email: "free@example.com",
      password: PASSWORD,
    });
    expect([refusedSignUp.status, free.status]).toEqual([200, 200]);
    const shape = async (answer: Response) =>
      Object.keys(((await answer.json()) as { user: object }).user).sort();
    expect(await shape(refusedSignUp)).toEqual(await shape(free));
    expect(context.mails.filter(({ subject }) => subject === "You already have an account")).toHaveLength(1);
    const resent = (email: string) => context.call("/send-verification-email", { email: email });
    expect([(await resent("free@example.com")).status, (await resent("x@example.com")).status]).toEqual([
      200, 200,
    ]);
  });
});
