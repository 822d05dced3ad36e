import { beforeAll, describe, expect, it } from "vitest";
import { ROUTES } from "../../src/api/rest/routes.ts";
import { freshServer } from "../support/fresh-server.ts";
import { type RequestOptions, sendRequest } from "../support/http.ts";
import { createUser } from "../support/people.ts";
import { createTestData, notified, subscribed, type TestData } from "./test-data.ts";

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
/** An unused id. */
const NONE = "00000000-0000-4000-8000-000000000000";
const time = expect.stringMatching(TIME);

const { test, server } = freshServer();
let testData: TestData;

beforeAll(async () => {
  testData = await createTestData(server.url, test);
});

const call = (method: string, path: string, request: RequestOptions = {}) =>
  sendRequest(server.url, method, path, request);

/**
 * The status for each caller: anonymous, the owner, the owner's key, another user, an administrator and their
 * key.
 */
const ACCESS: Record<string, { expected: number[]; path?: () => string; body?: object }> = {
  "GET /plans": { expected: [200, 200, 200, 200, 200, 200] },
  "GET /users": { expected: [401, 200, 200, 200, 200, 200] },
  "GET /users/me": { expected: [401, 200, 200, 200, 200, 200] },
  "PATCH /users/me": { expected: [401, 200, 200, 200, 200, 200], body: { locale: "de" } },
  "PUT /users/external/:externalId": {
    expected: [401, 403, 403, 403, 403, 403],
    path: () => "/users/external/crm-1",
    body: { email: "external@example.com", name: "External" },
  },
  "GET /user-directory": { expected: [401, 403, 403, 403, 200, 403] },
  "GET /subscriptions": { expected: [401, 200, 200, 200, 200, 200] },
  "GET /subscriptions/:id": {
    expected: [401, 200, 200, 404, 404, 404],
    path: () => `/subscriptions/${testData.subscriptionId}`,
  },
  "GET /subscriptions/:id/history": {
    expected: [401, 200, 200, 404, 404, 404],
    path: () => `/subscriptions/${testData.subscriptionId}/history`,
  },
  "GET /subscriptions/:id/last-change": {
    expected: [401, 403, 403, 403, 200, 403],
    path: () => `/subscriptions/${testData.subscriptionId}/last-change`,
  },
  "POST /subscriptions/:id/change": {
    expected: [401, 503, 503, 404, 404, 404],
    path: () => `/subscriptions/${testData.subscriptionId}/change`,
    body: { seats: 8, when: "now" },
  },
  "POST /subscriptions/:id/reconcile": {
    expected: [401, 403, 403, 403, 503, 403],
    path: () => `/subscriptions/${testData.subscriptionId}/reconcile`,
  },
  "POST /subscriptions/:id/dismiss": {
    expected: [401, 403, 403, 403, 409, 403],
    path: () => `/subscriptions/${testData.subscriptionId}/dismiss`,
    body: { reason: "refunded by hand" },
  },
  "GET /out-of-order-subscriptions": { expected: [401, 403, 403, 403, 200, 403] },
  "GET /payments": { expected: [401, 200, 200, 200, 200, 200] },
  "GET /entitlements": { expected: [401, 200, 200, 200, 200, 200] },
  "POST /entitlements/check": { expected: [401, 200, 200, 200, 200, 200], body: { feature: "events" } },
  "POST /usage": {
    expected: [401, 403, 403, 403, 403, 403],
    body: { user: "somebody", feature: "events", amount: 1, idempotencyKey: "1" },
  },
  "POST /checkout": { expected: [401, 503, 503, 503, 503, 503], body: { planId: "pro" } },
  "POST /portal": { expected: [401, 503, 403, 503, 503, 403] },
  "GET /api-keys": { expected: [401, 200, 200, 200, 200, 200] },
  "POST /api-keys": { expected: [401, 201, 403, 201, 201, 403], body: { name: "Another" } },
  "DELETE /api-keys/:id": {
    expected: [401, 200, 403, 404, 404, 403],
    path: () => `/api-keys/${testData.spareKey.id}`,
  },
  "GET /service-keys": { expected: [401, 403, 403, 403, 200, 403] },
  "POST /service-keys": {
    expected: [401, 403, 403, 403, 201, 403],
    body: { name: "Shop", permissions: ["entitlements:read"] },
  },
  "POST /service-keys/:id/rotate": {
    expected: [401, 403, 403, 403, 404, 403],
    path: () => `/service-keys/${NONE}/rotate`,
  },
  "DELETE /service-keys/:id": {
    expected: [401, 403, 403, 403, 404, 403],
    path: () => `/service-keys/${NONE}`,
  },
  "GET /notifications": { expected: [401, 200, 200, 200, 200, 200] },
  "POST /notifications/:id/read": {
    expected: [401, 200, 200, 404, 404, 404],
    path: () => `/notifications/${testData.notificationId}/read`,
  },
  "GET /webhook-deliveries": { expected: [401, 403, 403, 403, 200, 403] },
  "GET /webhook-deliveries/:id": {
    expected: [401, 403, 403, 403, 200, 403],
    path: () => `/webhook-deliveries/${testData.applied}`,
  },
  "POST /webhook-deliveries/:id/replay": {
    expected: [401, 403, 403, 403, 409, 403],
    path: () => `/webhook-deliveries/${testData.applied}/replay`,
  },
  "GET /events": { expected: [401, 403, 403, 403, 403, 403] },
  "GET /event-endpoints": { expected: [401, 403, 403, 403, 200, 403] },
  "POST /event-endpoints": {
    expected: [401, 403, 403, 403, 201, 403],
    body: { url: "https://93.184.215.14/hook", types: ["user.deleted"] },
  },
  "GET /event-endpoints/:id": {
    expected: [401, 403, 403, 403, 404, 403],
    path: () => `/event-endpoints/${NONE}`,
  },
  "PATCH /event-endpoints/:id": {
    expected: [401, 403, 403, 403, 404, 403],
    path: () => `/event-endpoints/${NONE}`,
    body: { enabled: false },
  },
  "DELETE /event-endpoints/:id": {
    expected: [401, 403, 403, 403, 404, 403],
    path: () => `/event-endpoints/${NONE}`,
  },
  "POST /event-endpoints/:id/test": {
    expected: [401, 403, 403, 403, 404, 403],
    path: () => `/event-endpoints/${NONE}/test`,
  },
  "GET /event-endpoints/:id/deliveries": {
    expected: [401, 403, 403, 403, 404, 403],
    path: () => `/event-endpoints/${NONE}/deliveries`,
  },
  "POST /event-endpoints/:id/replay": {
    expected: [401, 403, 403, 403, 404, 403],
    path: () => `/event-endpoints/${NONE}/replay`,
  },
  "GET /webhook-statistics": { expected: [401, 403, 403, 403, 200, 403] },
  "GET /audit": { expected: [401, 403, 403, 403, 200, 403] },
};

describe("access", () => {
  it("lists every route", () => {
    expect(Object.keys(ACCESS)).toEqual(ROUTES.map(({ method, path }) => `${method} ${path}`));
  });

  it.each(Object.entries(ACCESS))("%s", async (name, { expected, path, body }) => {
    const [method = "", pattern = ""] = name.split(" ");
    const { owner, key, other, admin, adminKey } = testData;
    const callers: RequestOptions[] = [
      {},
      { cookie: owner.cookie },
      { key: key.key },
      { cookie: other.cookie },
      { cookie: admin.cookie },
      { key: adminKey.key },
    ];
    const statuses: number[] = [];
    // The owner calls last, as an allowed call takes effect.
    for (const n of [0, 2, 3, 4, 5, 1]) {
      const response = await call(method, `/api${path?.() ?? pattern}`, { ...callers[n], body });
      statuses[n] = response.status;
      if (response.status >= 400) expect(response.body).toMatchObject({ error: expect.stringMatching(/./) });
    }
    expect(statuses).toEqual(expected);
  });
});

describe("subscriptions", () => {
  it("include one that a webhook has created for its owner", async () => {
    const { owner, subscriptionId } = testData;
    const expected = {
      id: subscriptionId,
      userId: owner.id,
      provider: "provider-a",
      providerSubscriptionId: expect.stringMatching(/^sub_cast-/),
      planId: "team",
      seats: 7,
      status: "active",
      currentPeriodEnd: "2031-02-03T04:05:06.000Z",
      cancelAtPeriodEnd: false,
      outOfOrder: false,
      createdAt: time,
      updatedAt: time,
    };
    const answer = await call("GET", `/api/subscriptions/${subscriptionId}`, { cookie: owner.cookie });
    expect(answer.body).toEqual(expected);
    expect(Object.keys(answer.body)).toEqual(Object.keys(expected));
    const list = await call("GET", "/api/subscriptions", { cookie: owner.cookie });
    expect(list.body).toEqual({ subscriptions: [expected], nextCursor: null });
    expect((await call("GET", "/api/v2/subscriptions", { cookie: owner.cookie })).body).toEqual({
      data: [expected],
      nextCursor: null,
    });
  });

  it("return 404 for another user's, as for an unknown one", async () => {
    const responses = [
      await call("GET", `/api/subscriptions/${testData.subscriptionId}`, { cookie: testData.other.cookie }),
      await call("GET", `/api/subscriptions/${testData.subscriptionId}`, { cookie: testData.admin.cookie }),
      await call("GET", "/api/subscriptions/0d4c2f6e-6c3b-4a53-9d0a-3f1f6a0e7b11", {
        cookie: testData.other.cookie,
      }),
    ];
    for (const { status, text } of responses) expect([status, text]).toEqual([404, responses[0]?.text]);
    const list = await call("GET", "/api/subscriptions", { cookie: testData.other.cookie });
    expect(list.body).toEqual({ subscriptions: [], nextCursor: null });
  });

  it("return 400 for a malformed id, 404 for an unknown one", async () => {
    for (const id of ["1", "sub_1", "%00", `${testData.subscriptionId}x`, "..%2f..%2fusers"]) {
      const { status, body } = await call("GET", `/api/subscriptions/${id}`, {
        cookie: testData.owner.cookie,
      });
      expect([id, status, body]).toEqual([
        id,
        400,
        { error: "id: expected an id such as 0d4c2f6e-6c3b-4a53-9d0a-3f1f6a0e7b11" },
      ]);
    }
    const none = "/api/subscriptions/0d4c2f6e-6c3b-4a53-9d0a-3f1f6a0e7b11/reconcile";
    expect((await call("POST", none, { cookie: testData.admin.cookie })).status).toBe(404);
  });
});

describe("checkout, portal and reconcile", () => {
  it("return 503 with a sentence when no provider is configured", async () => {
    const { owner, admin, subscriptionId } = testData;
    const sentence = {
      error: expect.stringMatching(/^No payment provider is configured$/),
    };
    for (const [path, cookie, body] of [
      ["/api/checkout", owner.cookie, { planId: "pro", seats: 5, provider: "provider-b" }],
      ["/api/checkout", owner.cookie, { planId: "team" }],
      ["/api/portal", owner.cookie, undefined],
      ["/api/portal", owner.cookie, {}],
      [`/api/subscriptions/${subscriptionId}/reconcile`, admin.cookie, undefined],
    ] as const) {
      const response = await call("POST", path, { cookie, body });
      expect([response.status, response.body]).toEqual([503, sentence]);
      expect(Number(response.headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
    }
  });

  it.each([
    [undefined, "planId: is required"],
    [{}, "planId: is required"],
    [{ planId: "" }, "planId: must not be empty"],
    [{ planId: 7 }, "planId: expected text"],
    [{ planId: null }, "planId: expected text"],
    [{ planId: "gold" }, "planId: no such plan: gold"],
    [{ planId: "free" }, "planId: Free is not for sale"],
    [{ planId: "pro", seats: 0 }, "seats: expected at least 1"],
    [{ planId: "pro", seats: 6 }, "seats: Pro allows 1 to 5 seats"],
    [{ planId: "team", seats: 4 }, "seats: Team allows 5 to 500 seats"],
    [{ planId: "pro", seats: 1.5 }, "seats: expected a whole number"],
    [{ planId: "pro", seats: "2" }, "seats: expected a number"],
    [
      { planId: "pro", provider: "provider-d" },
      /^provider: expected one of provider-a, provider-b, provider-c$/,
    ],
    [{ planId: "pro", price: 1 }, "price: unknown field"],
  ] as [unknown, string | RegExp][])("return 400 for a checkout of %j", async (body, sentence) => {
    const response = await call("POST", "/api/checkout", { cookie: testData.owner.cookie, body });
    expect(response.status).toBe(400);
    expect(response.body).toEqual({
      error: typeof sentence === "string" ? sentence : expect.stringMatching(sentence),
    });
  });
});

describe("API keys", () => {
  it("are shown once, and stored as prefix and hash", async () => {
    const { cookie, id: userId } = await createUser(test);
    const created = await call("POST", "/api/api-keys", { cookie, body: { name: "CI 🧭" } });
    expect([created.status, created.headers.get("cache-control")]).toEqual([201, "no-store"]);
    expect(created.body).toEqual({
      id: expect.stringMatching(UUID),
      name: "CI 🧭",
      prefix: expect.stringMatching(/^tg_[A-Za-z0-9]{8}$/),
      key: expect.stringMatching(/^tg_[A-Za-z0-9]{40}$/),
      createdAt: time,
    });
    const { id, prefix, key, createdAt } = created.body;
    expect(key.startsWith(prefix)).toBe(true);

    const list = await call("GET", "/api/api-keys", { cookie });
    expect(list.body).toEqual({
      apiKeys: [{ id, name: "CI 🧭", prefix, createdAt, expiresAt: expect.any(String), lastUsedAt: null }],
      nextCursor: null,
    });
    expect(list.text).not.toContain(key);
    const [row] = await test.rows<Record<string, unknown>>(
      "select *, encode(hash, 'escape') as text from api_key where user_id = $1",
      [userId],
    );
    expect(JSON.stringify(row)).not.toContain(key.slice(11));
  });

  it("are rejected once revoked, and revoking again returns 404", async () => {
    const { cookie } = await createUser(test);
    const { body: created } = await call("POST", "/api/api-keys", { cookie, body: { name: "x" } });
    expect((await call("GET", "/api/users/me", { key: created.key })).status).toBe(200);
    const revoked = await call("DELETE", `/api/api-keys/${created.id}`, { cookie });
    expect([revoked.status, revoked.body]).toEqual([200, { success: true }]);
    expect((await call("GET", "/api/users/me", { key: created.key })).status).toBe(401);
    expect((await call("GET", "/api/api-keys", { cookie })).body.apiKeys).toEqual([]);
    expect((await call("DELETE", `/api/api-keys/${created.id}`, { cookie })).status).toBe(404);
    expect((await call("DELETE", "/api/api-keys/1", { cookie })).status).toBe(400);
  });

  it("accept an expiry", async () => {
    const { cookie } = await createUser(test);
    const make = (expiresAt: unknown) =>
      call("POST", "/api/api-keys", { cookie, body: { name: "x", expiresAt } });
    expect((await make("2030-01-31T00:00:00+02:00")).status).toBe(201);
    expect((await make("9999-12-31T23:59:59.999Z")).status).toBe(201);
    expect((await make(null)).status).toBe(201);
    const { body } = await call("GET", "/api/api-keys", { cookie });
    expect(body.apiKeys.map((key: { expiresAt: unknown }) => key.expiresAt)).toContain(
      "2030-01-30T22:00:00.000Z",
    );
    for (const wrong of [
      "tomorrow",
      "2030-01-31",
      "2030-02-30T00:00:00Z",
      "9999-12-31T23:59:59-01:00",
      1_893_456_000,
      "",
      {},
    ]) {
      const answer = await make(wrong);
      expect([wrong, answer.status]).toEqual([wrong, 400]);
      expect(answer.body.error).toMatch(/^expiresAt: /);
    }
  });
});

describe("notifications", () => {
  it("are listed newest first, and keep the time when they were first read", async () => {
    const { id: userId, cookie } = await createUser(test);
    const older = await notified(test, userId);
    const newer = await notified(test, userId);
    const unread = (id: string) => ({
      id,
      kind: "subscription_activated",
      details: { planId: "team" },
      createdAt: time,
      readAt: null,
    });
    expect((await call("GET", "/api/notifications", { cookie })).body).toEqual({
      notifications: [unread(newer), unread(older)],
      nextCursor: null,
    });
    const read = await call("POST", `/api/notifications/${older}/read`, { cookie });
    expect([read.status, read.body]).toEqual([200, { ...unread(older), readAt: time }]);
    const repeated = await call("POST", `/api/notifications/${older}/read`, { cookie, body: {} });
    expect(repeated.body).toEqual(read.body);
    expect((await call("GET", "/api/notifications", { cookie })).body.notifications[1]).toEqual(read.body);
  });

  it("return 404 for another user's, and 400 for a malformed id", async () => {
    const path = `/api/notifications/${await notified(test, testData.owner.id)}/read`;
    expect((await call("POST", path, { cookie: testData.other.cookie })).status).toBe(404);
    expect(await test.rows("select read_at from notification order by id desc limit 1")).toEqual([
      { read_at: null },
    ]);
    const { cookie } = testData.owner;
    for (const id of ["0", "-1", "1.5", "x", "99999999999999999999"]) {
      expect((await call("POST", `/api/notifications/${id}/read`, { cookie })).status).toBe(400);
    }
    expect((await call("POST", "/api/notifications/999999999999999999/read", { cookie })).status).toBe(404);
    expect((await call("POST", path, { cookie, body: { id: "1" } })).status).toBe(400);
  });
});

describe("the log of deliveries", () => {
  const delivery = (id: string, more: object) => ({
    id,
    provider: "provider-a",
    eventId: expect.stringMatching(/^cast-/),
    eventType: "customer.subscription.created",
    attempts: expect.any(Number),
    receivedAt: time,
    ...more,
  });
  const applied = () =>
    delivery(testData.applied, {
      status: "successful",
      lastError: null,
      lastReason: null,
      completedAt: time,
      nextAttemptAt: null,
    });
  const failed = () =>
    delivery(testData.failed, {
      status: "failed",
      lastError: expect.stringMatching(/nobody_at_all/),
      lastReason: "user_not_found",
      completedAt: time,
      nextAttemptAt: time,
    });

  it("lists deliveries without payloads, and shows one with payload and attempts", async () => {
    const { cookie } = testData.admin;
    const list = await call("GET", "/api/webhook-deliveries", { cookie });
    expect(list.body).toEqual({ deliveries: [failed(), applied()], nextCursor: null });
    expect(Object.keys(list.body.deliveries[0])).toEqual([
      "id",
      "provider",
      "eventId",
      "eventType",
      "status",
      "attempts",
      "lastError",
      "lastReason",
      "receivedAt",
      "completedAt",
      "nextAttemptAt",
    ]);
    const answer = await call("GET", `/api/webhook-deliveries/${testData.failed}`, { cookie });
    expect(answer.body).toEqual({
      ...failed(),
      payload: expect.objectContaining({ id: list.body.deliveries[0].eventId }),
      attemptLog: [
        {
          attempt: 1,
          source: "delivery",
          outcome: "failed",
          error: expect.stringMatching(/nobody_at_all/),
          reason: "user_not_found",
          params: { userId: "nobody_at_all" },
          startedAt: time,
          durationMs: expect.any(Number),
          subscriptionId: null,
          changes: null,
        },
      ],
    });
    expect((await call("GET", "/api/webhook-deliveries/999999", { cookie })).status).toBe(404);
    expect((await call("GET", "/api/webhook-deliveries/x", { cookie })).status).toBe(400);
  });

  it("filters by slot, status and type", async () => {
    const { cookie } = testData.admin;
    const idsOf = async (query: string) => {
      const { status, body } = await call("GET", `/api/webhook-deliveries?${query}`, { cookie });
      return status === 200 ? body.deliveries.map((delivery: { id: string }) => delivery.id) : status;
    };
    expect(await idsOf("status=failed")).toEqual([testData.failed]);
    expect(await idsOf("status=successful&provider=provider-a")).toEqual([testData.applied]);
    expect(await idsOf("provider=provider-b")).toEqual([]);
    expect(await idsOf("type=customer.subscription.created&status=failed")).toEqual([testData.failed]);
    expect(await idsOf("type=customer.subscription.deleted")).toEqual([]);
    for (const wrong of [
      "status=open",
      "provider=stripe",
      "type=",
      "type=%00",
      "kind=x",
      "status=failed&status=failed",
    ]) {
      expect([wrong, await idsOf(wrong)]).toEqual([wrong, 400]);
    }
  });

  it("replays a successful delivery with force only, a failed one any time", async () => {
    const { cookie } = testData.admin;
    const replay = (id: string, body?: object) =>
      call("POST", `/api/webhook-deliveries/${id}/replay`, { cookie, body });
    const refused = await replay(testData.applied);
    expect([refused.status, refused.body]).toEqual([
      409,
      { error: expect.stringMatching(/^force: .*already succeeded/) },
    ]);
    expect((await replay(testData.applied, { force: false })).status).toBe(409);
    const forced = await replay(testData.applied, { force: true });
    expect([forced.status, forced.body]).toEqual([
      200,
      { ...applied(), attempts: 2, outcome: "applied", error: null, reason: null },
    ]);
    for (const attempts of [2, 3]) {
      const repeated = await replay(testData.failed);
      expect([repeated.status, repeated.body]).toEqual([
        200,
        {
          ...failed(),
          attempts,
          outcome: "failed",
          error: expect.stringMatching(/nobody_at_all/),
          reason: "user_not_found",
        },
      ]);
    }
    const { body } = await call("GET", `/api/webhook-deliveries/${testData.failed}`, { cookie });
    expect(body.attemptLog.map((attempt: { source: string }) => attempt.source)).toEqual([
      "delivery",
      "replay",
      "replay",
    ]);
    expect((await replay("999999")).status).toBe(404);

    // Now the user exists.
    await test.rows(
      `insert into "user" (id, name, email) values ('nobody_at_all', 'Late', 'late@example.com')`,
    );
    expect((await replay(testData.failed)).body).toMatchObject({
      outcome: "applied",
      status: "successful",
      attempts: 4,
    });
    expect((await replay(testData.failed)).status).toBe(409);
  });

  it("returns 409 for a delivery that is being processed", async () => {
    const { cookie } = testData.admin;
    await subscribed(server.url, "cast-leased", "nobody_else");
    const [row] = await test.rows<{ id: string }>(
      `update webhook_delivery set status = 'pending', lease_until = now() + interval '1 minute'
       where event_id = 'cast-leased' returning id::text`,
    );
    const response = await call("POST", `/api/webhook-deliveries/${row?.id}/replay`, {
      cookie,
      body: { force: true },
    });
    expect([response.status, response.body]).toEqual([
      409,
      { error: expect.stringMatching(/being processed/) },
    ]);
  });
});
