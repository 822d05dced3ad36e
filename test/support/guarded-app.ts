import { Hono } from "hono";
import type { CallerContext } from "../../src/api/authenticate.ts";
import { answerError, onlyErrors } from "../../src/http/error-response.ts";
import type { HonoEnv } from "../../src/http/hono-env.ts";
import { addLimitHeaders } from "../../src/http/limit-headers.ts";
import { steadyNow } from "../../src/limits/clock.ts";
import { NO_METRICS } from "../../src/limits/limiter.ts";
import { MemoryLimiter } from "../../src/limits/memory-limiter.ts";
import { DEFAULT_POLICIES } from "../../src/limits/policies.ts";
import type { Limits } from "../../src/limits/rate-limit.ts";
import { createLog } from "../../src/observability/log.ts";

/** The caller is the user in `x-test-user`: with a session or, if `x-test-key` is set, with an API key. */
export const testCallers: CallerContext = {
  auth: {
    identify: async ({ header, address }) => {
      const userId = header("x-test-user");
      if (userId === undefined) return { caller: { kind: "anonymous", address }, setCookies: [] };
      const person = { userId, role: "user", address } as const;
      const keyId = header("x-test-key");
      return {
        caller: keyId
          ? { kind: "api-key", keyId, ...person }
          : { kind: "session", sessionId: "session", ...person },
        setCookies: [],
      };
    },
    // The secret of a user's link is the user's id.
    authenticateLink: async (_plugin, secret, address) =>
      secret.startsWith("user_")
        ? { kind: "api-key", userId: secret, role: "user", keyId: "link", address }
        : null,
  },
  clientAddress: (socketAddress) => socketAddress ?? "",
  ownOrigins: () => ["https://app.example.com"],
  limits: testLimits(),
};

/** New counts in memory, under the default policies. */
export function testLimits(): Limits {
  const limiter = new MemoryLimiter({ log: createLog("silent"), metrics: NO_METRICS });
  return {
    policies: DEFAULT_POLICIES,
    now: steadyNow,
    rateLimit: (key, { limit, windowSeconds, cost = 1 }) =>
      limiter.decide(key, limit, windowSeconds * 1000, cost),
  };
}

/** Routes below `path`, with the API's own answers to errors. */
export function testApp(
  path: string,
  // biome-ignore lint/suspicious/noExplicitAny: the routes may have any environment
  routes: Hono<any>,
  note: (error: unknown) => void = () => {},
): Hono<HonoEnv> {
  const app = new Hono<HonoEnv>();
  app.use(onlyErrors);
  app.route(path, routes);
  app.notFound((c) => c.json({ error: "Not found" }, 404));
  app.onError((error, c) => {
    addLimitHeaders(c, c.get("charges") ?? []);
    return answerError(c, error, note);
  });
  return app;
}
