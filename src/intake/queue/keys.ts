import type { PaymentReport } from "../../domain/payments/payment.ts";
import type { Slot } from "../../domain/slot.ts";
import type { ReadEvent } from "../read-event.ts";

/**
 * The keys of the subscriptions that an event names. Two that share none, as one names the subscription and
 * the other its user, may concern the same one all the same: then the lock on its row keeps them apart. A key
 * for all events without a user would make them share the fate of one whose subscription is locked.
 */
export function keysOf({ slot, reading }: ReadEvent): readonly string[] {
  if ("failure" in reading) return [];
  const { kind, providerSubscriptionId, userId, customerId, payment } = reading.event;
  if (kind === "ignored") return [];
  const keys: string[] = payment === undefined ? [] : paymentKeys(slot, payment);
  if (providerSubscriptionId !== null) keys.push(`${slot} subscription ${providerSubscriptionId}`);
  if (kind === "payment") return keys;
  if (userId !== null) keys.push(`${slot} user ${userId}`);
  if (customerId !== null) keys.push(`${slot} customer ${customerId}`);
  return keys;
}

function paymentKeys(slot: Slot, { charge, names, reversal }: PaymentReport): string[] {
  const ids = new Set([
    ...(charge === null ? [] : [charge.id]),
    ...names,
    ...(reversal === null ? [] : [reversal.of]),
  ]);
  return [...ids].map((id) => `${slot} payment ${id}`);
}
