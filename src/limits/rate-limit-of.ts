import { checkCost, checkLimit } from "./check-request.ts";
import type { Limiter } from "./limiter.ts";
import type { RateLimit } from "./rate-limit.ts";

export type ClosableRateLimit = { rateLimit: RateLimit; close(): Promise<void> };

/** The function of the contract over whatever keeps the counts. */
export function rateLimitOf(limiter: Limiter): ClosableRateLimit {
  // Nearly always the same few objects and numbers, one after the other.
  let checked = { limit: 0, windowSeconds: 0, windowMs: 0 };
  return {
    rateLimit: async (key, { limit, windowSeconds, cost = 1 }) => {
      if (limit !== checked.limit || windowSeconds !== checked.windowSeconds) {
        checked = { limit, windowSeconds, windowMs: checkLimit({ limit, windowSeconds }) };
      }
      if (cost !== 1) checkCost(cost, limit);
      return limiter.decide(key, limit, checked.windowMs, cost);
    },
    close: () => limiter.close(),
  };
}
