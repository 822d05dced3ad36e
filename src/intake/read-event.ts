import type { Failure } from "../domain/deliveries/failures.ts";
import { UnreadablePayload } from "../domain/deliveries/payload-problems.ts";
import type { PaymentEvent } from "../domain/events/payment-event.ts";
import type { Slot } from "../domain/slot.ts";
import type { Adapter } from "../providers/adapter.ts";

/** An event with its parsed payload. */
export type ReadEvent = {
  slot: Slot;
  reading: { event: PaymentEvent } | { failure: Failure };
};

/** Parses a payload, or says why not: an unreadable payload fails, it is never dropped. */
export function readEvent(
  { log }: { log: { error(facts: object, message: string): void } },
  adapter: Adapter,
  eventType: string,
  body: unknown,
): ReadEvent["reading"] {
  try {
    return { event: adapter.interpret(eventType, body) };
  } catch (error) {
    if (error instanceof UnreadablePayload) return { failure: error.failure };
    log.error({ err: error, format: adapter.format }, "interpreting a payload failed");
    return { failure: { reason: "defect" } };
  }
}
