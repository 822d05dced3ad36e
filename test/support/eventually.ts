import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";

/** Repeats a query until its result is as expected; fails with the last result after `withinMs`. */
export async function eventually<Value>(
  query: () => Promise<Value>,
  expected: Value,
  withinMs = 60_000,
): Promise<void> {
  const giveUpAt = performance.now() + withinMs;
  for (;;) {
    const value = await query();
    if (isDeepStrictEqual(value, expected)) return;
    if (performance.now() > giveUpAt) {
      throw new Error(`still ${JSON.stringify(value)} after ${withinMs} ms, not ${JSON.stringify(expected)}`);
    }
    await sleep(50);
  }
}
