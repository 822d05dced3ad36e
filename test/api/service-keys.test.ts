import { beforeAll, describe, expect, it } from "vitest";
import { freshServer } from "../support/fresh-server.ts";
import { type HttpResponse, sendRequest } from "../support/http.ts";
import { createAdmin, type TestUser } from "../support/people.ts";
import { createServiceKey } from "../support/service-keys.ts";
import { createSubscription } from "../support/subscriptions.ts";
import { refusalOf, rpcClient } from "./rpc/rpc-client.ts";

const { test, server } = freshServer({ users: 20 });
let key: string;
let admin: TestUser;
beforeAll(async () => {
  await test.rows(`update "user" set external_id = 'shop-1' where id = 'user_1'`);
  await createSubscription(test, "user_1", { seats: 1 });
  await createSubscription(test, "user_2", { seats: 2 });
  ({ key } = await createServiceKey(test));
  admin = await createAdmin(test);
});

const send = (method: string, path: string, options: Parameters<typeof sendRequest>[3] = {}) =>
  sendRequest(server.url, method, path, { key, ...options });

const refusal = ({ status, body }: HttpResponse) => ({ status, reason: body.reason, params: body.params });

describe("a service key", () => {
  it("acts for the user that it names, by our id or theirs", async () => {
    for (const name of ["user=user_1", "externalId=shop-1"]) {
      const { body } = await send("GET", `/api/users/me?${name}`);
      expect(body.id).toBe("user_1");
      const { body: listed } = await send("GET", `/api/subscriptions?${name}&limit=5`);
      expect(listed.subscriptions.map((subscription: { userId: string }) => subscription.userId)).toEqual([
        "user_1",
      ]);
      const { body: users } = await send("GET", `/api/users?${name}`);
      expect(users.users.map((user: { id: string }) => user.id)).toEqual(["user_1"]);
      const id = listed.subscriptions[0].id;
      expect((await send("GET", `/api/subscriptions/${id}?${name}`)).status).toBe(200);
      expect((await send("GET", `/api/subscriptions/${id}/history?${name}`)).status).toBe(200);
      expect((await send("GET", `/api/subscriptions/${id}?user=user_2`)).status).toBe(404);
    }
  });

  it.each([
    ["none", "", { status: 400, reason: "invalid_input", params: { field: "user", problem: "missing" } }],
    ["an unknown one", "?user=nobody", { status: 404, reason: "not_found", params: { resource: "user" } }],
    [
      "one unknown to the other system",
      "?externalId=user_1",
      { status: 404, reason: "not_found", params: { resource: "user" } },
    ],
    [
      "two",
      "?user=user_1&externalId=shop-1",
      {
        status: 400,
        reason: "invalid_input",
        params: { field: "externalId", problem: "excludes", other: "user" },
      },
    ],
  ])("is refused when the user that it names is %s", async (_name, query, expected) => {
    expect(refusal(await send("GET", `/api/v2/subscriptions${query}`))).toEqual(expected);
  });

  it("acts for nobody when a write names one user in its body and another in its query string", async () => {
    const body = { planId: "no-such-plan", user: "user_1" };
    expect(refusal(await send("POST", "/api/v2/checkout?user=user_2", { body }))).toEqual({
      status: 400,
      reason: "invalid_input",
      params: { field: "user", problem: "repeated" },
    });
  });

  it("names the user in the body of a write, or in its query string", async () => {
    const body = { planId: "no-such-plan" };
    const expected = { status: 400, reason: "plan_unknown" };
    expect(await send("POST", "/api/v2/checkout", { body: { ...body, user: "user_1" } })).toMatchObject({
      status: 400,
      body: { reason: "plan_unknown" },
    });
    expect(refusal(await send("POST", "/api/v2/checkout?externalId=shop-1", { body }))).toMatchObject(
      expected,
    );
    expect(refusal(await send("POST", "/api/v2/checkout", { body }))).toMatchObject({
      status: 400,
      params: { field: "user", problem: "missing" },
    });
    const both = { ...body, user: "user_1", externalId: "shop-1" };
    expect(await send("POST", "/api/v2/checkout", { body: both })).toMatchObject({
      status: 400,
      body: { error: "externalId: cannot be given together with user" },
    });
  });

  it("names the user in the input of an RPC procedure", async () => {
    const { billing, user } = rpcClient(server.url, { key });
    expect((await user.me.query({ user: "user_2" }))?.id).toBe("user_2");
    expect(await billing.subscription.query({ externalId: "shop-1" })).toMatchObject({ userId: "user_1" });
    const { items } = await billing.payments.query({ externalId: "shop-1", limit: 5 });
    expect(items).toEqual([]);
    expect((await billing.entitlements.query({ user: "user_1" })).planId).toBe("pro");
    expect((await billing.check.query({ user: "user_1", feature: "projects" })).allowed).toBe(true);
    const refused = [
      user.me.query(),
      billing.createCheckout.mutate({ externalId: "shop-1", planId: "no-such-plan" }),
      billing.openPortal.mutate({ user: "nobody" }),
      // @ts-expect-error no service key may change a profile
      user.updateProfile.mutate({ user: "user_1", name: "Mallory" }),
    ];
    expect(await Promise.all(refused.map(refusalOf))).toEqual([
      ["BAD_REQUEST", "user: is required"],
      ["BAD_REQUEST", "planId: no such plan: no-such-plan"],
      ["NOT_FOUND", "No such user"],
      ["FORBIDDEN", "Forbidden"],
    ]);
  });

  it("is refused without the permission, with its name", async () => {
    const otherKey = await createServiceKey(test, { permissions: ["usage:write"] });
    const response = await send("GET", "/api/v2/users/me?user=user_1", { key: otherKey.key });
    expect(refusal(response)).toEqual({
      status: 403,
      reason: "missing_permission",
      params: { permission: "users:read" },
    });
  });

  it("is refused with an Origin header", async () => {
    const headers = { origin: server.url };
    const response = await send("GET", "/api/v2/users/me?user=user_1", { headers });
    expect(refusal(response)).toEqual({ status: 403, reason: "cross_origin", params: {} });
  });

  it.each([
    ["GET", "/api/plans"],
    ["PATCH", "/api/users/me"],
    ["GET", "/api/api-keys"],
    ["GET", "/api/notifications"],
    ["GET", "/api/webhook-deliveries"],
    ["GET", "/api/user-directory"],
    ["POST", "/api/chat"],
    ["GET", "/api/plugins/renewals/calendar.ics"],
  ])("never reaches %s %s", async (method, path) => {
    const options = method === "GET" ? {} : { body: {} };
    expect((await send(method, `${path}?user=user_1`, options)).status).toBe(403);
  });

  it("is charged only to its own limit, once per operation on every surface", async () => {
    const limitedKey = await createServiceKey(test, { limit: 5, windowSeconds: 3600 });
    const policy = '"service-key";q=5;w=3600';
    const remainingAfter = async (response: Promise<HttpResponse>) => {
      const { headers, status, text } = await response;
      expect([status, headers.get("ratelimit-policy")], text).toEqual([200, policy]);
      return Number(headers.get("x-ratelimit-remaining"));
    };
    const options = { key: limitedKey.key };
    const input = encodeURIComponent(JSON.stringify({ json: { user: "user_1" } }));
    expect(await remainingAfter(send("GET", "/api/users/me?user=user_1", options))).toBe(4);
    expect(await remainingAfter(send("GET", `/api/trpc/user.me?input=${input}`, options))).toBe(3);
    const query = `{ me(user: "user_1") { id } currentSubscription(externalId: "shop-1") { planId } }`;
    const answer = await send("POST", "/api/graphql", { ...options, body: { query } });
    expect(answer.body).toEqual({ data: { me: { id: "user_1" }, currentSubscription: { planId: "pro" } } });
    expect(await remainingAfter(Promise.resolve(answer))).toBe(1);
    expect(await remainingAfter(send("GET", "/api/users/me?user=user_1", options))).toBe(0);
    const refused = await send("GET", "/api/v2/users/me?user=user_1", options);
    expect(refused).toMatchObject({ status: 429, body: { reason: "rate_limited" } });
    expect(refused.headers.get("retry-after")).toMatch(/^\d+$/);
  });

  it("is refused with another secret that begins like it", async () => {
    const { key: own } = await createServiceKey(test);
    const forged = `${own.slice(0, 12)}${"a".repeat(32)}`;
    expect((await send("GET", "/api/users/me?user=user_1", { key: own })).status).toBe(200);
    expect((await send("GET", "/api/users/me?user=user_1", { key: forged })).status).toBe(401);
  });

  it("is refused once it has expired or is revoked", async () => {
    const expired = await createServiceKey(test, { expiresAt: new Date(Date.now() - 1000) });
    const revoked = await createServiceKey(test);
    await test.rows("update service_key set revoked_at = now() where id = $1", [revoked.id]);
    for (const { key: bad } of [expired, revoked, { key: `tgs_${"a".repeat(40)}` }, { key: "tgs_short" }]) {
      expect((await send("GET", "/api/users/me?user=user_1", { key: bad })).status).toBe(401);
    }
  });

  it("shows when it was last used", async () => {
    const { id, key: own } = await createServiceKey(test);
    await send("GET", "/api/users/me?user=user_1", { key: own });
    await expect
      .poll(async () => (await test.rows("select last_used_at from service_key where id = $1", [id]))[0], {
        timeout: 30_000,
      })
      .toEqual({ last_used_at: expect.any(Date) });
  });
});

describe("/api/service-keys", () => {
  const asAdmin = (method: "GET" | "POST" | "DELETE", path = "", body?: object) =>
    sendRequest(server.url, method, `/api/service-keys${path}`, {
      cookie: admin.cookie,
      ...(body ? { body } : {}),
    });
  const statusWith = async (key: string) =>
    (await sendRequest(server.url, "GET", "/api/entitlements?user=user_1", { key })).status;
  const listed = async (id: string) =>
    (await asAdmin("GET", "?limit=100")).body.serviceKeys.find((key: { id: string }) => key.id === id);

  it("creates a key with a limit as high as the limiter counts", async () => {
    const { status, body } = await asAdmin("POST", "", {
      name: "Load test",
      permissions: ["entitlements:read"],
      limit: "1000000/60",
    });
    expect([status, await statusWith(body.key)]).toEqual([201, 200]);
  });

  it("creates a key that is shown once and listed with what it may do", async () => {
    const { status, body } = await asAdmin("POST", "", {
      name: "Shop",
      permissions: ["usage:write", "entitlements:read"],
      limit: "7/30",
      expiresAt: null,
    });
    const { key, ...created } = body;
    expect([status, created]).toEqual([
      201,
      {
        id: expect.any(String),
        name: "Shop",
        prefix: key.slice(0, 12),
        permissions: ["entitlements:read", "usage:write"],
        limit: "7/30",
        expiresAt: null,
      },
    ]);
    const makers = await test.rows("select created_by from service_key where id = $1", [created.id]);
    expect(makers).toEqual([{ created_by: admin.id }]);
    expect(await listed(created.id)).toEqual({
      ...created,
      createdAt: expect.any(String),
      lastUsedAt: null,
      previousValidUntil: null,
    });
    expect(JSON.stringify((await asAdmin("GET")).body)).not.toContain(key);
  });

  it("rotates a key with two secrets valid at once, lists until when, and revokes all", async () => {
    const created = (await asAdmin("POST", "", { name: "Shop", permissions: ["entitlements:read"] })).body;
    const second = (await asAdmin("POST", `/${created.id}/rotate`)).body;
    expect([await statusWith(created.key), await statusWith(second.key)]).toEqual([200, 200]);
    const { previousValidUntil, prefix } = await listed(created.id);
    expect([previousValidUntil, prefix]).toEqual([second.previousValidUntil, second.prefix]);

    const third = (await asAdmin("POST", `/${created.id}/rotate`)).body;
    expect(await Promise.all([created, second, third].map(({ key }) => statusWith(key)))).toEqual([
      401, 200, 200,
    ]);
    expect((await asAdmin("DELETE", `/${created.id}`)).body).toEqual({ success: true });
    expect(await Promise.all([second, third].map(({ key }) => statusWith(key)))).toEqual([401, 401]);
    expect(await listed(created.id)).toBeUndefined();
    expect((await asAdmin("POST", `/${created.id}/rotate`)).body).toEqual({ error: "No such service key" });
    const { body } = await sendRequest(server.url, "GET", `/api/audit?target=${created.id}`, {
      cookie: admin.cookie,
    });
    expect(body.entries.map(({ action }: { action: string }) => action)).toEqual([
      "service_key.revoked",
      "service_key.rotated",
      "service_key.rotated",
      "service_key.created",
    ]);
    expect(JSON.stringify(body)).not.toContain(third.key);
  });

  it("rejects the previous secret a day after the rotation, of that key alone", async () => {
    const rotated = async () => {
      const { id, key } = (await asAdmin("POST", "", { name: "Shop", permissions: ["entitlements:read"] }))
        .body;
      return { id, previous: key, newest: (await asAdmin("POST", `/${id}/rotate`)).body.key };
    };
    const [aged, other] = [await rotated(), await rotated()];
    const statuses = () => Promise.all([aged.previous, aged.newest, other.previous].map(statusWith));
    const age = (hours: number) =>
      test.rows(
        "update service_key_secret set created_at = created_at - $2::int * interval '1 hour' where service_key_id = $1",
        [aged.id, hours],
      );
    await age(23);
    expect(await statuses()).toEqual([200, 200, 200]);
    expect((await listed(aged.id)).previousValidUntil).toEqual(expect.any(String));
    await age(2);
    expect(await statuses()).toEqual([401, 200, 200]);
    expect((await listed(aged.id)).previousValidUntil).toBeNull();
  });

  it("does not extend the previous secret beyond the key's expiry", async () => {
    const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
    const input = { name: "Shop", permissions: ["entitlements:read"], expiresAt };
    const { id, key: previous } = (await asAdmin("POST", "", input)).body;
    const { key: newest, previousValidUntil } = (await asAdmin("POST", `/${id}/rotate`)).body;
    expect(previousValidUntil).toBe(expiresAt);
    expect((await listed(id)).previousValidUntil).toBe(expiresAt);
    expect(await Promise.all([previous, newest].map(statusWith))).toEqual([200, 200]);
    await test.rows("update service_key set expires_at = now() - interval '1 second' where id = $1", [id]);
    expect(await Promise.all([previous, newest].map(statusWith))).toEqual([401, 401]);
    expect((await asAdmin("POST", `/${id}/rotate`)).status).toBe(404);
    const revoke = async () => (await asAdmin("DELETE", `/${id}`)).status;
    expect([await revoke(), await revoke()]).toEqual([200, 404]);
  });
});

describe("PUT /api/users/external/:externalId", () => {
  const put = (externalId: string, body: object) =>
    send("PUT", `/api/v2/users/external/${encodeURIComponent(externalId)}`, { body });

  it("creates a user, and updates them when it is repeated", async () => {
    const created = await put("crm/17", { email: "Ana@Example.com", name: "Ana", locale: "es" });
    expect(created).toMatchObject({
      status: 200,
      body: { externalId: "crm/17", email: "ana@example.com", name: "Ana", locale: "es", role: "user" },
    });
    await test.rows('update "user" set email_verified = true where id = $1', [created.body.id]);
    const repeated = await put("crm/17", { email: "ana@example.com", name: "Ana" });
    expect(repeated.body).toEqual({ ...created.body, emailVerified: true });
    const changed = await put("crm/17", { email: "ana@example.org", name: "Ana B" });
    expect(changed.body).toMatchObject({
      id: created.body.id,
      email: "ana@example.org",
      emailVerified: false,
      name: "Ana B",
      locale: "es",
    });
  });

  it("records in the audit log which key has changed an address, and from where", async () => {
    const { id } = (await put("crm/21", { email: "ana21@example.com", name: "Ana" })).body;
    const named = { email: "ana21@example.org", name: "Ana B" };
    for (const body of [{ email: "ana21@example.com", name: "Ana B" }, named, named])
      await put("crm/21", body);
    expect((await put("crm/21", { email: "user_2@example.com", name: "Ana" })).status).toBe(409);
    expect(
      await test.rows(
        `select actor_kind, actor_id, key_id = k.id::text as "isKey", address, action
         from audit_entry left join service_key k on k.id::text = key_id where target_id = $1`,
        [id],
      ),
    ).toEqual([
      {
        actor_kind: "service-key",
        actor_id: null,
        isKey: true,
        address: "127.0.0.1",
        action: "user.email_changed",
      },
    ]);
  });

  it("creates one user when it is sent many times at once", async () => {
    const body = { email: "race@example.com", name: "Race" };
    const responses = await Promise.all(Array.from({ length: 8 }, () => put("race", body)));
    expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200]));
    expect(new Set(responses.map((answer) => answer.body.id)).size).toBe(1);
  });

  it("refuses the address of another account, and links nothing", async () => {
    for (const id of ["crm/18", "shop-1"]) {
      expect(refusal(await put(id, { email: "user_2@example.com", name: "X" }))).toMatchObject({
        status: 409,
        reason: "email_taken",
      });
    }
    expect(
      await test.rows(`select external_id from "user" where id = 'user_2' or external_id = 'crm/18'`),
    ).toEqual([{ external_id: null }]);
  });

  it("does not change administrators or users with a password", async () => {
    await test.rows(
      `update "user" set external_id = 'ext-' || id, role = case id when 'user_5' then 'admin' else role end
       where id in ('user_5', 'user_6')`,
    );
    await test.rows(
      `insert into account (id, user_id, account_id, provider_id, password)
       values ('a6', 'user_6', 'user_6', 'credential', 'hash')`,
    );
    for (const id of ["user_5", "user_6"]) {
      const { status, body } = await put(`ext-${id}`, { email: "new@example.com", name: "New" });
      expect([status, body.id, body.email]).toEqual([200, id, `${id}@example.com`]);
      expect(refusal(await put(`ext-${id}`, { email: "user_2@example.com", name: "New" }))).toMatchObject({
        status: 409,
        reason: "email_taken",
      });
    }
  });

  it.each([
    ["a malformed address", { email: "ana", name: "Ana" }],
    ["an address that is too long to sign in with", { email: `${"a".repeat(243)}@example.com`, name: "Ana" }],
    ["no name", { email: "ana2@example.com" }],
    ["an unknown field", { email: "ana2@example.com", name: "Ana", role: "admin" }],
  ])("refuses %s", async (_name, body) => {
    expect((await put("crm/19", body)).status).toBe(400);
  });

  it("drops white space around an address, as signing up does", async () => {
    const { body } = await put("crm/20", { email: " ana5@example.com\n", name: "Ana" });
    expect(body.email).toBe("ana5@example.com");
  });

  it.each([" ", "  ", " x", "x ", "\u00a0x", "x\u3000"])(
    "refuses the id %j, which white space begins or ends",
    async (id) => {
      const refused = { field: "externalId", problem: "malformed", format: "trimmed" };
      const response = await put(id, { email: "ana3@example.com", name: "Ana" });
      expect(response).toMatchObject({
        status: 400,
        body: {
          error: "externalId: expected text without white space at its beginning or end",
          params: refused,
        },
      });
      const reading = await send("GET", `/api/v2/entitlements?externalId=${encodeURIComponent(id)}`);
      expect(refusal(reading)).toMatchObject({ status: 400, params: refused });
    },
  );

  it.each(["%ff", "a%", "%c3%28"])("refuses the id %s, which cannot be decoded", async (id) => {
    const body = { email: "ana6@example.com", name: "Ana" };
    for (const refused of [
      await send("PUT", `/api/v2/users/external/${id}`, { body }),
      await send("GET", `/api/v2/entitlements?externalId=${id}`),
    ]) {
      expect(refused).toMatchObject({
        status: 400,
        body: {
          error: "expected a URL whose escapes such as %C3%A9 are UTF-8",
          params: { problem: "malformed", format: "url_encoding" },
        },
      });
    }
  });

  it("accepts an id with white space inside", async () => {
    const { body } = await put("a b", { email: "ana4@example.com", name: "Ana" });
    expect(body.externalId).toBe("a b");
  });

  it("accepts service keys only", async () => {
    const body = { email: "ana2@example.com", name: "Ana" };
    const anonymous = await sendRequest(server.url, "PUT", "/api/users/external/1", { body });
    expect(anonymous.status).toBe(401);
  });
});
