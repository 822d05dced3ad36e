import type { Limit } from "./policies.ts";

const LONGEST_KEY = 1024;
/** A counter of admitted requests must fit a list of them. */
const HIGHEST_LIMIT = 1_000_000;
const LONGEST_WINDOW_SECONDS = 366 * 24 * 3600;

/** @returns the window in whole milliseconds @throws RangeError that says what is wrong */
export function checkLimit({ limit, windowSeconds }: Limit): number {
  if (!Number.isInteger(limit) || limit < 1 || limit > HIGHEST_LIMIT) {
    throw new RangeError(`limit: a whole number from 1 to ${HIGHEST_LIMIT}, not ${limit}`);
  }
  const windowMs = Math.round(windowSeconds * 1000);
  const isWhole = Math.abs(windowSeconds * 1000 - windowMs) < 1e-6;
  if (!(isWhole && windowMs >= 1 && windowSeconds <= LONGEST_WINDOW_SECONDS)) {
    throw new RangeError(
      `windowSeconds: from 0.001 to ${LONGEST_WINDOW_SECONDS}, in whole milliseconds, not ${windowSeconds}`,
    );
  }
  return windowMs;
}

/** @throws RangeError */
export function checkCost(cost: number, limit: number): void {
  if (!Number.isInteger(cost) || cost < 1) {
    throw new RangeError(`cost: a whole number from 1, not ${cost}`);
  }
  if (cost > limit) throw new RangeError(`cost: ${cost} is above the limit of ${limit} and never admitted`);
}

/** @throws RangeError */
export function checkKey(key: string): void {
  if (key === "" || key.length > LONGEST_KEY) {
    throw new RangeError(`key: 1 to ${LONGEST_KEY} characters, not ${key.length}`);
  }
  // Unpaired surrogates all become the same character on their way to a shared store.
  if (!key.isWellFormed()) throw new RangeError("key: not well-formed Unicode");
}
