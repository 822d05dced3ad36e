import { type LimiterLog, type LimiterMetrics, NO_METRICS } from "./limiter.ts";
import { MemoryLimiter } from "./memory-limiter.ts";
import { type ClosableRateLimit, rateLimitOf } from "./rate-limit-of.ts";

/** The limiter's function with counts in the memory of this process. `now`: milliseconds, only going forwards. */
export function memoryRateLimit(options: {
  log: LimiterLog;
  metrics?: LimiterMetrics;
  now?: () => number;
  maxKeys?: number;
}): ClosableRateLimit {
  return rateLimitOf(new MemoryLimiter({ ...options, metrics: options.metrics ?? NO_METRICS }));
}
