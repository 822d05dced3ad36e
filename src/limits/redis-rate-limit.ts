import { steadyNow } from "./clock.ts";
import { type LimiterLog, type LimiterMetrics, NO_METRICS } from "./limiter.ts";
import { type ClosableRateLimit, rateLimitOf } from "./rate-limit-of.ts";
import { openSharedLimiter } from "./shared-limiter.ts";

/**
 * The limiter's function with counts in Redis, or in a Redis cluster when there are several URLs.
 * @param options.answerWithinMs how long a decision waits for Redis, 75 ms unless given
 * @param options.redisNow for tests: milliseconds to count by in place of Redis's clock
 */
export async function redisRateLimit(options: {
  redisUrls: readonly string[];
  log: LimiterLog;
  metrics?: LimiterMetrics;
  now?: () => number;
  answerWithinMs?: number;
  redisNow?: () => number;
}): Promise<ClosableRateLimit> {
  const { metrics = NO_METRICS, now = steadyNow } = options;
  return rateLimitOf(await openSharedLimiter({ ...options, metrics, now }));
}
