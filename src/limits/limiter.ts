import type { Decision } from "./rate-limit.ts";

/** What decides: in the memory of this process, or shared. Limit, window and cost have been checked. */
export interface Limiter {
  /**
   * Counts per key and window. Not a promise when it is known at once.
   * @throws LimiterUnavailable, and RangeError when the key is not one
   */
  decide(key: string, limit: number, windowMs: number, cost: number): Decision | Promise<Decision>;
  close(): Promise<void>;
}

/** Where a limiter says what the operator should know; a pino logger is one. */
export type LimiterLog = {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
};

/** What a limiter counts for the operator. */
export type LimiterMetrics = {
  /** Whether the shared store answers: at the start, and whenever that changes. */
  sharedStore(up: boolean): void;
  /**
   * A decision that the shared store was not asked for, or did not answer: `remembered` (a refusal that still holds),
   * `fallback` (counted in this process), `unavailable` (refused with `LimiterUnavailable`).
   */
  decidedWithoutStore(scope: string, how: "remembered" | "fallback" | "unavailable"): void;
  /** The memory of this process was full: a key was forgotten that had requests left, or a new one was refused. */
  memoryFull(outcome: "forgotten" | "refused"): void;
};

export const NO_METRICS: LimiterMetrics = {
  sharedStore: () => {},
  decidedWithoutStore: () => {},
  memoryFull: () => {},
};
