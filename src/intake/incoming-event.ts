import type { Span } from "../domain/tracing.ts";
import type { NewDelivery } from "../store/deliveries/deliveries.ts";
import type { ReadEvent } from "./read-event.ts";

/** A verified event on its way into the log, with its parsed payload. */
export type IncomingEvent = ReadEvent & {
  delivery: NewDelivery;
  /** The delivery's `keyOf`, computed once: maps hash each new string again. */
  key: string;
  /** By the process's monotonic clock, in milliseconds. */
  startedAtMs: number;
  /** Of the request that brought it; absent where nothing is traced. */
  span?: Span;
  /** Whether the sender still waits for the response. */
  isAwaited(): boolean;
};

export type ReceivedOutcome =
  | { outcome: "applied" | "ignored" | "duplicate" }
  | { outcome: "failed"; deliveryId: string }
  /** Not known to be durable: must not be acknowledged. */
  | { outcome: "unavailable" };

/** Of an event that this process remembers; `null`: not known to be applied, so that the claim decides. */
export type RepeatOutcome = ReceivedOutcome | null;
