import type { Limit, Policies, Scope } from "./policies.ts";

/** What came of one request to the limiter. */
export type Decision = {
  allowed: boolean;
  /** How many more of cost 1 would be admitted now. */
  remaining: number;
  /**
   * Milliseconds since the epoch. Refused: the first instant at which the same request is admitted. Admitted: the
   * instant at which the oldest counted request leaves the window.
   */
  resetAt: number;
};

/**
 * Exact sliding window over the requests admitted under `key`, which has the form `<scope>:<user_id>`. Half-open: a request
 * at `t` no longer counts at `t + windowSeconds`. A refusal counts nothing.
 * @throws RangeError when the limit is not one, or the cost (1 unless given) is above it
 * @throws LimiterUnavailable when counts are shared and the store that holds them does not answer
 */
export type RateLimit = (key: string, options: Limit & { cost?: number }) => Promise<Decision>;

/** Nothing can be said: the store of the counts does not answer, and this scope is not to be served without it. */
export class LimiterUnavailable extends Error {
  override name = "LimiterUnavailable";
}

/** The limiter under the policies in force: what the gate charges. */
export type Limits = {
  policies: Policies;
  /** The clock that `resetAt` is told by, which does not jump: milliseconds since the epoch. */
  now(): number;
  /**
   * Counts one request of `id` (a user's id, or an address) in `scope`. Not a promise when it is known at once.
   * @throws LimiterUnavailable
   */
  charge(scope: Scope, id: string, cost?: number): Decision | Promise<Decision>;
};
