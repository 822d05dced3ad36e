import type { Queryable } from "../store/database.ts";
import { findPaymentsOfDeleted, type NamedPayment } from "../store/payments-of-deleted.ts";
import { linkOf } from "./event-link.ts";
import type { ReadEvent } from "./read-event.ts";

/** Which of these events, which name a payment alone, are about one of a deleted account. */
export async function paymentsOfDeleted(
  transaction: Queryable,
  events: readonly ReadEvent[],
): Promise<(event: ReadEvent) => boolean> {
  const found = await findPaymentsOfDeleted(transaction, events.flatMap(takenBackBy));
  if (found.length === 0) return () => false;
  return (event) =>
    takenBackBy(event).some((taken) =>
      found.some(({ provider, name }) => provider === taken.provider && name === taken.name),
    );
}

/** The payment that is taken back, where the event names neither subscription nor user, as Stripe's do. */
function takenBackBy(event: ReadEvent): NamedPayment[] {
  if (linkOf(event) !== null || "failure" in event.reading) return [];
  const name = event.reading.event.payment?.reversal?.of;
  return name === undefined ? [] : [{ provider: event.slot, name }];
}
