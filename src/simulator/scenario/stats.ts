import type { WebhookResponse } from "../delivery/sender.ts";

/** The outcome of a delivery. `unavailable`: not accepted despite all retries. */
export const OUTCOMES = ["first", "duplicate", "ignored", "refused", "failed", "unavailable"] as const;
export type DeliveryOutcome = (typeof OUTCOMES)[number];

/** Counters of a run, readable at any time. */
export type Stats = Record<DeliveryOutcome, number> & {
  /** Finished deliveries, each counted once regardless of retries. */
  sent: number;
  /** Retries. */
  retried: number;
  /** The duration of each request, in milliseconds. */
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

/** `null`: not a response of Tollgate's webhooks. */
export function outcomeOf(result: WebhookResponse): DeliveryOutcome | null {
  switch (result.status) {
    case 200:
      if (result.body.received !== true) return null;
      if (result.body.duplicate) return "duplicate";
      if (result.body.ignored) return "ignored";
      // A failure answered with 200: some providers disable endpoints that return errors.
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

/** A quantile: the smallest value that `share` of all values do not exceed; 0 when there are none. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0;
}
