import type { Limit, Policies } from "./policies.ts";

/** The result of one call to the limiter. */
export type RateLimitResult = {
  allowed: boolean;
  /** How many more requests of cost 1 would be admitted now. */
  remaining: number;
  /**
   * Milliseconds since the epoch. When refused: the first instant at which the same request is admitted. When
   * admitted: the instant at which the oldest counted request leaves the window.
   */
  resetAt: number;
};

/**
 * Exact sliding window over the requests admitted under `key`, which has the form `<scope>:<id>` (`limit-key.ts`).
 * Half-open: a request at `t` no longer counts at `t + windowSeconds`. A refused request is not counted.
 * Counts kept in this process are answered at once, without a promise: `await` works for both.
 * @throws RangeError when the limit is invalid, or the cost (default 1) exceeds it
 * @throws LimiterUnavailable when counts are shared and their store does not answer
 */
export type RateLimit = (
  key: string,
  options: Limit & { cost?: number },
) => RateLimitResult | Promise<RateLimitResult>;

/** The shared store does not answer, and this scope must not be served without it. */
export class LimiterUnavailable extends Error {
  override name = "LimiterUnavailable";
}

/** The limiter together with the policies in force. */
export type Limits = {
  policies: Policies;
  /** The clock of `resetAt`, which never goes back: milliseconds since the epoch. */
  now(): number;
  rateLimit: RateLimit;
};
