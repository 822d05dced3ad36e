import { beforeAll, describe, expect, it } from "vitest";
import { ROUTES } from "../../../../src/api/rest/routes.ts";
import { createAdmin } from "../../../support/people.ts";
import { BODIES, ENDPOINT_ID, nameOf, requestTo, routeNames } from "./requests.ts";
import { belongingsOf, CONFIDENTIAL, securityContext } from "./security-context.ts";
import { type Attack, send } from "./send.ts";

const ADMINS = ROUTES.filter(({ operation }) => operation.access === "admin");

/** Other spellings of a path that some servers treat as the same path. */
function spellings(path: string): string[] {
  const [, , noun = "", ...more] = path.split("/");
  const rest = [noun, ...more].join("/");
  const first = `%${noun.charCodeAt(0).toString(16)}${rest.slice(1)}`;
  return [
    `/api/v1/${rest}`,
    `/api/v2/${rest}`,
    `/api/V1/${rest}`,
    `/api/v3/${rest}`,
    `/api/v1/v2/${rest}`,
    `/api/v1//${rest}`,
    `/api/%76%31/${rest}`,
    `/api/v1%2f${rest}`,
    `//api/${rest}`,
    `/api//${rest}`,
    `/api/${rest}/`,
    `/api/${rest}//`,
    `/api/${rest}/.`,
    `/api/./${rest}`,
    `/api/plans/../${rest}`,
    `/api/plans/%2e%2e/${rest}`,
    `/api/plans/..;/${rest}`,
    `/api/plans%2f..%2f${rest}`,
    `/api/auth/../${rest}`,
    `/api/webhooks/../${rest}`,
    `/api/version/..%5c${rest}`,
    `/api/${first}`,
    `/api%2f${rest}`,
    `/%61pi/${rest}`,
    `/api/%25${first.slice(1)}`,
    `/api/${rest.toUpperCase()}`,
    `/API/${rest}`,
    `/api/${rest};x=1`,
    `/api/${rest};/health`,
    `/api/${rest}%00`,
    `/api/${rest}%00.css`,
    `/api/${rest}%20`,
    `/api/${rest}%0a`,
    `/api/${rest}.json`,
    `/api/${rest}?access=anyone`,
    `/api/${rest}?role=admin&admin=true`,
    `/api/${rest}#/health`,
    `/api\\${rest}`,
    `/${rest}`,
    `http://localhost/api/${rest}`,
    `http://admin@localhost/api/${rest}`,
  ];
}

/** Headers and parameters that proxies and frameworks have trusted. */
const CLAIMS: Attack["headers"][] = [
  { "x-role": "admin", "x-user-role": "admin", "x-admin": "true" },
  { "x-forwarded-user": "admin", "x-remote-user": "admin" },
  { "x-forwarded-for": "127.0.0.1", "x-real-ip": "127.0.0.1", "x-client-ip": "127.0.0.1" },
  { "x-forwarded-host": "localhost", host: "localhost" },
  { "x-original-url": "/api/plans", "x-rewrite-url": "/api/plans" },
  { "x-forwarded-prefix": "/api/plans", "x-forwarded-path": "/api/plans" },
  { "x-middleware-subrequest": "middleware:middleware:middleware", "x-invoke-path": "/api/plans" },
  { "x-api-version": "v2" },
  { referer: "http://localhost:3000/admin", origin: "http://localhost:3000" },
  { "sec-fetch-site": "same-origin", "x-requested-with": "XMLHttpRequest" },
];

const context = securityContext();

describe("API5:2023 Broken Function Level Authorization", () => {
  let log: unknown;
  const logged = () =>
    context.test.rows("select claim_no, outcome from webhook_attempts order by delivery_id, claim_no");
  beforeAll(async () => {
    log = await logged();
    await context.test.rows(
      `insert into event_endpoint (id, url, types, enabled, secret)
       values ($1, 'https://127.0.0.1/hook', '{user.updated}', false, 'whsec_AAAA')`,
      [ENDPOINT_ID],
    );
  });

  it("this test lists the access level of each route", () => {
    expect(routeNames(({ operation }) => operation.access === "anyone")).toEqual(["GET /plans"]);
    expect(routeNames(({ operation }) => operation.access === "session")).toEqual([
      "POST /portal",
      "POST /api-keys",
      "DELETE /api-keys/:id",
    ]);
    expect(routeNames((route) => ADMINS.includes(route))).toEqual([
      "GET /user-directory",
      "GET /subscriptions/:id/last-change",
      "POST /subscriptions/:id/reconcile",
      "POST /subscriptions/:id/dismiss",
      "GET /out-of-order-subscriptions",
      "GET /service-keys",
      "POST /service-keys",
      "POST /service-keys/:id/rotate",
      "DELETE /service-keys/:id",
      "GET /webhook-deliveries",
      "GET /webhook-deliveries/:id",
      "POST /webhook-deliveries/:id/replay",
      "GET /event-endpoints",
      "POST /event-endpoints",
      "GET /event-endpoints/:id",
      "PATCH /event-endpoints/:id",
      "DELETE /event-endpoints/:id",
      "POST /event-endpoints/:id/test",
      "GET /event-endpoints/:id/deliveries",
      "POST /event-endpoints/:id/replay",
      "GET /webhook-statistics",
      "GET /audit",
    ]);
  });

  it("requires a caller everywhere but for plans", async () => {
    for (const route of ROUTES.filter(({ operation }) => operation.access !== "anyone")) {
      const request = requestTo(route, context.victim, context);
      const response = await send(context.url, request, { body: BODIES[nameOf(route)] });
      expect(response).toMatchObject({ status: 401, text: '{"error":"Unauthorized"}' });
    }
    for (const request of [
      "POST /api/chat",
      "GET /api/plugins/renewals/calendar.ics",
      "GET /api/plugins/nothing",
    ])
      expect((await send(context.url, request)).status).toBe(401);
  });

  it.each(ADMINS.map((route) => [nameOf(route), route] as const))(
    "%s requires an administrator's session",
    async (name, route) => {
      const request = requestTo(route, context.victim, context);
      const body = BODIES[name];
      const others: [Attack, number][] = [
        [{}, 401],
        [{ key: "tg_no" }, 401],
        [{ cookie: context.attacker.cookie }, 403],
        [{ key: context.attacker.key }, 403],
        [{ key: context.admin.key }, 403],
        [{ key: context.admin.key, cookie: context.admin.cookie }, 403],
        [{ key: context.attacker.key, cookie: context.admin.cookie }, 403],
        [{ cookie: `${context.attacker.cookie}; ${context.admin.cookie}` }, 403],
        [{ cookie: `role=admin; admin=1; ${context.attacker.cookie}` }, 403],
        ...CLAIMS.map(
          (headers) => [{ cookie: context.attacker.cookie, headers } as Attack, 403] as [Attack, number],
        ),
        ...CLAIMS.map((headers) => [{ headers } as Attack, 401] as [Attack, number]),
      ];
      for (const [as, status] of others) {
        const response = await send(context.url, request, { ...as, body });
        const error = status === 401 ? "Unauthorized" : "Forbidden";
        expect([as, response.status, response.body.error]).toEqual([as, status, error]);
      }
      expect(await logged()).toEqual(log);
    },
  );

  it.each(ADMINS.map((route) => [nameOf(route), route] as const))(
    "%s cannot be reached by another spelling or method",
    async (name, route) => {
      const [method = "", path = ""] = requestTo(route, context.victim, context).split(" ");
      const whole = spellings(path).map((spelling) => `${method} ${spelling}`);
      const others = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PROPFIND"].map(
        (verb) => `${verb} ${path}`,
      );
      // Each by one of them in turn: over all routes, every spelling is tried by each.
      const callers: Attack[] = [{}, { cookie: context.attacker.cookie }, { key: context.admin.key }];
      for (const [index, request] of [...whole, ...others].entries()) {
        const as = callers[(ADMINS.indexOf(route) + index) % callers.length];
        const body = request.startsWith("POST") ? BODIES[name] : undefined;
        const response = await send(context.url, request, { ...as, body });
        expect([400, 401, 403, 404, 405], `${request}: ${response.status}`).toContain(response.status);
        expect(response.text).not.toContain(CONFIDENTIAL);
      }
      const overrides = {
        "x-http-method-override": method,
        "x-http-method": method,
        "x-method-override": method,
      };
      for (const verb of ["GET", "POST"]) {
        const request = `${verb} /api/plans?_method=${method}&_url=${path}`;
        const response = await send(context.url, request, {
          headers: { ...overrides, "x-original-url": path },
        });
        expect([400, 405]).toContain(response.status);
      }
      expect(await logged()).toEqual(log);
    },
  );

  it("lets administrators in where others are refused", async () => {
    const { cookie } = await createAdmin(context.test);
    for (const route of ADMINS.filter(({ method }) => method === "GET")) {
      const response = await send(context.url, requestTo(route, context.victim, context), { cookie });
      expect(response.status).toBe(200);
      if (route.path.startsWith("/webhook-deliveries")) expect(response.text).toContain(CONFIDENTIAL);
    }
  });

  it("applies a demotion to open sessions", async () => {
    const { id, cookie } = await createAdmin(context.test);
    expect((await send(context.url, "GET /api/webhook-deliveries", { cookie })).status).toBe(200);
    await context.test.rows(`update "user" set role = 'user' where id = $1`, [id]);
    expect((await send(context.url, "GET /api/webhook-deliveries", { cookie })).status).toBe(403);
    expect((await send(context.url, "GET /api/users", { cookie })).body.users).toHaveLength(1);
  });

  it("lists all users for an administrator's session, not for a key", async () => {
    const users = async (as: Attack) =>
      (await send(context.url, "GET /api/users?limit=100", as)).body.users.length;
    expect(await users({ cookie: context.admin.cookie })).toBeGreaterThan(3);
    expect(await users({ key: context.admin.key })).toBe(1);
    expect(await users({ cookie: context.attacker.cookie })).toBe(1);
  });

  it("does not let a key manage keys", async () => {
    const before = await belongingsOf(context, context.attacker);
    for (const as of [{ key: context.attacker.key }, { headers: { "x-api-key": context.attacker.key } }]) {
      const create = await send(context.url, "POST /api/api-keys", { ...as, body: { name: "more" } });
      const revoke = await send(context.url, `DELETE /api/api-keys/${context.attacker.keyId}`, as);
      expect([create.status, revoke.status]).toEqual([403, 403]);
    }
    expect(await belongingsOf(context, context.attacker)).toEqual(before);
  });

  it("has no route for operator commands", async () => {
    const { cookie } = context.admin;
    const guesses = [
      "POST /api/users",
      `PATCH /api/users/${context.attacker.id}`,
      `PUT /api/users/${context.attacker.id}`,
      `DELETE /api/users/${context.attacker.id}`,
      `POST /api/users/${context.attacker.id}/role`,
      `POST /api/users/${context.attacker.id}/promote`,
      "POST /api/users/promote",
      "POST /api/admin/users",
      "POST /api/auth/admin/set-role",
      "POST /api/auth/admin/impersonate-user",
      "POST /api/webhook-deliveries/retry",
      "POST /api/webhooks/retry",
      "POST /api/subscriptions/reconcile",
      "DELETE /api/webhook-deliveries",
      `DELETE /api/subscriptions/${context.victim.subscriptionIds[0]}`,
    ];
    const body = { userId: context.attacker.id, id: context.attacker.id, role: "admin" };
    for (const request of guesses) {
      for (const as of [{ cookie }, { cookie: context.attacker.cookie }])
        expect([404, 405], request).toContain((await send(context.url, request, { ...as, body })).status);
    }
    const [row] = await context.test.rows<{ role: string }>(`select role from "user" where id = $1`, [
      context.attacker.id,
    ]);
    expect(row?.role).toBe("user");
  });
});
