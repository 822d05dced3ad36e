import { beforeAll, describe, expect, it } from "vitest";
import { freshServer } from "../../support/fresh-server.ts";
import { createUser, type TestUser } from "../../support/people.ts";

const { test, server } = freshServer();
let user: TestUser;
beforeAll(async () => {
  user = await createUser(test);
});

/** Everything of a response that does not differ from request to request. */
async function get(path: string, headers: Record<string, string> = {}) {
  const response = await fetch(`${server.url}/api/trpc/${path}`, { headers });
  const names = [...response.headers.keys()].filter(
    (name) => !/^(date|x-request-id|.*ratelimit.*|content-length|transfer-encoding)$/.test(name),
  );
  return {
    status: response.status,
    headers: names.map((name) => [
      name,
      response.headers.get(name)?.replace(/[?&]connectionParams=null/, ""),
    ]),
    limits: response.headers.has("x-ratelimit-remaining"),
    body: await response.json(),
  };
}

const input = (value: unknown) => `input=${encodeURIComponent(JSON.stringify(value))}`;
const DEEP = `input=${encodeURIComponent(`{"json":${"[".repeat(200)}${"]".repeat(200)}}`)}`;

describe("a single query", () => {
  it.each([
    ["a public list", `billing.plans?${input({ json: { limit: 2 } })}`, false],
    ["a batch of one", `billing.plans?batch=1&${input({ 0: { json: { limit: 2 } } })}`, false],
    ["a batch of one without input", "billing.plans?batch=1", false],
    ["a batch other than 1", `billing.plans?batch=true&${input({ json: { limit: 2 } })}`, false],
    ["without a session", "user.me", false],
    ["with a session", "user.me?batch=1", true],
    ["a list with dates", `notifications.list?batch=1&${input({ 0: { json: { limit: 5 } } })}`, true],
    ["for administrators", "user.list", true],
    ["an invalid input", `billing.plans?${input({ json: { limit: 0 } })}`, false],
    ["an input that is not JSON", "billing.plans?input=%7Bno", false],
    ["a batch whose input is no object", `billing.plans?batch=1&${input(7)}`, false],
    ["a nested input", `billing.plans?${DEEP}`, false],
    ["an unknown envelope", `billing.plans?${input({ value: 1 })}`, false],
  ])("gets the same response as from tRPC's own HTTP handler: %s", async (_, path, isSignedIn) => {
    const headers = isSignedIn ? { cookie: user.cookie } : {};
    // A parameter that makes no difference is left to tRPC.
    const byTrpc = await get(`${path}${path.includes("?") ? "&" : "?"}connectionParams=null`, headers);
    expect(await get(path, headers)).toEqual(byTrpc);
  });

  it.each([
    "billing.plans?input=%7B",
    "billing.plans?batch=1&input=%7B",
    "billing.plans,billing.plans?batch=1&input=%7B",
  ])("is told that its input is not JSON: %s", async (path) => {
    expect(JSON.stringify((await get(path)).body)).toContain("input: expected valid JSON");
  });

  it("gets the same response under a version", async () => {
    const { headers } = await get("billing.plans", { "x-api-version": "v2" });
    const byTrpc = await get("billing.plans?connectionParams=null", { "x-api-version": "v2" });
    expect(headers).toEqual(byTrpc.headers);
  });
});
