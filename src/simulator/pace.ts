import { setTimeout as sleep } from "node:timers/promises";

/** Resolves when the next one may go. */
export type Pace = () => Promise<void>;

const MOST_CATCHING_UP_MS = 100;

/** So many a second, evenly; a short delay is made up for. @param perSecond `null`: as fast as it goes. */
export function keepPace(perSecond: number | null): Pace {
  if (perSecond === null) return async () => {};
  let next = performance.now();
  return async () => {
    const now = performance.now();
    const mine = Math.max(next, now - MOST_CATCHING_UP_MS);
    next = mine + 1_000 / perSecond;
    if (mine > now) await sleep(mine - now);
  };
}
