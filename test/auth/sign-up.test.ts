import { describe, expect, it } from "vitest";
import { cookieOf } from "../support/people.ts";
import { ADDRESS, accounts, PASSWORD } from "./accounts.ts";

describe("sign-up", () => {
  const context = accounts();
  const userOf = async (email: string) =>
    (await context.test.rows(`select * from "user" where email = $1`, [email]))[0];
  const signUp = (more: Record<string, unknown> = {}) => ({
    name: "Person",
    email: `someone-${Math.random().toString(36).slice(2)}@example.com`,
    password: PASSWORD,
    ...more,
  });

  it("starts a session, with the address in lower case and the name trimmed", async () => {
    const response = await context.call(
      "/sign-up/email",
      signUp({ name: "  Ada  ", email: " Ada@Example.COM " }),
      {
        "user-agent": "a".repeat(2_000),
        "x-forwarded-for": "203.0.113.9",
        "x-real-ip": "203.0.113.9",
      },
    );
    expect(response.status).toBe(200);
    expect(response.headers.get("cache-control")).toBe("no-store");
    expect(await userOf("ada@example.com")).toMatchObject({ name: "Ada", role: "user", banned: false });
    const { caller } = await context.identify({ cookie: cookieOf(response) });
    expect(caller.kind).toBe("session");
    const [session] = await context.test.rows("select ip_address, user_agent from session where id = $1", [
      caller.kind === "session" ? caller.sessionId : "",
    ]);
    // The server decides the client's address, not a header.
    expect(session).toEqual({ ip_address: ADDRESS, user_agent: "a".repeat(500) });
  });

  it("ignores body fields that users must not set", async () => {
    const body = signUp({
      id: "user_0",
      role: "admin",
      banned: true,
      banReason: "x",
      emailVerified: true,
      onboarded: true,
      locale: "zh",
      preferences: { theme: "dark" },
      image: "https://example.com/x.png",
      createdAt: "2001-01-01T00:00:00Z",
      constructor: { prototype: { role: "admin" } },
      "no such column": 1,
    });
    const response = await context.call(
      "/sign-up/email",
      JSON.parse(`{"__proto__":{"role":"admin"},${JSON.stringify(body).slice(1)}`),
    );
    expect(response.status).toBe(200);
    const { user } = (await response.json()) as { user: { id: string } };
    expect(user.id).not.toBe("user_0");
    expect(await userOf(body.email)).toMatchObject({
      id: user.id,
      role: "user",
      banned: false,
      ban_reason: null,
      email_verified: false,
      onboarded: false,
      locale: "en",
      preferences: { theme: "system", emailNotifications: true },
      image: null,
    });
  });

  it.each([
    ["name", { name: "" }],
    ["name", { name: "   " }],
    ["name", { name: "\u200b\u00a0" }],
    ["name", { name: "a".repeat(101) }],
    ["name", { name: "a\0b" }],
    ["name", { name: "a\nb" }],
    ["name", { name: "\ud800" }],
    ["name", { name: 7 }],
    ["name", { name: undefined }],
    ["email", { email: "nobody" }],
    ["email", { email: "a\0@example.com" }],
    ["email", { email: `${"a".repeat(250)}@example.com` }],
    ["email", { email: "a@example.com\r\nBcc: b@example.com" }],
    ["email", { email: ["a@example.com"] }],
    ["password", { password: "1234567" }],
    ["password", { password: "a".repeat(129) }],
    ["password", { password: "12345678\0" }],
    ["password", { password: { $ne: "" } }],
    ["rememberMe", { rememberMe: "yes" }],
  ])("rejects an invalid %s with a sentence that names it: %j", async (field, bad) => {
    const response = await context.call("/sign-up/email", signUp(bad));
    expect(response.status).toBe(400);
    const body = (await response.json()) as { error: string };
    expect(Object.keys(body)).toEqual(["error", "message", "code"]);
    expect(body.error).toMatch(new RegExp(`^${field}: (expected|must not|is required)`));
  });

  it.each(["é".repeat(100), "😀".repeat(100), "李小龍", "عبد الله", "x"])(
    "accepts the name %s",
    async (name) => {
      const body = signUp({ name });
      expect((await context.call("/sign-up/email", body)).status).toBe(200);
      expect(await userOf(body.email)).toMatchObject({ name });
    },
  );

  it("accepts passwords of 128 characters in any script, and later changes to one", async () => {
    const password = "😀".repeat(128);
    const body = signUp({ password });
    const created = await context.call("/sign-up/email", body);
    expect(created.status).toBe(200);
    const changed = await context.call(
      "/change-password",
      { currentPassword: password, newPassword: "𝒳".repeat(128) },
      { cookie: cookieOf(created) },
    );
    expect(changed.status).toBe(200);
    const tooLong = await context.call("/sign-up/email", signUp({ password: `${password}x` }));
    expect({ status: tooLong.status, body: await tooLong.json() }).toMatchObject({
      status: 400,
      body: { error: "password: expected at most 128 characters" },
    });
  });

  it("lets one of simultaneous sign-ups have an address, and rejects the others", async () => {
    const body = signUp();
    const responses = await Promise.all(
      Array.from({ length: 8 }, (_, n) =>
        context.call("/sign-up/email", { ...body, email: n % 2 ? body.email.toUpperCase() : body.email }),
      ),
    );
    const statuses = responses.map(({ status }) => status).sort();
    expect(statuses).toEqual([200, 409, 409, 409, 409, 409, 409, 409]);
    for (const answer of responses.filter(({ status }) => status === 409)) {
      expect(await answer.json()).toMatchObject({
        error: "An account with this email address already exists",
      });
    }
    const user = await userOf(body.email);
    expect(
      await context.test.rows("select count(*)::int from account where user_id = $1", [user?.id]),
    ).toEqual([{ count: 1 }]);
  });

  it("stores nothing when it fails half-way, and reveals no cause", async () => {
    await context.test.rows(
      "create function fails() returns trigger language plpgsql as $$ begin raise exception 'disk of host db-7 is full'; end $$",
    );
    await context.test.rows(
      "create trigger fails before insert on account for each row execute function fails()",
    );
    const body = signUp();
    const response = await context.call("/sign-up/email", body);
    await context.test.rows("drop trigger fails on account");
    expect({ status: response.status, body: await response.json() }).toMatchObject({
      status: 500,
      body: { error: "Internal server error" },
    });
    expect(await userOf(body.email)).toBeUndefined();
    expect(context.lines.filter(({ level }) => level === "error").length).toBeGreaterThan(0);
    expect((await context.call("/sign-up/email", body)).status).toBe(200);
  });

  it("succeeds for more simultaneous users than connections, without blocking other requests", async () => {
    const signUps = Promise.all(Array.from({ length: 24 }, () => context.call("/sign-up/email", signUp())));
    const { cookie } = await context.signedUp();
    for (let n = 0; n < 20; n += 1) expect((await context.identify({ cookie })).caller.kind).toBe("session");
    expect((await signUps).every(({ status }) => status === 200)).toBe(true);
  });

  it("logs no password and no token", () => {
    const text = JSON.stringify(context.lines, (_, value) =>
      value instanceof Error ? { message: value.message, stack: value.stack } : value,
    );
    expect(text).not.toContain(PASSWORD);
    expect(text).not.toMatch(/session_token|params:/);
  });
});
