import type { PaymentEvent } from "../domain/payment-event.ts";
import type { Slot } from "../domain/slot.ts";

/** An event, and what its payload was found to mean. */
export type ReadEvent = {
  slot: Slot;
  reading: { event: PaymentEvent } | { problem: string };
};
