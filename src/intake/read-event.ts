import type { Failure } from "../domain/failures.ts";
import type { PaymentEvent } from "../domain/payment-event.ts";
import type { Slot } from "../domain/slot.ts";

/** An event with its parsed payload. */
export type ReadEvent = {
  slot: Slot;
  reading: { event: PaymentEvent } | { failure: Failure };
};
