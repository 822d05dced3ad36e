import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { eventually } from "../support/eventually.ts";
import { freshServer } from "../support/fresh-server.ts";
import { sendRequest } from "../support/http.ts";
import { createUser } from "../support/people.ts";
import { startTestServer, type TestServer } from "../support/server.ts";
import { createServiceKey } from "../support/service-keys.ts";
import { createSubscription } from "../support/subscriptions.ts";
import { GENEROUS_LIMITS } from "../support/variables.ts";

const PRO_EVENTS = 100_000;
const END = "2031-02-03T04:05:06.000Z";

const { test, server } = freshServer({ users: 20 });
/** Another process on the same database. */
let otherServer: TestServer;
let key: string;
beforeAll(async () => {
  otherServer = await startTestServer(test.url, GENEROUS_LIMITS);
  ({ key } = await createServiceKey(test, { limit: 100_000 }));
});
afterAll(async () => {
  await otherServer?.close();
});

const send = (method: string, path: string, body?: object, on = server) =>
  sendRequest(on.url, method, path, { key, ...(body ? { body } : {}) });

const subscribe = (userId: string, status = "active") =>
  createSubscription(test, userId, {
    provider_subscription_id: `sub_${userId}`,
    status,
    current_period_end: END,
    ...(status === "past_due" ? { past_due_since: new Date().toISOString() } : {}),
  });

describe("GET /api/entitlements", () => {
  it("shows the entitlements of the free plan, then of the subscription, on every process at once", async () => {
    const path = "/api/entitlements?user=user_1";
    expect((await send("GET", path)).body).toEqual({
      planId: "free",
      status: null,
      until: null,
      features: {
        projects: { kind: "limit", value: 1 },
        events: { kind: "quota", value: 1_000, used: 0, remaining: 1_000 },
        "community-support": { kind: "flag", value: true },
        "email-support": { kind: "flag", value: false },
        "priority-support": { kind: "flag", value: false },
      },
    });
    await subscribe("user_1");
    for (const on of [server, otherServer]) {
      const { body } = await send("GET", path, undefined, on);
      expect(body).toMatchObject({ planId: "pro", status: "active", until: END });
      expect(body.features.events).toEqual({
        kind: "quota",
        value: PRO_EVENTS,
        used: 0,
        remaining: PRO_EVENTS,
      });
    }
  });

  it("answers 304 until something has changed", async () => {
    const ask = (etag?: string) =>
      sendRequest(server.url, "GET", "/api/entitlements?user=user_2", {
        key,
        headers: etag === undefined ? {} : { "if-none-match": etag },
      });
    const first = await ask();
    const etag = first.headers.get("etag") as string;
    expect(first.headers.get("cache-control")).toBe("private, no-cache");
    const second = await ask(`"another", W/${etag}`);
    expect([second.status, second.text, second.headers.get("etag")]).toEqual([304, "", etag]);
    expect(second.headers.get("x-ratelimit-remaining")).not.toBeNull();
    expect(second.headers.get("x-request-id")).not.toBeNull();
    await subscribe("user_2");
    const third = await ask(etag);
    expect([third.status, third.body.planId]).toEqual([200, "pro"]);
  });

  it("returns the caller's own to a signed-in user, who cannot name another user", async () => {
    const { cookie } = await createUser(test);
    const ownResponse = await sendRequest(server.url, "GET", "/api/entitlements", { cookie });
    expect([ownResponse.status, ownResponse.body.planId]).toEqual([200, "free"]);
    const othersResponse = await sendRequest(server.url, "GET", "/api/entitlements?user=user_1", { cookie });
    expect(othersResponse.status).toBe(400);
  });
});

describe("POST /api/entitlements/check", () => {
  const check = (body: object) => send("POST", "/api/v2/entitlements/check", body);

  it("returns the reason and its end", async () => {
    await subscribe("user_3", "past_due");
    expect((await check({ user: "user_3", feature: "email-support" })).body).toEqual({
      allowed: true,
      reason: "grace_until",
      until: expect.any(String),
    });
    expect((await check({ user: "user_4", feature: "email-support" })).body).toEqual({
      allowed: false,
      reason: "not_subscribed",
      until: null,
    });
    expect((await check({ user: "user_4", feature: "events", amount: 1_001 })).body).toMatchObject({
      allowed: false,
      reason: "quota_exceeded",
      remaining: 1_000,
    });
  });

  it("answers 404 for an unknown feature", async () => {
    const { status, body } = await check({ user: "user_4", feature: "toString" });
    expect([status, body.reason, body.params]).toEqual([404, "not_found", { resource: "feature" }]);
  });

  it("answers the same over RPC and GraphQL", async () => {
    const question = { user: "user_3", feature: "events" };
    const overRest = (await check(question)).body;
    const input = encodeURIComponent(JSON.stringify({ json: question }));
    const rpc = (await send("GET", `/api/trpc/billing.check?input=${input}`)).body;
    expect(rpc.result.data.json).toEqual(overRest);
    const query = `{
      check(user: "user_3", feature: "events") { allowed reason until remaining }
      entitlements(user: "user_3") { planId status until features { id featureId kind value used remaining } }
    }`;
    const { data } = (await send("POST", "/api/graphql", { query })).body;
    expect(data.check).toEqual({ ...overRest, reason: "GRACE_UNTIL" });
    const restBody = (await send("GET", "/api/entitlements?user=user_3")).body;
    expect(data.entitlements).toMatchObject({ planId: "pro", status: "PAST_DUE", until: restBody.until });
    expect(data.entitlements.features).toContainEqual({
      id: "events",
      featureId: "events",
      kind: "QUOTA",
      value: PRO_EVENTS,
      used: 0,
      remaining: PRO_EVENTS,
    });
    const rpcInput = encodeURIComponent(JSON.stringify({ json: { user: "user_3" } }));
    const { result } = (await send("GET", `/api/trpc/billing.entitlements?input=${rpcInput}`)).body;
    expect(result.data.json).toEqual(restBody);
  });
});

describe("POST /api/usage", () => {
  const use = (body: object, on = server) => send("POST", "/api/v2/usage", body, on);
  const item = (user: string, amount: number, idempotencyKey: string = randomUUID()) => ({
    user,
    feature: "events",
    amount,
    idempotencyKey,
  });
  const usageOf = async (user: string) =>
    (await send("GET", `/api/entitlements?user=${user}`)).body.features.events;
  const usedBy = async (user: string) => (await usageOf(user)).used;

  it("counts up to the quota, and refuses what exceeds it", async () => {
    expect((await use(item("user_5", 990))).body).toEqual({ allowed: true, used: 990, remaining: 10 });
    expect(await usageOf("user_5")).toEqual({ kind: "quota", value: 1_000, used: 990, remaining: 10 });
    const refused = await use(item("user_5", 11));
    expect([refused.status, refused.body.reason, refused.body.params]).toEqual([
      ...[409, "quota_exceeded"],
      { feature: "events", remaining: 10 },
    ]);
    expect((await use(item("user_5", 10))).body).toEqual({ allowed: true, used: 1_000, remaining: 0 });
    expect(await usedBy("user_5")).toBe(1_000);
  });

  it("answers a repeated key as the first time, and refuses it with another body", async () => {
    const first = item("user_6", 100);
    expect((await use(first)).body).toEqual({ allowed: true, used: 100, remaining: 900 });
    await use(item("user_6", 50));
    expect((await use(first, otherServer)).body).toEqual({ allowed: true, used: 100, remaining: 900 });
    for (const changed of [{ amount: 101 }, { user: "user_7" }]) {
      const { status, body } = await use({ ...first, ...changed });
      expect([status, body.reason]).toEqual([409, "idempotency_key_reused"]);
    }
    expect([await usedBy("user_6"), await usedBy("user_7")]).toEqual([150, 0]);
  });

  it("counts what two programs record under the same idempotency key, each with a service key", async () => {
    const body = item("user_19", 100, "order-1");
    const other = await createServiceKey(test);
    expect((await use(body)).body.used).toBe(100);
    const response = await sendRequest(server.url, "POST", "/api/v2/usage", { key: other.key, body });
    expect([response.status, response.body.used, await usedBy("user_19")]).toEqual([200, 200, 200]);
  });

  it("counts an idempotency key once when it is sent many times at once", async () => {
    const once = item("user_7", 100);
    const responses = await Promise.all(
      Array.from({ length: 12 }, (_, n) => use(once, n % 2 ? server : otherServer)),
    );
    expect(responses.map(({ body }) => body)).toEqual(
      responses.map(() => ({ allowed: true, used: 100, remaining: 900 })),
    );
  });

  it("names the item of a batch whose user or feature is unknown, or that names two users", async () => {
    const refused = async (wrong: object) =>
      (await use({ items: [item("user_8", 1), { ...item("user_8", 1), ...wrong }] })).body;
    expect(await refused({ user: "nobody" })).toEqual({
      error: "items.1: No such user",
      reason: "not_found",
      params: { field: "items.1", resource: "user" },
    });
    expect(await refused({ feature: "nothing" })).toMatchObject({
      error: "items.1: No such feature",
      params: { field: "items.1", resource: "feature" },
    });
    expect(await refused({ externalId: "shop-1" })).toMatchObject({
      params: { field: "items.1.externalId", problem: "excludes" },
    });
    expect(await use(item("nobody", 1))).toMatchObject({ status: 404, body: { error: "No such user" } });
  });

  it("counts all items of a batch or none", async () => {
    const good = { items: [item("user_8", 400), item("user_9", 1), item("user_8", 500)] };
    expect((await use(good)).body).toEqual({
      allowed: true,
      items: [
        { used: 400, remaining: 600 },
        { used: 1, remaining: 999 },
        { used: 900, remaining: 100 },
      ],
    });
    const bad = { items: [item("user_9", 5), item("user_8", 101)] };
    const refused = await use(bad);
    expect([refused.status, refused.body.reason, refused.body.params]).toEqual([
      ...[409, "quota_exceeded"],
      { field: "items.1", feature: "events", remaining: 100 },
    ]);
    expect([await usedBy("user_8"), await usedBy("user_9")]).toEqual([900, 1]);
    // Nothing of the refused batch was stored, not even its keys.
    expect((await use(bad.items[0] as object)).body).toEqual({ allowed: true, used: 6, remaining: 994 });
  });

  it("is exact when two processes count for the same users in different orders", async () => {
    const users = ["user_10", "user_11", "user_12"];
    const batch = (n: number) => {
      const turned = [...users.slice(n % 3), ...users.slice(0, n % 3)];
      return use({ items: turned.map((user) => item(user, 30)) }, n % 2 ? server : otherServer);
    };
    const responses = await Promise.all(Array.from({ length: 40 }, (_, n) => batch(n)));
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(33);
    expect(responses.filter(({ status }) => status === 409)).toHaveLength(7);
    expect(await Promise.all(users.map(usedBy))).toEqual([990, 990, 990]);
  });

  it("resets with the billing period", async () => {
    await use(item("user_13", 1_000));
    expect(await usedBy("user_13")).toBe(1_000);
    // A subscription begins: its period ends at another time than the month.
    await subscribe("user_13");
    expect(await usedBy("user_13")).toBe(0);
    expect((await use(item("user_13", 7))).body).toEqual({
      allowed: true,
      used: 7,
      remaining: PRO_EVENTS - 7,
    });
    await test.rows("update subscription set current_period_end = '2031-03-03' where user_id = 'user_13'");
    expect(await usedBy("user_13")).toBe(0);
  });

  it.each([
    ["no feature", { feature: undefined }, 400, "feature"],
    ["an unknown feature", { feature: "nothing" }, 404, undefined],
    ["a feature that is no quota", { feature: "projects" }, 400, "feature"],
    ["an amount of zero", { amount: 0 }, 400, "amount"],
    ["no idempotency key", { idempotencyKey: undefined }, 400, "idempotencyKey"],
    ["no user", { user: undefined }, 400, "user"],
    ["an unknown user", { user: "nobody" }, 404, undefined],
    ["an item beside a batch", { items: [item("user_1", 1)] }, 400, expect.any(String)],
    ["an empty batch", { items: [] }, 400, "items"],
    ["more than 100 items", { items: Array.from({ length: 101 }, () => item("user_1", 1)) }, 400, "items"],
  ])("refuses %s", async (_name, changed, status, field) => {
    const answer = await use({ ...item("user_1", 1), ...changed });
    expect([answer.status, answer.body.params.field]).toEqual([status, field]);
  });

  it("requires a service key", async () => {
    const { cookie } = await createUser(test);
    const response = await sendRequest(server.url, "POST", "/api/usage", { cookie, body: item("user_1", 1) });
    expect(response.status).toBe(403);
  });

  it("answers 404 when the user is deleted while the usage waits for it", async () => {
    const { id } = await createUser(test);
    const deletion = await test.database.connection();
    await deletion.script(`begin; delete from "user" where id = '${id}'`);
    const using = use(item(id, 1));
    await eventually(
      () =>
        test.rows(
          "select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()",
        ),
      [{}],
    );
    await deletion.script("commit");
    deletion.release({ healthy: true });
    const { status, body } = await using;
    expect([status, body.reason, body.params]).toEqual([404, "not_found", { resource: "user" }]);
  });

  it("is shown until the period ends by the server's clock, which may be behind the database's", async () => {
    const { id } = await createUser(test);
    const minutesAgo = (minutes: number) => Date.now() - minutes * 60_000;
    await createSubscription(test, id, {
      status: "active",
      current_period_end: new Date(minutesAgo(1)).toISOString(),
    });
    vi.useFakeTimers({ toFake: ["Date"], now: minutesAgo(2) });
    onTestFinished(() => void vi.useRealTimers());
    expect((await use(item(id, PRO_EVENTS))).body).toMatchObject({ remaining: 0 });
    expect(await usedBy(id)).toBe(PRO_EVENTS);
    const check = { user: id, feature: "events", amount: 1 };
    const { body } = await send("POST", "/api/entitlements/check", check);
    expect(body).toMatchObject({ allowed: false, reason: "quota_exceeded", remaining: 0 });
  });

  it("is deleted with its user", async () => {
    const { id } = await createUser(test);
    await use(item(id, 3, "of-the-deleted"));
    await test.rows(`delete from "user" where id = $1`, [id]);
    expect(await test.rows("select from usage_counter where user_id = $1", [id])).toEqual([]);
    expect(await test.rows("select from usage_key where key like '%of-the-deleted'")).toEqual([]);
  });
});
