import { setTimeout as sleep } from "node:timers/promises";
import type { RequestLimit } from "../../domain/providers/provider-traits.ts";

/** Spreads the requests to one provider over time, and pauses all of them after a Retry-After. */
export type Pacer = {
  /**
   * Resolves when a request may be sent. `false`: that would take longer than `withinMs`, and nothing was
   * reserved.
   */
  wait(withinMs: number): Promise<boolean>;
  /** Called for a Retry-After: no request is sent before the pause is over, which lasts ten minutes at most. */
  pause(forMs: number): void;
  /** How long the next request has to wait. */
  waitMs(): number;
};

/** The share of a limit that may be used at once after a quiet period. */
const BURST_SHARE = 0.25;

/** A longer one, such as a date far ahead from a gateway, would stop all calls until a restart. */
const MAX_PAUSE_MS = 10 * 60 * 1000;

/** @param limit `null`: requests only pause after a Retry-After */
export function createPacer(limit: RequestLimit | null): Pacer {
  const intervalMs = limit === null ? 0 : (limit.perSeconds * 1000) / limit.requests;
  const burstMs = limit === null ? 0 : Math.max(intervalMs, limit.perSeconds * 1000 * BURST_SHARE);
  let nextAt = 0;
  let pausedUntil = 0;
  const waitMs = () => {
    const now = performance.now();
    return Math.max(0, nextAt - burstMs - now, pausedUntil - now);
  };
  return {
    waitMs,
    wait: async (withinMs) => {
      const ms = waitMs();
      if (ms > withinMs) return false;
      nextAt = Math.max(nextAt, performance.now()) + intervalMs;
      if (ms > 0) await sleep(ms);
      return true;
    },
    pause: (forMs) => {
      pausedUntil = Math.max(pausedUntil, performance.now() + Math.min(forMs, MAX_PAUSE_MS));
    },
  };
}
