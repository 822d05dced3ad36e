import type { Answer } from "./sender.ts";

/** How the server took a delivery. `unavailable`: not at all, however often it was tried. */
export const OUTCOMES = ["first", "duplicate", "ignored", "refused", "failed", "unavailable"] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** Counts while a run goes on; to be looked at whenever one likes. */
export type Tally = Record<Outcome, number> & {
  /** Deliveries that are over, each counted once however often it was tried. */
  sent: number;
  /** Tries after the first ones. */
  retried: number;
  /** How long each answer took, in milliseconds. */
  tookMs: number[];
};

export function openTally(): Tally {
  return {
    sent: 0,
    retried: 0,
    tookMs: [],
    first: 0,
    duplicate: 0,
    ignored: 0,
    refused: 0,
    failed: 0,
    unavailable: 0,
  };
}

/** `null`: an answer that no webhook of Tollgate's gives. */
export function outcomeOf(answer: Answer): Outcome | null {
  switch (answer.status) {
    case 200:
      if (answer.body.received !== true) return null;
      if (answer.body.duplicate) return "duplicate";
      if (answer.body.ignored) return "ignored";
      // Failed all the same, and said so softly: some providers switch off endpoints that answer errors.
      return answer.body.deferred ? "failed" : "first";
    case 400:
      return "refused";
    case 500:
      return "failed";
    case 503:
    case "lost":
      return "unavailable";
    default:
      return null;
  }
}

/** The smallest value that `share` of all values do not exceed; 0 when there are none. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0;
}
