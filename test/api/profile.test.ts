import { beforeAll, describe, expect, it } from "vitest";
import { freshServer } from "../support/fresh-server.ts";
import { sendRequest } from "../support/http.ts";
import { createAdmin, createUser, type TestUser } from "../support/people.ts";

const { test, server } = freshServer();
let person: TestUser;

beforeAll(async () => {
  person = await createUser(test, "Ada");
});

const change = (body: unknown, headers: Record<string, string> = {}) =>
  sendRequest(server.url, "PATCH", "/api/users/me", { cookie: person.cookie, body, headers });
const profile = async () => (await sendRequest(server.url, "GET", "/api/users/me", person)).body;

/** A refused request has changed nothing. */
async function expectRefused(
  body: unknown,
  sentence: RegExp,
  headers: Record<string, string> = {},
): Promise<void> {
  const before = await profile();
  const answer = await change(body, headers);
  expect([answer.status, answer.body]).toEqual([400, { error: expect.stringMatching(sentence) }]);
  expect(await profile()).toEqual(before);
}

describe("PATCH /api/users/me", () => {
  it("changes the fields that are sent, and returns the whole profile", async () => {
    const time = expect.stringMatching(/Z$/);
    expect(await profile()).toEqual({
      id: person.id,
      name: "Ada",
      email: person.email,
      emailVerified: false,
      role: "user",
      locale: "en",
      preferences: { theme: "system", emailNotifications: true },
      onboarded: false,
      createdAt: time,
      updatedAt: time,
    });
    const before = await profile();
    const { status, body } = await change({ name: "  Grace  ", preferences: { theme: "dark" } });
    expect([status, body]).toEqual([
      200,
      { ...before, name: "Grace", preferences: { theme: "dark", emailNotifications: true }, updatedAt: time },
    ]);
    expect(Date.parse(body.updatedAt)).toBeGreaterThan(Date.parse(before.updatedAt));
    expect((await change({ preferences: { emailNotifications: false } })).body.preferences).toEqual({
      theme: "dark",
      emailNotifications: false,
    });
    expect((await change({ locale: "zh" })).body).toMatchObject({ name: "Grace", locale: "zh" });
    const nothing = "expected at least one field to change";
    expect((await change({})).body).toEqual({ error: nothing });
    expect((await change(undefined)).body).toEqual({ error: nothing });
    expect((await change({ preferences: {} })).body.preferences).toEqual({
      theme: "dark",
      emailNotifications: false,
    });
  });

  it("keeps simultaneous changes to different preferences", async () => {
    await change({ preferences: { theme: "system", emailNotifications: true } });
    await Promise.all([
      change({ preferences: { theme: "light" } }),
      change({ preferences: { emailNotifications: false } }),
    ]);
    expect((await profile()).preferences).toEqual({ theme: "light", emailNotifications: false });
  });

  it.each([
    ["one character", "A", "A"],
    ["one emoji", "🧭", "🧭"],
    ["100 characters", "x".repeat(100), "x".repeat(100)],
    ["100 characters of two units each", "🧭".repeat(100), "🧭".repeat(100)],
    ["100 characters and white space round them", `\t ${"é".repeat(100)} \n`, "é".repeat(100)],
    ["another script", "李小龙 عمر", "李小龙 عمر"],
    ["what would be markup or SQL elsewhere", `<b>'; drop table "user"--`, `<b>'; drop table "user"--`],
  ])("accepts a name of %s", async (_, name, storedName) => {
    expect((await change({ name })).body.name).toBe(storedName);
    expect((await profile()).name).toBe(storedName);
  });

  it.each([
    ["nothing", ""],
    ["white space", " \t\n\u00a0\u2003"],
    ["what nobody sees", "\u200b\u2060"],
    ["101 characters", "x".repeat(101)],
    ["101 emoji", "🧭".repeat(101)],
    ["a NUL", "A\0B"],
    ["a line feed", "A\nB"],
    ["half a character", "A\ud83e"],
    ["a number", 7],
    ["null", null],
    ["a list", ["A"]],
    ["an object", { first: "A" }],
  ])("rejects a name of %s", async (_, name) => {
    await expectRefused({ name }, /^(name: )?(expected|must not contain)/);
  });

  it.each([
    [{ role: "admin" }, /^role: unknown field$/],
    [{ name: "A", role: "admin" }, /^role: /],
    [{ banned: false }, /^banned: /],
    [{ email: "other@example.com" }, /^email: /],
    [{ emailVerified: true }, /^emailVerified: /],
    [{ id: "user_0" }, /^id: /],
    [{ onboarded: true }, /^onboarded: /],
    [{ createdAt: "2020-01-01T00:00:00Z" }, /^createdAt: /],
    [{ locale: "fr" }, /^locale: expected one of en, de, es, zh$/],
    [{ locale: "EN" }, /^locale: /],
    [{ locale: null }, /^locale: /],
    [{ preferences: { theme: "blue" } }, /^preferences\.theme: expected one of system, light, dark$/],
    [
      { preferences: { emailNotifications: "yes" } },
      /^preferences\.emailNotifications: expected true or false$/,
    ],
    [{ preferences: { beta: true } }, /^preferences\.beta: unknown field$/],
    [{ preferences: null }, /^preferences: expected an object$/],
    [{ preferences: [] }, /^preferences: expected an object$/],
    [{ constructor: { prototype: { role: "admin" } } }, /^constructor/],
  ] as [object, RegExp][])("rejects the body %j", async (body, sentence) => {
    await expectRefused(body, sentence);
  });

  it.each([
    ["no JSON", "name=Eve"],
    ["half of it", '{"name":"Eve"'],
    ["a list", '[{"name":"Eve"}]'],
    ["text", '"Eve"'],
    ["null", "null"],
    ["a field twice", '{"name":"Eve","name":"Mallory"}'],
    ["a prototype", '{"__proto__":{"role":"admin"}}'],
    ["a NUL escaped", '{"name":"A\\u0000"}'],
    ["half a character escaped", '{"name":"A\\ud83e"}'],
    ["too deep", `{"name":${"[".repeat(50)}${"]".repeat(50)}}`],
    ["no UTF-8", Buffer.from('{"name":"\xff"}', "latin1")],
    ["UTF-16", Buffer.from('{"name":"Eve"}', "utf16le")],
    ["a byte order mark", '\ufeff{"name":"Eve"}'],
  ])("rejects a body that is %s", async (_, body) => {
    await expectRefused(body, /./);
  });

  it.each([
    "text/plain",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "text/json",
    "json",
  ])("rejects a body of type %s", async (type) =>
    expectRefused('{"name":"Eve"}', /Content-Type: application\/json/, { "content-type": type }),
  );

  it("accepts 64 KiB, and rejects more", async () => {
    const sized = (bytes: number) => `{"name":"Eve"${" ".repeat(bytes - 14)}}`;
    const refused = await change(sized(64 * 1024 + 1));
    expect([refused.status, refused.body]).toEqual([
      413,
      { error: expect.stringMatching(/at most 65536 bytes/) },
    ]);
    const streamed = await fetch(`${server.url}/api/users/me`, {
      method: "PATCH",
      headers: { cookie: person.cookie, "content-type": "application/json" },
      body: new Blob([sized(200_000)]).stream(),
      duplex: "half",
    } as RequestInit);
    expect(streamed.status).toBe(413);
    expect((await profile()).name).not.toBe("Eve");
    expect((await change(sized(64 * 1024))).status).toBe(200);
    expect((await profile()).name).toBe("Eve");
  });
});

describe("GET /api/users", () => {
  it("returns all users to an administrator, and only the caller to others", async () => {
    const admin = await createAdmin(test);
    const ids = async (call: object) =>
      (await sendRequest(server.url, "GET", "/api/users?limit=100", call)).body.users.map(
        (user: { id: string }) => user.id,
      );
    expect(await ids(person)).toEqual([person.id]);
    expect(await ids(admin)).toEqual(
      (await test.rows<{ id: string }>(`select id from "user" order by created_at, id`)).map(({ id }) => id),
    );
    const { body } = await sendRequest(server.url, "GET", "/api/users", admin);
    for (const user of body.users) {
      expect(Object.keys(user)).not.toContain("password");
      expect(Object.keys(user).sort()).toEqual(Object.keys(await profile()).sort());
    }
  });

  it("returns 401 to a banned or deleted user from the next request on", async () => {
    const deletedUser = await createUser(test);
    const statusOfProfile = async () =>
      (await sendRequest(server.url, "GET", "/api/users/me", deletedUser)).status;
    expect(await statusOfProfile()).toBe(200);
    await test.rows(`update "user" set banned = true where id = $1`, [deletedUser.id]);
    expect(await statusOfProfile()).toBe(401);
    await test.rows(`update "user" set banned = false where id = $1`, [deletedUser.id]);
    expect(await statusOfProfile()).toBe(200);
    await test.rows(`delete from "user" where id = $1`, [deletedUser.id]);
    expect(await statusOfProfile()).toBe(401);
  });
});
