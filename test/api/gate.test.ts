import { request } from "node:http";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { freshServer } from "../support/fresh-server.ts";
import { type HttpResponse, sendRequest } from "../support/http.ts";
import { cookieOf, createAdmin, createKey, createUser } from "../support/people.ts";
import { startTestServer, type TestServer } from "../support/server.ts";
import { GENEROUS_LIMITS } from "../support/variables.ts";

const UNAUTHORIZED = { error: "Unauthorized" };
const FORBIDDEN = { error: "Forbidden" };
const TOO_MANY = { error: "Too many requests. Please wait a moment." };

const { test, server } = freshServer({ users: 3 });
/** Three requests per scope: the limits are reached quickly. */
let strict: TestServer;

beforeAll(async () => {
  strict = await startTestServer(test.url, {
    ...GENEROUS_LIMITS,
    RATE_LIMIT_API: "3/60",
    RATE_LIMIT_SETTINGS: "3/60",
    RATE_LIMIT_BILLING: "3/60",
    RATE_LIMIT_ADMIN: "3/60",
    TRUSTED_PROXIES: "1",
  });
});
afterAll(async () => {
  await strict.close();
});

async function usedUp(path: string, cookie: string): Promise<void> {
  for (let n = 0; n < 3; n += 1) {
    expect(
      (await sendRequest(strict.url, "GET", path, { cookie })).headers.get("x-ratelimit-remaining"),
    ).toBe(`${2 - n}`);
  }
}

function limitHeaders({ headers }: HttpResponse): (string | null)[] {
  return ["x-ratelimit-remaining", "ratelimit", "ratelimit-policy", "retry-after"].map((name) =>
    headers.get(name),
  );
}

describe("authentication comes first", () => {
  it("returns 401 without a session, without charging a limit", async () => {
    const headers = { "x-forwarded-for": "192.0.2.10" };
    for (let n = 0; n < 8; n += 1) {
      const response = await sendRequest(strict.url, "GET", "/api/users", { headers });
      expect([response.status, response.body]).toEqual([401, UNAUTHORIZED]);
      expect(response.headers.get("www-authenticate")).toMatch(/^Bearer /);
      expect(limitHeaders(response)).toEqual([null, null, null, null]);
    }
    const plans = await sendRequest(strict.url, "GET", "/api/plans", { headers });
    expect([plans.status, plans.headers.get("x-ratelimit-remaining")]).toEqual([200, "2"]);
  });

  it("returns 401 before the input is validated and before the body has arrived", async () => {
    const invalid = await sendRequest(strict.url, "PATCH", "/api/users/me", { body: "{" });
    expect([invalid.status, invalid.body]).toEqual([401, UNAUTHORIZED]);
    expect(await answerToUnsentBody("PATCH", "/api/users/me", {})).toEqual({
      status: 401,
      body: UNAUTHORIZED,
    });
  });

  it("returns 403 before the limit, and charges nothing", async () => {
    const { cookie } = await createUser(test);
    for (let n = 0; n < 5; n += 1) {
      const response = await sendRequest(strict.url, "GET", "/api/webhook-deliveries?limit=x", { cookie });
      expect([response.status, response.body, ...limitHeaders(response)]).toEqual([
        403,
        FORBIDDEN,
        null,
        null,
        null,
        null,
      ]);
    }
    for (const [method, path] of [
      ["GET", "/api/webhook-deliveries/1"],
      ["POST", "/api/webhook-deliveries/1/replay"],
      ["POST", "/api/subscriptions/0d4c2f6e-6c3b-4a53-9d0a-3f1f6a0e7b11/reconcile"],
    ] as const) {
      const response = await sendRequest(strict.url, method, path, { cookie });
      expect([response.status, response.body]).toEqual([403, FORBIDDEN]);
    }
  });

  it("applies a changed role from the next request on", async () => {
    const person = await createUser(test);
    const listDeliveries = async () =>
      (await sendRequest(server.url, "GET", "/api/webhook-deliveries", person)).status;
    expect(await listDeliveries()).toBe(403);
    await test.rows(`update "user" set role = 'admin' where id = $1`, [person.id]);
    expect(await listDeliveries()).toBe(200);
    await test.rows(`update "user" set role = 'user' where id = $1`, [person.id]);
    expect(await listDeliveries()).toBe(403);
  });
});

describe("the limit comes before validation", () => {
  it("returns 429, not 400, for invalid input over the limit", async () => {
    const { cookie } = await createUser(test);
    for (let n = 0; n < 3; n += 1) {
      expect(
        (await sendRequest(strict.url, "PATCH", "/api/users/me", { cookie, body: { name: "" } })).status,
      ).toBe(400);
    }
    for (const body of [{ name: "" }, "{", "[]", "x".repeat(70_000)]) {
      const response = await sendRequest(strict.url, "PATCH", "/api/users/me", { cookie, body });
      expect([response.status, response.body]).toEqual([429, TOO_MANY]);
    }
    await usedUp("/api/users", cookie);
    expect((await sendRequest(strict.url, "GET", "/api/users?limit=x", { cookie })).status).toBe(429);
  });

  it("does not wait for the body of a refused call", async () => {
    const { cookie } = await createUser(test);
    await usedUp("/api/api-keys", cookie);
    expect(await answerToUnsentBody("PATCH", "/api/users/me", { cookie })).toEqual({
      status: 429,
      body: TOO_MANY,
    });

    const otherUser = await createUser(test);
    expect(await answerToUnsentBody("PATCH", "/api/users/me", { cookie: otherUser.cookie }, 500)).toBeNull();
  });
});

/** Announces a body and sends none of it. `null`: no response in time. */
function answerToUnsentBody(
  method: string,
  path: string,
  headers: Record<string, string>,
  withinMs = 30_000,
): Promise<{ status: number; body: unknown } | null> {
  return new Promise((resolve, reject) => {
    const outgoing = request(`${strict.url}${path}`, {
      method,
      headers: { ...headers, "content-type": "application/json", "content-length": 100 },
    });
    outgoing.on("error", reject);
    const giveUp = setTimeout(() => {
      outgoing.removeAllListeners("error").on("error", () => {});
      outgoing.destroy();
      resolve(null);
    }, withinMs);
    outgoing.on("response", (incoming) => {
      clearTimeout(giveUp);
      const chunks: Buffer[] = [];
      incoming.on("data", (chunk) => chunks.push(chunk));
      incoming.on("end", () => {
        outgoing.removeAllListeners("error").on("error", () => {});
        outgoing.destroy();
        resolve({ status: incoming.statusCode ?? 0, body: JSON.parse(Buffer.concat(chunks).toString()) });
      });
    });
    outgoing.flushHeaders();
  });
}

describe("validation comes before the logic", () => {
  it("rejects an invalid checkout without calling a provider", async () => {
    const { cookie } = await createUser(test);
    const checkout = async (body: unknown) =>
      (await sendRequest(server.url, "POST", "/api/checkout", { cookie, body })).status;
    expect(await checkout({ planId: "pro", seats: 0 })).toBe(400);
    expect(await checkout({ planId: "pro", seats: 2 })).toBe(503);
  });

  it("rejects an invalid replay without an attempt", async () => {
    const { cookie } = await createAdmin(test);
    const [row] = await test.rows<{ id: string }>(
      `insert into webhook_delivery (provider, event_id, event_type, format, status, claim_source, payload)
       values ('provider-a', 'evt_gate', 'x', 'stripe', 'failed', 'delivery', '{}') returning id`,
    );
    const response = await sendRequest(server.url, "POST", `/api/webhook-deliveries/${row?.id}/replay`, {
      cookie,
      body: { force: "yes" },
    });
    expect([response.status, response.body]).toEqual([400, { error: "force: expected true or false" }]);
    expect(await test.rows("select claim_no, status from webhook_delivery where id = $1", [row?.id])).toEqual(
      [{ claim_no: 1, status: "failed" }],
    );
  });
});

describe("limit headers", () => {
  it("count down on admitted and refused answers alike, consistently", async () => {
    const { cookie } = await createUser(test);
    for (const [remaining, status, path] of [
      [2, 200, "/api/users/me"],
      [1, 400, "/api/users?limit=0"],
      [0, 404, "/api/subscriptions/0d4c2f6e-6c3b-4a53-9d0a-3f1f6a0e7b11"],
      [0, 429, "/api/users/me"],
      [0, 429, "/api/users"],
    ] as const) {
      const response = await sendRequest(strict.url, "GET", path, { cookie });
      expect(response.status).toBe(status);
      const [quota, limits, policies, retryAfter] = limitHeaders(response);
      expect(quota).toBe(`${remaining}`);
      expect(limits).toMatch(new RegExp(`^"api";r=${remaining};t=([1-5]?\\d|60)$`));
      expect(policies).toBe('"api";q=3;w=60');
      if (status !== 429) {
        expect(retryAfter).toBeNull();
        continue;
      }
      expect(response.body).toEqual(TOO_MANY);
      expect(response.headers.get("cache-control")).toBe("no-store");
      expect(retryAfter).toBe(/;t=(\d+)$/.exec(limits as string)?.[1]);
      expect(Number(retryAfter)).toBeGreaterThanOrEqual(1);
    }
  });

  it("admit the call again after Retry-After, which is at least a second", async () => {
    const quick = await startTestServer(test.url, { ...GENEROUS_LIMITS, RATE_LIMIT_API: "2/1" });
    const { cookie } = await createUser(test);
    const readProfile = () => sendRequest(quick.url, "GET", "/api/users/me", { cookie });
    // On a busy machine the window may pass between two calls.
    let refused = await readProfile();
    while (refused.status === 200) refused = await readProfile();
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "1"]);
    await new Promise((later) => setTimeout(later, 1_000));
    expect((await readProfile()).status).toBe(200);
    await quick.close();
  });

  it("are absent on unlimited routes", async () => {
    for (const path of ["/api/health", "/api/version", "/api/ready", "/api/openapi.json"]) {
      expect(limitHeaders(await sendRequest(strict.url, "GET", path))).toEqual([null, null, null, null]);
    }
  });
});

describe("counting", () => {
  it("counts each scope separately", async () => {
    const { cookie } = await createUser(test);
    await usedUp("/api/users/me", cookie);
    expect((await sendRequest(strict.url, "GET", "/api/users/me", { cookie })).status).toBe(429);
    const settings = await sendRequest(strict.url, "GET", "/api/api-keys", { cookie });
    expect([settings.status, settings.headers.get("ratelimit-policy")]).toEqual([200, '"settings";q=3;w=60']);
    const portal = await sendRequest(strict.url, "POST", "/api/portal", { cookie });
    expect([portal.status, portal.headers.get("x-ratelimit-remaining")]).toEqual([503, "2"]);
    expect(portal.headers.get("ratelimit-policy")).toBe('"billing";q=3;w=60');
  });

  it.each(["/api/user-directory", "/api/webhook-statistics"])("counts %s as administration", async (path) => {
    const { status, headers } = await sendRequest(strict.url, "GET", path, await createAdmin(test));
    expect([status, headers.get("ratelimit-policy")]).toEqual([200, '"admin";q=3;w=60']);
  });

  it("counts one user's calls across sessions and keys", async () => {
    const person = await createUser(test);
    const { key } = await createKey(server.url, person);
    const repeated = await sendRequest(server.url, "POST", "/api/auth/sign-in/email", {
      body: { email: person.email, password: person.password },
    });
    const calls = [
      { cookie: person.cookie },
      { cookie: cookieOf(repeated) },
      { key },
      { headers: { "x-api-key": key } },
    ];
    const remaining = [];
    for (const call of calls) {
      remaining.push(
        (await sendRequest(strict.url, "GET", "/api/users/me", call)).headers.get("x-ratelimit-remaining"),
      );
    }
    expect(remaining).toEqual(["2", "1", "0", "0"]);
    for (const call of calls)
      expect((await sendRequest(strict.url, "GET", "/api/users/me", call)).status).toBe(429);

    const otherUser = await createUser(test);
    expect(
      (await sendRequest(strict.url, "GET", "/api/users/me", otherUser)).headers.get("x-ratelimit-remaining"),
    ).toBe("2");
  });

  it("counts calls without a session by client address", async () => {
    const from = (address: string) => ({ headers: { "x-forwarded-for": address } });
    const listPlans = async (call: object) => {
      const { status, headers } = await sendRequest(strict.url, "GET", "/api/plans", call);
      return [status, headers.get("x-ratelimit-remaining")];
    };
    const statuses = [];
    for (let n = 0; n < 4; n += 1) statuses.push(await listPlans(from("192.0.2.20")));
    expect(statuses).toEqual([
      [200, "2"],
      [200, "1"],
      [200, "0"],
      [429, "0"],
    ]);
    expect(await listPlans(from("192.0.2.21"))).toEqual([200, "2"]);
    // Entries that the client puts before the proxy's have no effect.
    expect(await listPlans(from("192.0.2.99, 192.0.2.20"))).toEqual([429, "0"]);
    const { cookie } = await createUser(test);
    expect(await listPlans({ cookie, ...from("192.0.2.20") })).toEqual([200, "2"]);
  });

  it("counts each administrator separately", async () => {
    const admin = await createAdmin(test);
    const otherAdmin = await createAdmin(test);
    await usedUp("/api/webhook-deliveries", admin.cookie);
    expect((await sendRequest(strict.url, "GET", "/api/webhook-deliveries", admin)).status).toBe(429);
    expect((await sendRequest(strict.url, "GET", "/api/webhook-deliveries", otherAdmin)).status).toBe(200);
  });
});
