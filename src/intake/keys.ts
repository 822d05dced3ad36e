import type { ReadEvent } from "./read-event.ts";

/**
 * The keys under which an event may touch a subscription. An event without a user or without a subscription id may
 * concern the same subscription as any other such event of its slot.
 */
export function keysOf({ slot, reading }: ReadEvent): readonly string[] {
  if ("failure" in reading) return [];
  const { kind, providerSubscriptionId, userId, customerId } = reading.event;
  if (kind === "ignored") return [];
  const keys: string[] = [];
  if (providerSubscriptionId !== null) keys.push(`${slot} subscription ${providerSubscriptionId}`);
  if (userId !== null) keys.push(`${slot} user ${userId}`);
  if (customerId !== null) keys.push(`${slot} customer ${customerId}`);
  if (providerSubscriptionId === null || userId === null) keys.push(`${slot} unlinked`);
  return keys;
}
