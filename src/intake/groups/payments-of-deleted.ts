import { findPaymentsOfDeleted, type NamedPayment } from "../../store/accounts/payments-of-deleted.ts";
import type { Queryable } from "../../store/database.ts";
import { linkOf } from "../event-link.ts";
import type { ReadEvent } from "../read-event.ts";

/** Which of these events, which name a payment alone, are about one of a deleted account. */
export async function paymentsOfDeleted(
  transaction: Queryable,
  events: readonly ReadEvent[],
): Promise<(event: ReadEvent) => boolean> {
  const found = await findPaymentsOfDeleted(transaction, events.flatMap(paymentsNamedBy));
  if (found.length === 0) return () => false;
  return (event) =>
    paymentsNamedBy(event).some((named) =>
      found.some(({ provider, name }) => provider === named.provider && name === named.name),
    );
}

/** The payments that it is about, where the event names neither subscription nor user, as Stripe's do. */
function paymentsNamedBy(event: ReadEvent): NamedPayment[] {
  if (linkOf(event) !== null || "failure" in event.reading) return [];
  const { charge, reversal } = event.reading.event.payment ?? {};
  return [charge?.id, reversal?.of].flatMap((name) => (name == null ? [] : { provider: event.slot, name }));
}
