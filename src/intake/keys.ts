import type { PaymentReport } from "../domain/payment.ts";
import type { Slot } from "../domain/slot.ts";
import type { ReadEvent } from "./read-event.ts";

/**
 * The keys of the subscriptions that an event may touch. An event without a user or without a subscription id
 * may concern the same subscription as any other such event of its slot.
 */
export function keysOf({ slot, reading }: ReadEvent): readonly string[] {
  if ("failure" in reading) return [];
  const { kind, providerSubscriptionId, userId, customerId, payment } = reading.event;
  if (kind === "ignored") return [];
  const keys: string[] = payment === undefined ? [] : paymentKeys(slot, payment);
  if (kind === "payment") {
    return providerSubscriptionId === null
      ? keys
      : [...keys, `${slot} subscription ${providerSubscriptionId}`];
  }
  if (providerSubscriptionId !== null) keys.push(`${slot} subscription ${providerSubscriptionId}`);
  if (userId !== null) keys.push(`${slot} user ${userId}`);
  if (customerId !== null) keys.push(`${slot} customer ${customerId}`);
  if (providerSubscriptionId === null || userId === null) keys.push(`${slot} unlinked`);
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
