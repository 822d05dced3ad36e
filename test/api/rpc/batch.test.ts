import { setImmediate } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import plans from "../../../plans.config.ts";
import type { CallerContext } from "../../../src/api/authenticate.ts";
import { rpc } from "../../../src/api/rpc/rpc.ts";
import type { Limits } from "../../../src/limits/rate-limit.ts";
import { createLog } from "../../../src/observability/log.ts";
import type { Dependencies } from "../../../src/operations/dependencies.ts";
import type { RunningServer } from "../../../src/server.ts";
import { testApp, testCallers, testLimits } from "../../support/guarded-app.ts";
import { type HttpResponse, listen, sendRequest } from "../../support/http.ts";
import { createUser, type TestUser } from "../../support/people.ts";
import { startTestServer } from "../../support/server.ts";
import { testDatabase } from "../../support/test-database.ts";
import { GENEROUS_LIMITS } from "../../support/variables.ts";
import { refusalOf, rpcClient } from "./rpc-client.ts";

const TOO_MANY = "Too many requests. Please wait a moment.";
const STREAM = { "trpc-accept": "application/jsonl" };

const test = testDatabase(3);
/** 30 of `api`, 10 of `settings`, 60 of `rpc` a minute, as it ships. */
let server: RunningServer;
/** Fewer of `rpc` than a batch may hold. */
let narrow: RunningServer;

beforeAll(async () => {
  const signUps = { RATE_LIMIT_AUTH_SIGN_UP: "100000/60" };
  server = await startTestServer(test.url, signUps);
  narrow = await startTestServer(test.url, { ...GENEROUS_LIMITS, RATE_LIMIT_RPC: "4/60" });
});
afterAll(async () => {
  await server.close();
  await narrow.close();
});

/** Sent as it is written. */
function get(path: string, { cookie }: Pick<TestUser, "cookie">, headers: Record<string, string> = {}) {
  return sendRequest(server.url, "GET", path, { headers: { cookie, ...headers } });
}

/** The remaining requests of a scope, by the draft standard's header. */
function remaining(headers: Headers, scope: string): number {
  return Number(new RegExp(`"${scope}";r=(\\d+)`).exec(headers.get("ratelimit") ?? "")?.[1]);
}

describe("the number of calls", () => {
  it.each([
    ["one name", "/api/trpc/billing.plans", 1],
    ["one name, said to be a batch", "/api/trpc/billing.plans?batch=1", 1],
    ["several names", "/api/trpc/billing.plans,billing.features,billing.plans?batch=1", 3],
    ["encoded commas", "/api/trpc/billing.plans%2Cbilling.features%2cbilling.plans?batch=1", 3],
    ["encoded names", "/api/trpc/billing%2Eplans,%62illing.plans?batch=1", 2],
    ["empty names", "/api/trpc/,,billing.plans,?batch=1", 4],
    ["nothing but commas", "/api/trpc/,,,?batch=1", 4],
    ["unknown names", "/api/trpc/a,b,c?batch=1", 3],
    ["no name", "/api/trpc?batch=1", 1],
    ["a parameter given twice, of which the first counts", "/api/trpc/a,b?batch=1&batch=0", 2],
    ["an encoded parameter", "/api/trpc/a,b?b%61tch=%31", 2],
    ["commas without a batch", "/api/trpc/billing.plans,billing.plans", 1],
    ["commas and another word for a batch", "/api/trpc/billing.plans,billing.plans?batch=true", 1],
    ["a batch that is none", "/api/trpc/a,b?batch=0&batch=1", 1],
    ["twice encoded commas", "/api/trpc/a%252Cb?batch=1", 1],
    ["a version in front", "/api/v2/trpc/a,b?batch=1", 2],
  ])("is counted as tRPC does: %s", async (_, path, calls) => {
    const person = await createUser(test);
    const response = await get(path, person);
    expect(remaining(response.headers, "rpc")).toBe(60 - calls);
    // tRPC answers the same number.
    const body = response.body;
    expect(Array.isArray(body) ? body.length : 1).toBe(calls);
  });

  it.each([
    ["ten", "billing.plans,".repeat(9).concat("billing.plans"), 200],
    ["eleven", "billing.plans,".repeat(10).concat("billing.plans"), 400],
    ["eleven, by a comma at the end", "billing.plans,".repeat(10), 400],
    ["eleven, by empty names", ",".repeat(10), 400],
    ["eleven, by encoded commas", "billing.plans%2C".repeat(10).concat("billing.plans"), 400],
    ["a thousand", "a,".repeat(1000), 400],
  ])("is at most ten: %s", async (_, names, status) => {
    for (const headers of [{}, STREAM]) {
      const person = await createUser(test);
      const response = await get(`/api/trpc/${names}?batch=1`, person, headers as Record<string, string>);
      expect(response.status).toBe(status);
      if (status === 200) continue;
      expect(response.body).toEqual({
        error: {
          json: {
            message: "A batch may hold at most 10 calls: set maxItems of httpBatchLink to 10",
            code: -32600,
            data: expect.objectContaining({ code: "BAD_REQUEST", httpStatus: 400 }),
          },
        },
      });
      // Nothing was charged.
      expect(remaining((await get("/api/trpc/billing.plans", person)).headers, "rpc")).toBe(59);
    }
  });

  it.each([
    ["encoded", "%2c".repeat(4_000), "?batch=1"],
    ["plain", ",".repeat(4_000), "?batch=1"],
    ["with a fragment", ",".repeat(10), "?batch=1#x"],
  ])("is refused above ten before tRPC looks any name up: commas %s", async (_, commas, query) => {
    const person = await createUser(test);
    // tRPC itself refuses to mix the two, once it has looked all names up.
    const path = `/api/trpc/user.me,user.completeOnboarding${commas}${query}`;
    const response = await get(path, person);
    expect([response.status, response.body.error.json.data.params]).toEqual([400, { max: 10 }]);
    const post = await sendRequest(server.url, "POST", path, { cookie: person.cookie, body: {} });
    expect([post.status, post.body.error.json.data.params]).toEqual([400, { max: 10 }]);
  });

  it("does not affect authentication, which is done once per request", async () => {
    let lookUps = 0;
    const callers: CallerContext = {
      ...testCallers,
      auth: {
        ...testCallers.auth,
        identify: async (credentials) => {
          lookUps += 1;
          return testCallers.auth.identify(credentials);
        },
      },
    };
    const deps = { plans, limits: testLimits(), observe: null } as unknown as Dependencies;
    const served = await listen(testApp("/api/trpc", rpc(deps, callers, createLog("silent"))));
    const names = Array(10).fill("billing.features").join(",");
    for (const headers of [{}, STREAM]) {
      lookUps = 0;
      const response = await sendRequest(served.url, "GET", `/api/trpc/${names}?batch=1`, {
        headers: { "x-test-user": "user_0", ...headers },
      });
      expect([response.status, lookUps]).toEqual([200, 1]);
    }
    await served.close();
  });

  it("refuses all writes of a batch that is too large", async () => {
    const person = await createUser(test);
    const { user } = rpcClient(server.url, person);
    const calls = Array.from({ length: 11 }, (_, n) => user.updateProfile.mutate({ name: `Name ${n}` }));
    for (const call of calls) {
      expect(await refusalOf(call)).toEqual([
        "BAD_REQUEST",
        "A batch may hold at most 10 calls: set maxItems of httpBatchLink to 10",
      ]);
    }
    expect(await test.rows(`select name from "user" where id = $1`, [person.id])).toEqual([
      { name: person.name },
    ]);
  });

  it("rejects more calls than the limit of rpc", async () => {
    const person = await createUser(test);
    const batch = (calls: number) =>
      sendRequest(
        narrow.url,
        "GET",
        `/api/trpc/${Array(calls).fill("billing.plans").join(",")}?batch=1`,
        person,
      );
    expect((await batch(5)).status).toBe(400);
    expect((await batch(4)).status).toBe(200);
    expect((await batch(1)).status).toBe(429);
  });
});

describe("the remaining number of calls", () => {
  it("charges each call to rpc and to its operation's scope, and shows the lowest remainder", async () => {
    const person = await createUser(test);
    const response = await sendRequest(
      server.url,
      "GET",
      "/api/trpc/user.me,billing.plans,notifications.list?batch=1",
      person,
    );
    expect([response.status, limitHeadersOf(response)]).toEqual([
      200,
      {
        "x-ratelimit-remaining": "27",
        ratelimit: expect.stringMatching(/^"rpc";r=57;t=\d+, "api";r=27;t=\d+$/),
        "ratelimit-policy": '"rpc";q=60;w=60, "api";q=30;w=60',
        "retry-after": null,
      },
    ]);
    // REST shares the count.
    const restResponse = await sendRequest(server.url, "GET", "/api/users/me", person);
    expect(restResponse.headers.get("x-ratelimit-remaining")).toBe("26");
    const write = await sendRequest(server.url, "POST", "/api/trpc/user.updateProfile", {
      ...person,
      body: { json: { name: "New" } },
    });
    expect(write.headers.get("x-ratelimit-remaining")).toBe("9");
    expect(write.headers.get("ratelimit-policy")).toBe('"rpc";q=60;w=60, "settings";q=10;w=60');
  });

  it("counts calls without a session by client address, refused ones too", async () => {
    const otherServer = await startTestServer(test.url, { TRUSTED_PROXIES: "1" });
    const from = (address: string, path: string) =>
      sendRequest(otherServer.url, "GET", path, { headers: { "x-forwarded-for": address } });
    const refused = await from("192.0.2.1", "/api/trpc/user.me");
    expect([refused.status, refused.headers.get("x-ratelimit-remaining")]).toEqual([401, "59"]);
    const plans = await from("192.0.2.1", "/api/trpc/billing.plans");
    expect([plans.status, remaining(plans.headers, "rpc"), remaining(plans.headers, "api")]).toEqual([
      200, 58, 29,
    ]);
    expect(remaining((await from("192.0.2.2", "/api/trpc/billing.plans")).headers, "rpc")).toBe(59);
    await otherServer.close();
  });

  it.each([
    ["at once", {}],
    ["in a stream", STREAM],
  ])("refuses only the calls over their operation's limit, answered %s", async (_, headers) => {
    const person = await createUser(test);
    const send = (calls: number) =>
      sendRequest(
        server.url,
        "POST",
        `/api/trpc/${Array(calls).fill("user.completeOnboarding").join(",")}?batch=1`,
        {
          ...person,
          headers: headers as Record<string, string>,
          body: {},
        },
      );
    const all = await send(8);
    expect([all.status, all.headers.get("x-ratelimit-remaining"), all.headers.get("retry-after")]).toEqual([
      200,
      "2",
      null,
    ]);
    const some = await send(3);
    // A stream starts before its results are known; its headers must be sent first.
    expect(some.status).toBe("trpc-accept" in headers ? 200 : 207);
    expect(some.headers.get("x-ratelimit-remaining")).toBe("0");
    expect(some.headers.get("ratelimit")).toMatch(/^"rpc";r=49;t=\d+, "settings";r=0;t=\d+$/);
    expect(Number(some.headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
    expect(some.text.split(TOO_MANY)).toHaveLength(2);
    expect(some.text.split('"success":true')).toHaveLength(3);
  });

  it.each([
    ["at once", {}],
    ["in a stream", STREAM],
  ])(
    "refuses a request over the limit of `rpc` as a whole, charging nothing, answered %s",
    async (_, headers) => {
      const person = await createUser(test);
      const send = (calls: number) =>
        sendRequest(
          narrow.url,
          "POST",
          `/api/trpc/${Array(calls).fill("user.completeOnboarding").join(",")}?batch=1`,
          {
            ...person,
            headers: headers as Record<string, string>,
            body: {},
          },
        );
      expect((await send(3)).headers.get("x-ratelimit-remaining")).toBe("1");
      const refused = await send(2);
      expect([refused.status, refused.body.error.json]).toEqual([
        429,
        {
          message: TOO_MANY,
          code: -32029,
          data: expect.objectContaining({ code: "TOO_MANY_REQUESTS", httpStatus: 429 }),
        },
      ]);
      expect(refused.headers.get("x-ratelimit-remaining")).toBe("1");
      expect(refused.headers.get("ratelimit-policy")).toBe('"rpc";q=4;w=60');
      expect(Number(refused.headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
      // The refused calls cost nothing: the remaining one is still available.
      expect([(await send(1)).status, (await send(1)).status]).toEqual([200, 429]);
    },
  );

  it("is sent before a stream starts, also with a slow shared limiter", async () => {
    const counts = testLimits();
    const limits: Limits = {
      ...counts,
      rateLimit: async (key, options) => {
        await setImmediate();
        return counts.rateLimit(key, options);
      },
    };
    const deps = { plans, limits, observe: null } as unknown as Dependencies;
    const served = await listen(testApp("/api/trpc", rpc(deps, testCallers, createLog("silent"))));
    const response = await sendRequest(
      served.url,
      "GET",
      "/api/trpc/billing.features,billing.plans,nothing?batch=1",
      {
        headers: STREAM,
      },
    );
    expect([
      response.status,
      response.headers.get("ratelimit-policy"),
      response.headers.get("x-ratelimit-remaining"),
    ]).toEqual([200, '"rpc";q=60;w=60, "api";q=30;w=60', "28"]);
    await served.close();
  });

  it("can be read with the official client through every link", async () => {
    for (const link of ["httpLink", "httpBatchLink", "httpBatchStreamLink"] as const) {
      const person = await createUser(test);
      const answers: Response[] = [];
      const client = rpcClient(narrow.url, { link, ...person, onAnswer: (answer) => answers.push(answer) });
      for (let n = 0; n < 4; n += 1) await client.billing.plans.query();
      expect(await refusalOf(client.billing.plans.query())).toEqual(["TOO_MANY_REQUESTS", TOO_MANY]);
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 429]);
      expect(Number(answers.at(-1)?.headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
    }
  });
});

function limitHeadersOf({ headers }: HttpResponse): Record<string, string | null> {
  const names = ["x-ratelimit-remaining", "ratelimit", "ratelimit-policy", "retry-after"];
  return Object.fromEntries(names.map((name) => [name, headers.get(name)]));
}
