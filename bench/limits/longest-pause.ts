import { setImmediate as nextTurn } from "node:timers/promises";
import { BrokenMeasurement } from "../shared/broken.ts";
import { CONTENDERS } from "./contenders.ts";
import { drive, lanesOf, through } from "./drive.ts";
import { freshKeys, KEYS } from "./keys.ts";
import { openLimiter } from "./open-limiter.ts";
import type { Turn } from "./turn.ts";

export type LongestPause = { ms: number; keys: number };

const WINDOW_SECONDS = 1;
const LIMIT = 1_000_000;
const GO_ON_FOR_MS = 1_800;
const KNOWN = 64;
const ONE_NEW_IN = 16;

/**
 * Makes keys, and goes on with a few of them until all the others have run out, then with new ones. What is
 * returned is the longest that one call took, or the turn of the event loop that it was in.
 */
export async function longestPause(turn: Turn): Promise<LongestPause> {
  const { contender } = turn;
  const { store, keyPrefix } = CONTENDERS[contender];
  const limiter = await openLimiter(turn, { limit: LIMIT, windowSeconds: WINDOW_SECONDS });
  const keys = freshKeys(keyPrefix, 0, KEYS[store]);
  const later = freshKeys(keyPrefix, keys.length, keys.length);
  globalThis.gc?.();

  let longest = 0;
  let lastTurn = performance.now();
  const turnOver = async () => {
    await nextTurn();
    const now = performance.now();
    longest = Math.max(longest, now - lastTurn);
    lastTurn = now;
  };
  const call = async (all: readonly string[], index: number) => {
    if ((await limiter.admit(all, index, index + 1)) !== 1) throw new BrokenMeasurement("a call was refused");
    await turnOver();
  };

  if (store === "redis") {
    await drive(limiter, lanesOf(contender), through(keys, 1));
    lastTurn = performance.now();
  } else if (limiter.fill) {
    for (let index = 0; index < keys.length; index += 1) {
      await limiter.fill(keys, 1, index, index + 1);
      await turnOver();
    }
  } else {
    for (let index = 0; index < keys.length; index += 1) await call(keys, index);
  }
  const filledAt = performance.now();
  for (let calls = 0; performance.now() - filledAt < GO_ON_FOR_MS; calls += 1) {
    const haveRunOut = performance.now() - filledAt > WINDOW_SECONDS * 1_000;
    const isNew = haveRunOut && calls % ONE_NEW_IN === 0;
    await (isNew ? call(later, (calls / ONE_NEW_IN) % later.length) : call(keys, calls % KNOWN));
  }
  await limiter.close();
  return { ms: longest, keys: keys.length };
}
