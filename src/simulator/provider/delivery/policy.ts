import type { WireFormat } from "../../../providers/adapter.ts";

/** How a provider delivers. */
export type Policy = {
  /** Which answers it takes for a receipt. */
  accepts(status: number): boolean;
  answerWithinMs: number;
  /** How long it waits after each failure; after one more it gives up. */
  waitsSeconds: readonly number[];
  /** `first in, first out`: a failing event holds back the later ones. */
  order: "first in, first out" | "as they come";
  atOnce: number;
  /** So many failures in a row switch the endpoint off; `null`: it stays on. */
  disablesAfter: number | null;
};

const MINUTE = 60;
const HOUR = 3_600;

const is2xx = (status: number) => status >= 200 && status < 300;
const times = (count: number, seconds: number) => Array.from({ length: count }, () => seconds);

/** Read from the providers' documentation; where it gives no figures, in their spirit. */
export const POLICIES: Record<WireFormat, Policy> = {
  // "Up to three days with an exponential back off", in no particular order, and perhaps more than once.
  stripe: {
    accepts: is2xx,
    answerWithinMs: 20_000,
    waitsSeconds: [5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, ...times(4, 12 * HOUR)],
    order: "as they come",
    atOnce: 8,
    disablesAfter: null,
  },
  // 60 retries in three days: 20 in the first hour, 47 in the first day.
  paddle: {
    accepts: is2xx,
    answerWithinMs: 5_000,
    waitsSeconds: [...times(20, 3 * MINUTE), ...times(27, 51 * MINUTE), ...times(13, 3.7 * HOUR)],
    order: "as they come",
    atOnce: 4,
    disablesAfter: null,
  },
  polar: {
    accepts: is2xx,
    answerWithinMs: 10_000,
    waitsSeconds: [15, 30, MINUTE, 2 * MINUTE, 4 * MINUTE, 8 * MINUTE, 16 * MINUTE, 32 * MINUTE, HOUR],
    order: "first in, first out",
    atOnce: 1,
    disablesAfter: 10,
  },
  "lemon-squeezy": {
    accepts: (status) => status === 200,
    answerWithinMs: 10_000,
    waitsSeconds: [5, 25, 125],
    order: "as they come",
    atOnce: 4,
    disablesAfter: null,
  },
};
