import { beforeAll, describe, expect, it } from "vitest";
import { PERMISSIONS, type Permission } from "../../../src/domain/callers/permission.ts";
import { createUser } from "../../support/people.ts";
import { createServiceKey } from "../../support/service-keys.ts";
import { securityContext } from "./owasp/security-context.ts";
import { type Attack, responseText, send } from "./owasp/send.ts";

const context = securityContext();
let all: string;
const keys = {} as Record<Permission, string>;
beforeAll(async () => {
  all = (await createServiceKey(context.test)).key;
  for (const permission of PERMISSIONS)
    keys[permission] = (await createServiceKey(context.test, { permissions: [permission] })).key;
});

const ID = "0d4c2f6e-6c3b-4a53-9d0a-3f1f6a0e7b11";
const BY_PERMISSION: Record<Permission, readonly string[]> = {
  "users:read": ["GET /api/users", "GET /api/users/me"],
  "users:write": ["PUT /api/users/external/shop-1"],
  "subscriptions:read": [
    "GET /api/subscriptions",
    `GET /api/subscriptions/${ID}`,
    `GET /api/subscriptions/${ID}/history`,
    "GET /api/payments",
  ],
  "checkout:write": ["POST /api/checkout", "POST /api/portal", `POST /api/subscriptions/${ID}/change`],
  "entitlements:read": ["GET /api/entitlements", "POST /api/entitlements/check"],
  "usage:write": ["POST /api/usage"],
  "events:read": ["GET /api/events", "GET /api/events/stream"],
};
const NEVER = [
  "GET /api/plans",
  "PATCH /api/users/me",
  "GET /api/user-directory",
  `GET /api/subscriptions/${ID}/last-change`,
  `POST /api/subscriptions/${ID}/reconcile`,
  `POST /api/subscriptions/${ID}/dismiss`,
  "GET /api/out-of-order-subscriptions",
  "GET /api/api-keys",
  "POST /api/api-keys",
  `DELETE /api/api-keys/${ID}`,
  "GET /api/service-keys",
  "POST /api/service-keys",
  `POST /api/service-keys/${ID}/rotate`,
  `DELETE /api/service-keys/${ID}`,
  "GET /api/notifications",
  "POST /api/notifications/1/read",
  "GET /api/webhook-deliveries",
  "GET /api/webhook-deliveries/1",
  "POST /api/webhook-deliveries/1/replay",
  "GET /api/event-endpoints",
  "POST /api/event-endpoints",
  `GET /api/event-endpoints/${ID}`,
  `PATCH /api/event-endpoints/${ID}`,
  `DELETE /api/event-endpoints/${ID}`,
  `POST /api/event-endpoints/${ID}/test`,
  `POST /api/event-endpoints/${ID}/replay`,
  `GET /api/event-endpoints/${ID}/deliveries`,
  "GET /api/webhook-statistics",
  "GET /api/audit",
  "POST /api/chat",
  "GET /api/plugins/renewals/calendar.ics",
];

async function attempt(request: string, attack: Attack): Promise<number> {
  const withBody = request.startsWith("GET") || request.startsWith("DELETE") ? {} : { body: {} };
  return (await send(context.url, request, { ...withBody, ...attack })).status;
}

describe("a service key", () => {
  it.each(PERMISSIONS)("with %s alone reaches no route of another permission", async (permission) => {
    const others = PERMISSIONS.filter((granted) => granted !== permission).flatMap(
      (permission) => BY_PERMISSION[permission],
    );
    for (const request of [...others, ...NEVER]) {
      for (const path of [
        request,
        `${request}?user=${context.victim.id}`,
        request.replace("/api/", "/api/v2/"),
      ]) {
        expect([path, await attempt(path, { key: keys[permission] })]).toEqual([path, 403]);
      }
    }
  });

  it.each([
    ["user.list", "GET"],
    ["user.changeRole", "POST"],
    ["user.delete", "POST"],
    ["user.deleteAccount", "POST"],
    ["user.updateProfile", "POST"],
    ["billing.deliveries", "GET"],
    ["billing.replay", "POST"],
    ["billing.reconcile", "POST"],
    ["billing.dismiss", "POST"],
    ["notifications.list", "GET"],
  ])("with every permission cannot call %s over RPC", async (procedure, method) => {
    const input = { json: { user: context.victim.id, userId: context.victim.id, role: "admin", id: ID } };
    const query = method === "GET" ? `?input=${encodeURIComponent(JSON.stringify(input))}` : "";
    const answer = await send(context.url, `${method} /api/trpc/${procedure}${query}`, {
      key: all,
      ...(method === "GET" ? {} : { body: input }),
    });
    expect(answer.status).toBe(403);
  });

  it.each([
    "{ deliveries { items { id } } }",
    "{ users { items { id email } } }",
    "{ apiKeys { items { id } } }",
    "{ notifications { items { id } } }",
    'mutation { changeRole(userId: "user_0", role: ADMIN) { success } }',
    'mutation { deleteUser(userId: "user_0", confirmation: "user_0@example.com") { success } }',
  ])("with every permission is refused by GraphQL: %s", async (query) => {
    const { body } = await send(context.url, "POST /api/graphql", { key: all, body: { query } });
    expect(body.errors.length).toBeGreaterThan(0);
    expect(Object.values(body.data ?? {}).filter((value) => value !== null)).toEqual([]);
    expect(await context.test.rows(`select from "user" where id = 'user_0' and role = 'user'`)).toHaveLength(
      1,
    );
  });

  it.each([
    "GET /api/auth/list-sessions",
    "POST /api/auth/update-user",
    "POST /api/auth/change-password",
    "POST /api/auth/change-email",
    "POST /api/auth/revoke-sessions",
    "POST /api/auth/two-factor/enable",
    "POST /api/auth/sign-in/email",
  ])("is refused by %s, whatever cookie is sent with it", async (request) => {
    const { password, cookie } = context.victim;
    const body = {
      name: "Mallory",
      newEmail: "m@example.com",
      email: context.victim.email,
      password,
      currentPassword: password,
      newPassword: "a password of some length",
    };
    for (const more of [{}, { cookie }]) {
      const sent = request.startsWith("POST") ? { body } : {};
      expect((await send(context.url, request, { ...sent, ...more, key: all })).status).toBe(403);
    }
  });

  it("is refused by /api/auth when it is not valid, and charged like everywhere", async () => {
    const { email, password } = context.victim;
    const key = `tgs_${"a".repeat(40)}`;
    const { status, headers } = await send(context.url, "POST /api/auth/sign-in/email", {
      body: { email, password },
      key,
    });
    expect(status).toBe(401);
    expect(headers.get("ratelimit")).toMatch(/^"auth-key";/);
    expect(headers.get("set-cookie")).toBeNull();
  });

  it("never falls back to a cookie that is sent with it", async () => {
    const { cookie } = context.victim;
    expect((await send(context.url, "GET /api/users/me", { key: all, cookie })).status).toBe(400);
    expect((await send(context.url, "GET /api/api-keys", { key: all, cookie })).status).toBe(403);
    for (const key of [all, `tg_${"a".repeat(40)}`]) {
      const page = await send(context.url, "GET /settings", { key, cookie });
      expect([page.status, page.text.includes(context.victim.email)]).toEqual([307, false]);
    }
  });

  it.each<[string, (key: string) => Attack & { query?: string }]>([
    ["in the query string", (key) => ({ query: `&key=${key}&api_key=${key}&access_token=${key}` })],
    ["as a cookie", (key) => ({ cookie: `authorization=${key}; x-api-key=${key}` })],
    ["as a password", (key) => ({ headers: { authorization: `Basic ${btoa(`key:${key}`)}` } })],
    ["in capitals", (key) => ({ key: key.toUpperCase() })],
    ["shortened", (key) => ({ key: key.slice(0, -1) })],
    ["extended", (key) => ({ key: `${key}a` })],
    ["as a user's key", (key) => ({ key: key.replace("tgs_", "tg_") })],
    ["by its prefix", (key) => ({ key: key.slice(0, 12) })],
    ["beside another header's", (key) => ({ key, headers: { "x-api-key": `tgs_${"a".repeat(40)}` } })],
  ])("is rejected %s", async (_, disguised) => {
    const { query = "", ...attack } = disguised(all);
    const answer = await send(context.url, `GET /api/users/me?user=${context.victim.id}${query}`, attack);
    expect([answer.status, answer.text.includes(context.victim.email)]).toEqual([401, false]);
  });

  it.each([
    "user=a&user=b",
    "user[]=x",
    "user=%00",
    "user=__proto__",
    "user=%25",
    "user=%27%20or%201%3D1%20--",
    `user=${"a".repeat(5_000)}`,
    "externalId=",
    "externalId=%00",
    "externalId[$ne]=x",
  ])("finds nobody by ?%s", async (query) => {
    const answer = await send(context.url, `GET /api/users/me?${query}`, { key: all });
    expect([400, 404]).toContain(answer.status);
    expect(answer.text).not.toContain("@example.com");
  });

  it("does not tell deleted users from unknown ones", async () => {
    const { id } = await createUser(context.test);
    await context.test.rows(`delete from "user" where id = $1`, [id]);
    await context.test.rows("insert into deleted_user (id) values ($1)", [id]);
    const answerFor = async (user: string) => {
      const { headers, ...answer } = responseText(
        await send(context.url, `GET /api/users/me?user=${user}`, { key: all }),
      );
      return answer;
    };
    expect(await answerFor(id)).toEqual(await answerFor("never-there"));
  });

  it("does not reach another user's subscription on behalf of the caller's own", async () => {
    const [id] = context.victim.subscriptionIds;
    const as = `?user=${context.attacker.id}`;
    const responses = [
      await send(context.url, `GET /api/subscriptions/${id}${as}`, { key: all }),
      await send(context.url, `GET /api/subscriptions/${id}/history${as}`, { key: all }),
      await send(context.url, `POST /api/subscriptions/${id}/change${as}`, {
        key: all,
        body: { seats: 1, when: "now" },
      }),
    ];
    expect(responses.map(({ status }) => status)).toEqual([404, 404, 404]);
  });

  it.each([
    "https://evil.example/",
    "//evil.example/",
    "/\\evil.example",
    "javascript:alert(1)",
    "data:text/html,x",
    "http://localhost:3000@evil.example/",
    "http://localhost.evil.example:3000/",
    "http://localhost:3000.evil.example/",
    "https://localhost:3000/\r\nLocation: https://evil.example",
  ])("cannot have a checkout return to %j", async (returnUrl) => {
    const body = { user: context.victim.id, planId: "pro", returnUrl };
    for (const path of ["checkout", "portal"]) {
      const sent = path === "portal" ? { user: context.victim.id, returnUrl } : body;
      expect((await send(context.url, `POST /api/v2/${path}`, { key: all, body: sent })).status).toBe(400);
    }
  });

  it.each<[string, object]>([
    ["another account's address", { email: "victim", name: "Mallory" }],
    ["a role", { email: "new@example.com", name: "M", role: "admin" }],
    ["a confirmed address", { email: "new@example.com", name: "M", emailVerified: true }],
    ["an address with a line break", { email: "new@example.com\r\nBcc: evil@example.com" }],
    ["two addresses", { email: "new@example.com,evil@example.com" }],
    ["a long name", { email: "new@example.com", name: "n".repeat(101) }],
    ["a name of an object", { email: "new@example.com", name: { toString: "x" } }],
    ["an unknown locale", { email: "new@example.com", locale: "../../etc" }],
  ])("cannot create a user with %s", async (_, fields) => {
    const before = await context.test.rows('select count(*) from "user"');
    const body = {
      ...fields,
      ...("email" in fields && fields.email === "victim" ? { email: context.victim.email } : {}),
    };
    const answer = await send(context.url, "PUT /api/users/external/attack-1", { key: all, body });
    expect([400, 409]).toContain(answer.status);
    expect(await context.test.rows('select count(*) from "user"')).toEqual(before);
  });

  it.each(["%00", "..%2f..%2fadmin", "a".repeat(300), "%0d%0aSet-Cookie:%20x=y", "%20"])(
    "reaches no other route and no header by the external id %s",
    async (externalId) => {
      const body = { email: "external@example.com", name: "External" };
      const answer = await send(context.url, `PUT /api/users/external/${externalId}`, { key: all, body });
      expect(answer.status).toBeLessThan(500);
      expect(answer.fields["set-cookie"]).toBeUndefined();
    },
  );

  it("does not use up the limit of another key", async () => {
    const greedy = await createServiceKey(context.test, { limit: 2, windowSeconds: 3600 });
    const statuses = [];
    for (let n = 0; n < 4; n += 1)
      statuses.push(await attempt(`GET /api/users/me?user=${context.victim.id}`, { key: greedy.key }));
    expect(statuses).toEqual([200, 200, 429, 429]);
    expect(await attempt(`GET /api/users/me?user=${context.victim.id}`, { key: all })).toBe(200);
  });

  it("is charged to the client's address when it is invalid", async () => {
    const url = await context.serverWith({ RATE_LIMIT_AUTH_KEY: "3/60" });
    const statuses = [];
    for (let n = 0; n < 5; n += 1) {
      const key = `tgs_${String(n).repeat(40)}`;
      statuses.push((await send(url, "GET /api/users/me", { key })).status);
    }
    expect(statuses).toEqual([401, 401, 401, 429, 429]);
  });
});

describe("recorded usage", () => {
  const use = (body: object, key = all) => send(context.url, "POST /api/v2/usage", { key, body });
  let count = 0;
  const item = (more: object = {}) => {
    count += 1;
    return {
      user: context.victim.id,
      feature: "events",
      amount: 1,
      idempotencyKey: `attack-${count}`,
      ...more,
    };
  };
  const used = async () =>
    (
      await context.test.rows<{ used: string }>(
        "select coalesce(sum(used), 0) as used from usage_counter where user_id = $1",
        [context.victim.id],
      )
    )[0]?.used;

  it.each([-1, 0, 1.5, 1e21, 2 ** 31, 2 ** 53, "1", null, [1], { valueOf: 1 }, true])(
    "refuses the amount %j",
    async (amount) => {
      const before = await used();
      expect((await use(item({ amount }))).status).toBe(400);
      expect(await used()).toBe(before);
    },
  );

  it("does not overflow, and counts none of a batch that exceeds the quota", async () => {
    const before = await used();
    const items = Array.from({ length: 100 }, () => item({ amount: 2_147_483_647 }));
    const answer = await use({ items });
    expect([answer.status, answer.body.reason]).toEqual([409, "quota_exceeded"]);
    expect(await used()).toBe(before);
  });

  it.each(["", "a\r\nb", "a\u0000b", "ключ", "k".repeat(256), 1, null])(
    "refuses the idempotency key %j",
    async (idempotencyKey) => {
      expect((await use(item({ idempotencyKey }))).status).toBe(400);
    },
  );

  it("is counted apart for two service keys with the same idempotency key", async () => {
    const before = Number(await used());
    const body = item({ amount: 3 });
    expect((await use(body)).status).toBe(200);
    expect((await use(body, keys["usage:write"])).status).toBe(200);
    expect(Number(await used())).toBe(before + 6);
    expect((await use(body)).body.used).toBe(before + 3);
    // What another program has recorded cannot be probed either.
    expect((await use({ ...body, amount: 4 }, (await createServiceKey(context.test)).key)).status).toBe(200);
  });

  it("is refused for another user under a used idempotency key", async () => {
    const body = item();
    expect((await use(body)).status).toBe(200);
    const answer = await use({ ...body, user: context.attacker.id });
    expect([answer.status, answer.body.reason]).toEqual([409, "idempotency_key_reused"]);
    expect(answer.text).not.toContain(context.victim.id);
  });
});
