import { accuracy } from "./accuracy.ts";
import { bytesPerKey } from "./bytes-per-key.ts";
import { longestPause } from "./longest-pause.ts";
import { deniedRate, hotRate, manyKeysRate } from "./rates.ts";

/** What is measured of a contender, each in a process of its own. */
export const MEASURES = {
  /** Calls/s of one key that may pass. */
  hot: hotRate,
  /** Calls/s over 100,000 keys that may pass. */
  keys: manyKeysRate,
  /** Calls/s of one key that may not. */
  denied: deniedRate,
  bytes: bytesPerKey,
  pause: longestPause,
  accuracy,
};

export type Measures = typeof MEASURES;
