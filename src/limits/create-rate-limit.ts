import { checkCost, checkLimit } from "./check-request.ts";
import { steadyNow } from "./clock.ts";
import { type Limiter, type LimiterLog, type LimiterMetrics, NO_METRICS } from "./limiter.ts";
import { MemoryLimiter } from "./memory-limiter.ts";
import type { RateLimit } from "./rate-limit.ts";
import { openSharedLimiter } from "./shared-limiter.ts";

export type RateLimitOptions = {
  /** One Redis, or several nodes of one cluster; `null` keeps the counts in this process. */
  redisUrls: readonly string[] | null;
  log: LimiterLog;
  metrics?: LimiterMetrics;
  /** Milliseconds since the epoch, on a clock that never goes back. */
  now?: () => number;
  /** How many keys the memory of this process holds (`RATE_LIMIT_MEMORY_KEYS`), 100,000 by default. */
  maxMemoryKeys?: number;
  /** How long a decision waits for Redis, 75 ms by default. */
  answerWithinMs?: number;
  /** For tests: milliseconds to count by instead of Redis's own clock. */
  redisNow?: () => number;
};

export type ClosableRateLimit = { rateLimit: RateLimit; close(): Promise<void> };

/** Starts within about a second, whether or not its Redis answers. */
export async function createRateLimit(options: RateLimitOptions): Promise<ClosableRateLimit> {
  const limiter = await openLimiter(options);
  return { rateLimit: rateLimitOver(limiter), close: () => limiter.close() };
}

async function openLimiter({ redisUrls, ...options }: RateLimitOptions): Promise<Limiter> {
  const { metrics = NO_METRICS, now = steadyNow } = options;
  if (redisUrls === null) return new MemoryLimiter({ ...options, metrics, now });
  return openSharedLimiter({ ...options, metrics, now, redisUrls });
}

function rateLimitOver(limiter: Limiter): RateLimit {
  // Callers repeat the same few policies, so the last one is usually checked already.
  let checked = { limit: 0, windowSeconds: 0, windowMs: 0 };
  return (key, { limit, windowSeconds, cost = 1 }) => {
    if (limit !== checked.limit || windowSeconds !== checked.windowSeconds) {
      checked = { limit, windowSeconds, windowMs: checkLimit({ limit, windowSeconds }) };
    }
    if (cost !== 1) checkCost(cost, limit);
    return limiter.decide(key, limit, checked.windowMs, cost);
  };
}
