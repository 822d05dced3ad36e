import type { NewDelivery } from "../store/deliveries.ts";
import type { ReadEvent } from "./read-event.ts";

/** A verified event that is on its way into the log, and what its payload was found to mean. */
export type IncomingEvent = ReadEvent & {
  delivery: NewDelivery;
  /** On the process's own clock, in milliseconds. */
  startedAtMs: number;
  /** Whether somebody still waits for the answer. */
  isAwaited(): boolean;
};

export type ReceivedOutcome =
  | { outcome: "applied" | "ignored" | "duplicate" }
  | { outcome: "failed"; deliveryId: string }
  /** Not known to be durable: nothing may be acknowledged. */
  | { outcome: "unavailable" };
