import type { Limit } from "./policies.ts";

const MAX_KEY_LENGTH = 1024;
/** Admitted requests are kept as a list of times. */
const MAX_LIMIT = 1_000_000;
const MAX_WINDOW_SECONDS = 366 * 24 * 3600;

/** @returns the window in whole milliseconds @throws RangeError */
export function checkLimit({ limit, windowSeconds }: Limit): number {
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_LIMIT) {
    throw new RangeError(`limit: a whole number from 1 to ${MAX_LIMIT}, not ${limit}`);
  }
  const windowMs = Math.round(windowSeconds * 1000);
  const isWhole = Math.abs(windowSeconds * 1000 - windowMs) < 1e-6;
  if (!(isWhole && windowMs >= 1 && windowSeconds <= MAX_WINDOW_SECONDS)) {
    throw new RangeError(
      `windowSeconds: from 0.001 to ${MAX_WINDOW_SECONDS}, in whole milliseconds, not ${windowSeconds}`,
    );
  }
  return windowMs;
}

/** @throws RangeError */
export function checkCost(cost: number, limit: number): void {
  if (!Number.isInteger(cost) || cost < 1) {
    throw new RangeError(`cost: a whole number from 1, not ${cost}`);
  }
  if (cost > limit)
    throw new RangeError(`cost: ${cost} is above the limit of ${limit}, so it is never admitted`);
}

/** @throws RangeError */
export function checkKey(key: string): void {
  if (key === "" || key.length > MAX_KEY_LENGTH) {
    throw new RangeError(`key: 1 to ${MAX_KEY_LENGTH} characters, not ${key.length}`);
  }
  // Unpaired surrogates all become the same character on their way to a shared store.
  if (!key.isWellFormed()) throw new RangeError("key: not well-formed Unicode");
}
