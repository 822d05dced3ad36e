import type { AttemptSource } from "../domain/deliveries/delivery.ts";
import type { Failure } from "../domain/deliveries/failures.ts";
import type { Span } from "../domain/tracing.ts";
import type { Claim } from "../store/deliveries/claims.ts";
import type { ReadEvent } from "./read-event.ts";

/** A claimed delivery with its parsed payload. */
export type ClaimedEvent = ReadEvent & {
  claim: Claim;
  source: AttemptSource;
  /** By the process's monotonic clock, in milliseconds. */
  startedAtMs: number;
  /** Of the request that brought it; absent where nothing is traced. */
  span?: Span | undefined;
  /** Its memory size while it waits. */
  bytes: number;
};

export type AttemptOutcome =
  | { outcome: "applied" | "ignored" }
  | { outcome: "failed"; failure: Failure }
  /** Another claim has taken it over: nothing was written. */
  | { outcome: "lost" }
  /** Not known to be durable: must not be acknowledged. */
  | { outcome: "unavailable" };

/** `again`: it failed in the meantime, and can be claimed after all. */
export type Claimed = { claim: Claim } | "duplicate" | "again" | "unavailable";
