import { afterAll, beforeAll, expect, it } from "vitest";
import type { RunningServer } from "../../../src/server.ts";
import { builtPages } from "../../support/built-pages.ts";
import { freshDatabase, type TestDatabase } from "../../support/database.ts";
import { eventually } from "../../support/eventually.ts";
import { sendRequest } from "../../support/http.ts";
import { describeWith } from "../../support/installed-programs.ts";
import { createUser, type TestUser } from "../../support/people.ts";
import { REDIS, startRedis, type TestRedis } from "../../support/redis.ts";
import { startTestServer } from "../../support/server.ts";
import { findServerAction, submitAction } from "../../support/server-action.ts";
import { GENEROUS_LIMITS } from "../../support/variables.ts";

const TOKEN = "a-token-of-sixteen-or-more";

describeWith("two servers on one Redis", REDIS, ({ "redis-server": program }) => {
  let redis: TestRedis;
  let test: TestDatabase;
  let servers: RunningServer[];
  let person: TestUser;
  beforeAll(async () => {
    await builtPages();
    redis = await startRedis(program);
    test = await freshDatabase(0);
    const variables = {
      ...GENEROUS_LIMITS,
      RATE_LIMIT_API: "4/3600",
      REDIS_URL: redis.url,
      METRICS_TOKEN: TOKEN,
    };
    servers = await Promise.all([1, 2].map(() => startTestServer(test.url, variables)));
  }, 180_000);
  afterAll(async () => {
    await Promise.all(servers.map((server) => server.close()));
    await test.drop();
    await redis.remove();
  });

  it("count a user's requests of all processes together", async () => {
    // With somebody new each time: a server that waits too long for Redis, as on a busy machine, counts by
    // itself.
    const remaining = async () => {
      person = await createUser(test);
      const counts = [];
      for (const n of [0, 1, 0, 1]) {
        const response = await sendRequest(servers[n]?.url as string, "GET", "/api/users/me", person);
        expect(response.status).toBe(200);
        counts.push(response.fields["x-ratelimit-remaining"]);
      }
      return counts;
    };
    await eventually(remaining, ["3", "2", "1", "0"]);
    for (const server of servers) {
      const refused = await sendRequest(server.url, "GET", "/api/subscriptions", person);
      expect([refused.status, refused.body]).toEqual([
        429,
        { error: "Too many requests. Please wait a moment." },
      ]);
    }
  });

  it("count from 0 what they refuse while it is unreachable", async () => {
    const { text } = await sendRequest(servers[0]?.url as string, "GET", "/api/metrics", { key: TOKEN });
    const scopes = ["auth-sign-in", "auth-sign-up", "auth-password", "billing"];
    expect(text.match(/^tollgate_limiter_without_store_total.*how="unavailable"\} 0$/gm)).toEqual(
      scopes.map((scope) => `tollgate_limiter_without_store_total{scope="${scope}",how="unavailable"} 0`),
    );
  });

  it("answer billing with 503 while Redis is unreachable, and count the rest locally", async () => {
    const otherUser = await createUser(test);
    await redis.kill();
    for (const server of servers) {
      const checkout = await sendRequest(server.url, "POST", "/api/checkout", {
        cookie: otherUser.cookie,
        body: { planId: "pro" },
      });
      expect(checkout.status).toBe(503);
      const action = findServerAction("createCheckout");
      const form = await submitAction(server.url, action, { planId: "pro" }, otherUser);
      expect([form.status, form.headers.get("retry-after")]).toEqual([503, "5"]);
      expect(form.returned).toMatchObject({ done: false, code: "unavailable" });
      const read = await sendRequest(server.url, "GET", "/api/users/me", otherUser);
      expect([read.status, read.fields["x-ratelimit-remaining"]]).toEqual([200, "3"]);
    }
  });
});
