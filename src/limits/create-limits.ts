import { checkCost, checkLimit } from "./check-request.ts";
import { steadyNow } from "./clock.ts";
import { limitKey } from "./limit-key.ts";
import { type LimiterLog, type LimiterMetrics, NO_METRICS } from "./limiter.ts";
import { MemoryLimiter } from "./memory-limiter.ts";
import { type Policies, SCOPES, type Scope } from "./policies.ts";
import type { Limits } from "./rate-limit.ts";

export type LimitsOptions = {
  policies: Policies;
  /** One Redis, or nodes of one cluster; `null` counts in this process. */
  redisUrls: readonly string[] | null;
  log: LimiterLog;
  metrics?: LimiterMetrics;
  /** Milliseconds since the epoch, on a clock that only goes forwards. */
  now?: () => number;
};

/** The limiter under the policies in force. Starts within about a second, with or without its Redis. @throws RangeError */
export async function createLimits(options: LimitsOptions): Promise<Limits & { close(): Promise<void> }> {
  const { policies, redisUrls, log, metrics = NO_METRICS, now = steadyNow } = options;
  const windows = Object.fromEntries(SCOPES.map((scope) => [scope, checkLimit(policies[scope])]));
  // Redis's client is large, and without a Redis not needed.
  const limiter = redisUrls
    ? await (await import("./shared-limiter.ts")).openSharedLimiter({ redisUrls, log, metrics, now })
    : new MemoryLimiter({ log, metrics, now });
  return {
    policies,
    now,
    charge: (scope, id, cost = 1) => {
      const { limit } = policies[scope];
      if (cost !== 1) checkCost(cost, limit);
      return limiter.decide(limitKey(scope, id), limit, (windows as Record<Scope, number>)[scope], cost);
    },
    close: () => limiter.close(),
  };
}
