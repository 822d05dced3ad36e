import { describe, expect, it } from "vitest";
import { freshServer } from "../support/fresh-server.ts";
import { type HttpResponse, sendRequest } from "../support/http.ts";
import { createAdmin, createKey, createUser, type TestUser } from "../support/people.ts";

const FORBIDDEN = { error: "Forbidden" };

const { test, server } = freshServer();

describe("an API key", () => {
  it("acts as its owner, but cannot manage keys or administer", async () => {
    const owner = await createAdmin(test);
    const { id, key } = await createKey(server.url, owner);
    expect((await sendRequest(server.url, "GET", "/api/users/me", { key })).body.id).toBe(owner.id);
    expect((await sendRequest(server.url, "GET", "/api/api-keys", { key })).status).toBe(200);
    for (const [method, path, body] of [
      ["POST", "/api/api-keys", { name: "another" }],
      ["DELETE", `/api/api-keys/${id}`],
      ["GET", "/api/webhook-deliveries"],
      ["GET", "/api/webhook-deliveries/1"],
      ["POST", "/api/webhook-deliveries/1/replay"],
      ["POST", "/api/subscriptions/0d4c2f6e-6c3b-4a53-9d0a-3f1f6a0e7b11/reconcile"],
    ] as const) {
      for (const credentials of [{ key }, { key, cookie: owner.cookie }]) {
        const response = await sendRequest(server.url, method, path, { ...credentials, body });
        expect([method, path, response.status, response.body]).toEqual([method, path, 403, FORBIDDEN]);
      }
    }
    expect((await sendRequest(server.url, "GET", "/api/api-keys", owner)).body.apiKeys).toHaveLength(1);
    const users = await sendRequest(server.url, "GET", "/api/users", { key });
    expect(users.body.users.map((user: { id: string }) => user.id)).toEqual([owner.id]);
  });

  it("returns the same 401 for every invalid key, and ignores the cookie", async () => {
    const owner = await createUser(test);
    const revoked = await createKey(server.url, owner);
    const expired = await createKey(server.url, owner);
    await test.rows("update api_key set expires_at = now() - interval '1 second' where id = $1", [
      expired.id,
    ]);
    expect((await sendRequest(server.url, "DELETE", `/api/api-keys/${revoked.id}`, owner)).status).toBe(200);
    const good = await createKey(server.url, owner);
    const presented: Record<string, string>[] = [
      ...[revoked.key, expired.key, `tg_${"x".repeat(40)}`, "tg_", "x"].flatMap((key) => [
        { authorization: `Bearer ${key}` },
        { "x-api-key": key },
      ]),
      { authorization: "Bearer" },
      { authorization: good.key },
      { authorization: `Bearer ${good.key} ${good.key}` },
      { authorization: `Bearer ${good.key}`, "x-api-key": revoked.key },
      { "x-api-key": "" },
    ];
    const answers: HttpResponse[] = [];
    for (const headers of presented) {
      for (const path of ["/api/users/me", "/api/plans"]) {
        answers.push(await sendRequest(server.url, "GET", path, { cookie: owner.cookie, headers }));
      }
    }
    for (const answer of answers) {
      expect([answer.status, answer.text]).toEqual([401, '{"error":"Unauthorized"}']);
      expect(answer.headers.get("www-authenticate")).toBe(answers[0]?.headers.get("www-authenticate"));
      expect([...answer.headers.keys()]).toEqual([...(answers[0]?.headers.keys() ?? [])]);
    }
    expect(answers[0]?.headers.get("www-authenticate")).toMatch(/^Bearer /);
    expect((await sendRequest(server.url, "GET", "/api/users/me", owner)).status).toBe(200);
  });
});

describe("a write by cookie", () => {
  const port = () => new URL(server.url).port;
  const rename = (
    person: TestUser,
    headers: Record<string, string>,
    call: object = { cookie: person.cookie },
  ) => sendRequest(server.url, "PATCH", "/api/users/me", { ...call, headers, body: { name: "Changed" } });
  const nameOf = async ({ id }: TestUser) =>
    (await test.rows(`select name from "user" where id = $1`, [id]))[0]?.name;

  it.each([
    { origin: "https://evil.example.com" },
    { origin: "null" },
    { origin: "http://localhost:1" },
    { origin: "https://app.example.com.evil.example.com" },
    { "sec-fetch-site": "cross-site" },
    { "sec-fetch-site": "same-site" },
    { "sec-fetch-site": "none, cross-site" },
    { "sec-fetch-site": "cross-site", origin: "http://localhost:$PORT" },
  ] as Record<string, string>[])(
    "from a foreign page (%o) returns 403 and changes nothing",
    async (headers) => {
      const person = await createUser(test);
      const sent = Object.fromEntries(
        Object.entries(headers).map(([name, value]) => [name, value.replace("$PORT", port())]),
      );
      const answer = await rename(person, sent);
      expect([answer.status, answer.body]).toEqual([403, FORBIDDEN]);
      expect(await nameOf(person)).toBe(person.name);
      for (const [method, path] of [
        ["POST", "/api/api-keys"],
        ["POST", "/api/checkout"],
        ["DELETE", "/api/api-keys/0d4c2f6e-6c3b-4a53-9d0a-3f1f6a0e7b11"],
      ] as const) {
        expect(
          (await sendRequest(server.url, method, path, { cookie: person.cookie, headers: sent })).status,
        ).toBe(403);
      }
      expect(await test.rows("select id from api_key where user_id = $1", [person.id])).toEqual([]);
    },
  );

  it("is accepted without Origin and Sec-Fetch-Site, and from each own origin", async () => {
    for (const headers of [
      {},
      { "sec-fetch-site": "same-origin" },
      { "sec-fetch-site": "none" },
      { origin: `http://localhost:${port()}` },
      { origin: `http://127.0.0.1:${port()}`, "sec-fetch-site": "same-origin" },
    ] as Record<string, string>[]) {
      const person = await createUser(test);
      expect((await rename(person, headers)).status).toBe(200);
      expect(await nameOf(person)).toBe("Changed");
    }
  });

  it("is not checked for an API key or a read", async () => {
    const person = await createUser(test);
    const { key } = await createKey(server.url, person);
    const headers = { origin: "https://evil.example.com", "sec-fetch-site": "cross-site" };
    expect((await rename(person, headers, { key })).status).toBe(200);
    expect(await nameOf(person)).toBe("Changed");
    expect(
      (await sendRequest(server.url, "GET", "/api/users/me", { cookie: person.cookie, headers })).status,
    ).toBe(200);
  });
});

describe("GET /api/auth/get-session", () => {
  const remaining = async (path: string, person: TestUser) =>
    Number((await sendRequest(server.url, "GET", path, person)).headers.get("x-ratelimit-remaining"));

  it("is charged to the user, as other reads are, and not to an address that users share", async () => {
    const [first, second] = [await createUser(test), await createUser(test)];
    const before = await remaining("/api/users/me", first);
    expect(await remaining("/api/auth/get-session", first)).toBe(before - 1);
    expect(await remaining("/api/auth/get-session", second)).toBe(before);
  });

  it("sends the cookie of a session that it has extended, once", async () => {
    const person = await createUser(test);
    await test.rows("update session set expires_at = now() + interval '3 days' where user_id = $1", [
      person.id,
    ]);
    const cookies = async () =>
      (await sendRequest(server.url, "GET", "/api/auth/get-session", person)).headers.getSetCookie();
    expect(await cookies()).toEqual([expect.stringMatching(/Max-Age=604800/)]);
    expect(await cookies()).toEqual([]);
  });
});

describe("with REQUIRE_ADMIN_2FA, an administrator without a second factor", () => {
  const strict = freshServer({ users: 1, variables: { REQUIRE_ADMIN_2FA: "on" } });

  it("has the rights of a user until one is set up", async () => {
    const admin = await createAdmin(strict.test);
    const send = (path: string) => sendRequest(strict.server.url, "GET", path, admin);
    const refused = await send("/api/v2/webhook-deliveries");
    expect([refused.status, refused.body.reason]).toEqual([403, "two_factor_required"]);
    expect((await send("/api/users")).body.users).toMatchObject([{ id: admin.id }]);

    await strict.test.rows(`update "user" set two_factor_enabled = true where id = $1`, [admin.id]);
    expect((await send("/api/v2/webhook-deliveries")).status).toBe(200);
    expect((await send("/api/users")).body.users).toHaveLength(2);
  });
});
