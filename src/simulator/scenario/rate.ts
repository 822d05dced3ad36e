import { setTimeout as sleep } from "node:timers/promises";

/** Resolves when the next request may start. */
export type RateLimit = () => Promise<void>;

const MAX_CATCH_UP_MS = 100;

/** Spreads requests evenly; a short delay is caught up. @param perSecond `null`: no limit */
export function limitRate(perSecond: number | null): RateLimit {
  if (perSecond === null) return async () => {};
  let nextTurnAt = performance.now();
  return async () => {
    const now = performance.now();
    const turnAt = Math.max(nextTurnAt, now - MAX_CATCH_UP_MS);
    nextTurnAt = turnAt + 1_000 / perSecond;
    if (turnAt > now) await sleep(turnAt - now);
  };
}
