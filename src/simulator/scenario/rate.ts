import { setTimeout as sleep } from "node:timers/promises";

/** Resolves when the next request may start. */
export type RateLimit = () => Promise<void>;

const MAX_CATCH_UP_MS = 100;

/** Spreads requests evenly; a short delay is caught up. @param perSecond `null`: no limit */
export function limitRate(perSecond: number | null): RateLimit {
  if (perSecond === null) return async () => {};
  let next = performance.now();
  return async () => {
    const now = performance.now();
    const mine = Math.max(next, now - MAX_CATCH_UP_MS);
    next = mine + 1_000 / perSecond;
    if (mine > now) await sleep(mine - now);
  };
}
