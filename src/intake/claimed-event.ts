import type { AttemptSource } from "../domain/delivery.ts";
import type { Claim } from "../store/deliveries.ts";
import type { ReadEvent } from "./read-event.ts";

/** A claimed delivery, and what its payload was found to mean. */
export type ClaimedEvent = ReadEvent & {
  claim: Claim;
  source: AttemptSource;
  /** On the process's own clock, in milliseconds. */
  startedAtMs: number;
  /** What it holds in memory while it waits. */
  bytes: number;
};

export type AttemptOutcome =
  | { outcome: "applied" | "ignored" }
  | { outcome: "failed"; reason: string }
  /** Another claim has taken it over: nothing was written. */
  | { outcome: "lost" }
  /** Not known to be durable: nothing may be acknowledged. */
  | { outcome: "unavailable" };

/** `again`: it failed while we looked, and can be claimed after all. */
export type Claimed = { claim: Claim } | "duplicate" | "again" | "unavailable";
