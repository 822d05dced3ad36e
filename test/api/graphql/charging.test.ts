import { expect, it } from "vitest";
import { freshServer } from "../../support/fresh-server.ts";
import { sendRequest } from "../../support/http.ts";
import { createUser } from "../../support/people.ts";
import { queryGraphql, refusals } from "./query-graphql.ts";

const TOO_MANY = "Too many requests. Please wait a moment.";

const { test, server } = freshServer({
  users: 1,
  variables: {
    RATE_LIMIT_GRAPHQL: "6/60",
    RATE_LIMIT_API: "5/60",
    RATE_LIMIT_SETTINGS: "3/60",
    RATE_LIMIT_BILLING: "2/60",
    TRUSTED_PROXIES: "1",
  },
});

function leftOf(headers: Headers): Record<string, number> {
  const limits = [...(headers.get("ratelimit") ?? "").matchAll(/"([\w-]+)";r=(\d+)/g)];
  return Object.fromEntries(limits.map(([, scope, remaining]) => [scope, Number(remaining)]));
}

it("charges one graphql per request, and each field to its operation's scope", async () => {
  const { cookie } = await createUser(test);
  const first = await queryGraphql(
    server.url,
    "{ __typename me { id } again: me { id } apiKeys { nextCursor } }",
    { cookie },
  );
  expect(first.body.errors).toBeUndefined();
  expect(leftOf(first.headers)).toEqual({ graphql: 5, api: 3, settings: 2 });
  expect(first.headers.get("x-ratelimit-remaining")).toBe("2");
  expect(first.headers.get("ratelimit-policy")).toContain('"api";q=5;w=60');

  const restResponse = await sendRequest(server.url, "GET", "/api/subscriptions", { cookie });
  expect(leftOf(restResponse.headers)).toEqual({ api: 2 });
});

it("charges each mutation, and refuses only those over the limit", async () => {
  const { cookie } = await createUser(test);
  const checkout = (n: number) => `c${n}: createCheckout(planId: "free")`;
  const response = await queryGraphql(
    server.url,
    `mutation { ${[1, 2, 3].map(checkout).join(" ")} updateProfile(name: "Changed") { name } }`,
    { cookie },
  );
  expect(response.status).toBe(200);
  expect(refusals(response)).toEqual({ c1: "BAD_USER_INPUT", c2: "BAD_USER_INPUT", c3: "RATE_LIMITED" });
  expect(response.body.errors[2].message).toBe(TOO_MANY);
  expect(response.body.data.updateProfile).toEqual({ name: "Changed" });
  expect(leftOf(response.headers)).toEqual({ graphql: 5, billing: 0, settings: 2 });
  expect(response.headers.get("x-ratelimit-remaining")).toBe("0");
  const wait = Number(response.headers.get("retry-after"));
  expect(wait).toBeGreaterThanOrEqual(1);
  expect(wait).toBeLessThanOrEqual(60);

  const restResponse = await sendRequest(server.url, "POST", "/api/checkout", {
    cookie,
    body: { planId: "free" },
  });
  expect(restResponse.status).toBe(429);
});

it("refuses a request over the limit as a whole, with errors and REST's status", async () => {
  const { cookie } = await createUser(test);
  for (let n = 0; n < 6; n += 1) {
    const response = await queryGraphql(server.url, "{ __typename }", { cookie });
    expect(response.headers.get("x-ratelimit-remaining")).toBe(`${5 - n}`);
  }
  const refused = await queryGraphql(server.url, "mutation { completeOnboarding { id } }", { cookie });
  expect(refused.status).toBe(429);
  expect(refused.body).toEqual({
    errors: [
      {
        message: TOO_MANY,
        extensions: {
          code: "RATE_LIMITED",
          reason: "rate_limited",
          params: { retryAfterSeconds: expect.any(Number) },
        },
      },
    ],
  });
  expect(Number(refused.headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
  expect(refused.headers.get("x-ratelimit-remaining")).toBe("0");
  expect(refused.headers.get("cache-control")).toBe("no-store");

  const byGet = await sendRequest(server.url, "GET", "/api/graphql?query=%7B__typename%7D", {
    cookie,
    headers: { accept: "application/graphql-response+json" },
  });
  expect(byGet.status).toBe(429);
  expect(byGet.headers.get("content-type")).toMatch(/^application\/graphql-response\+json/);
});

it("charges a request that is refused before it runs, but not its fields", async () => {
  const { cookie } = await createUser(test);
  const bad = [
    "{ me { nothing } }",
    "{",
    `{ ${Array.from({ length: 16 }, (_, n) => `a${n}: me { id }`).join(" ")} }`,
  ];
  for (const query of bad) await queryGraphql(server.url, query, { cookie });
  await sendRequest(server.url, "POST", "/api/graphql", { cookie, body: "not json" });
  const { headers } = await queryGraphql(server.url, "{ me { id } }", { cookie });
  expect(leftOf(headers)).toEqual({ graphql: 1, api: 4 });
});

it("counts requests without a session by client address", async () => {
  const from = (address: string) =>
    queryGraphql(server.url, "{ plans { nextCursor } }", { headers: { "x-forwarded-for": address } });
  for (let n = 0; n < 5; n += 1) {
    expect(leftOf((await from("203.0.113.9")).headers)).toEqual({ graphql: 5 - n, api: 4 - n });
  }
  const over = await from("203.0.113.9");
  expect(refusals(over)).toEqual({ plans: "RATE_LIMITED" });
  expect(leftOf((await from("203.0.113.10")).headers)).toEqual({ graphql: 5, api: 4 });
});
