import type { ReadEvent } from "./read-event.ts";

/**
 * The names under which an event may touch a subscription. An event that lacks one half of the link, the user or the
 * subscription, may meet any other such event of its slot.
 */
export function keysOf({ slot, reading }: ReadEvent): readonly string[] {
  if ("problem" in reading) return [];
  const { kind, providerSubscriptionId, userId, customerId } = reading.event;
  if (kind === "ignored") return [];
  const keys: string[] = [];
  if (providerSubscriptionId !== null) keys.push(`${slot} subscription ${providerSubscriptionId}`);
  if (userId !== null) keys.push(`${slot} user ${userId}`);
  if (customerId !== null) keys.push(`${slot} customer ${customerId}`);
  if (providerSubscriptionId === null || userId === null) keys.push(`${slot} unlinked`);
  return keys;
}
