import type { RateLimitResult } from "./rate-limit.ts";

/** Decides in the memory of this process, or in a shared store. Limit, window and cost have been checked. */
export interface Limiter {
  /**
   * Counts per key and window. Returns no promise when the decision is known at once.
   * @throws LimiterUnavailable, and RangeError when the key is invalid
   */
  decide(
    key: string,
    limit: number,
    windowMs: number,
    cost: number,
  ): RateLimitResult | Promise<RateLimitResult>;
  close(): Promise<void>;
}

/** The log for operators; a pino logger is one. */
export type LimiterLog = {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
};

/** Events that are counted for operators. */
export type LimiterMetrics = {
  /** Whether the shared store answers: called at the start, and on each change. */
  sharedStore(up: boolean): void;
  /**
   * A decision without the shared store: `remembered` (a refusal that still holds), `fallback` (counted in
   * this process), `unavailable` (refused with `LimiterUnavailable`).
   */
  decidedWithoutStore(scope: string, decision: "remembered" | "fallback" | "unavailable"): void;
  /** The memory was full: a key with requests left was forgotten, or a new key was refused. */
  memoryFull(outcome: "forgotten" | "refused"): void;
};

export const NO_METRICS: LimiterMetrics = {
  sharedStore: () => {},
  decidedWithoutStore: () => {},
  memoryFull: () => {},
};
