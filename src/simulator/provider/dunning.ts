import type { WireFormat } from "../../providers/adapter.ts";

export type Dunning = {
  /** How long after the failed renewal the charge is tried again. */
  retryAfterDays: readonly number[];
  /** How long it stays unpaid once nobody tries any more; `null`: it ends with the last try. */
  unpaidForDays: number | null;
};

/** As each provider sets it for a new seller; all but Polar let the seller change it. */
export const DUNNING: Record<WireFormat, Dunning> = {
  stripe: { retryAfterDays: [3, 8, 15], unpaidForDays: null },
  paddle: { retryAfterDays: [2, 7, 14, 30], unpaidForDays: null },
  polar: { retryAfterDays: [2, 7, 14, 21], unpaidForDays: null },
  "lemon-squeezy": { retryAfterDays: [3, 6, 10, 14], unpaidForDays: 14 },
};
