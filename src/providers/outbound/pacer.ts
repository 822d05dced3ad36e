import { setTimeout as sleep } from "node:timers/promises";
import type { RequestLimit } from "../../domain/provider-traits.ts";

/** Spreads the requests to one provider, and holds them all back while it asks for that. */
export type Pacer = {
  /** Resolves when a request may be sent. `false`: that would take longer than `withinMs`, and nothing was taken. */
  wait(withinMs: number): Promise<boolean>;
  /** The provider has answered 429: nobody sends anything before it is over. */
  pause(forMs: number): void;
  /** How long the next request has to wait. */
  waitMs(): number;
};

/** How much of a limit may be used at once after a quiet time. */
const BURST_SHARE = 0.25;

/** @param limit `null`: requests are only held back while the provider asks for that */
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
      pausedUntil = Math.max(pausedUntil, performance.now() + forMs);
    },
  };
}
