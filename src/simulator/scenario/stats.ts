import type { SendResult } from "../delivery/sender.ts";

/** How the server took a delivery. `unavailable`: not at all, however often it was tried. */
export const OUTCOMES = ["first", "duplicate", "ignored", "refused", "failed", "unavailable"] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** Counts while a run goes on; to be looked at whenever one likes. */
export type Stats = Record<Outcome, number> & {
  /** Deliveries that are over, each counted once however often it was tried. */
  sent: number;
  /** Tries after the first ones. */
  retried: number;
  /** How long each answer took, in milliseconds. */
  tookMs: number[];
};

export function createStats(): Stats {
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
export function outcomeOf(result: SendResult): Outcome | null {
  switch (result.status) {
    case 200:
      if (result.body.received !== true) return null;
      if (result.body.duplicate) return "duplicate";
      if (result.body.ignored) return "ignored";
      // Failed all the same, and said so softly: some providers switch off endpoints that answer errors.
      return result.body.deferred ? "failed" : "first";
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
