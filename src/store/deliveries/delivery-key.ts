/** What makes a delivery unique. Slots have no spaces in their names. */
export function keyOf({ provider, eventId }: { provider: string; eventId: string }): string {
  return `${provider} ${eventId}`;
}

/** The lock order of deliveries in every transaction, to avoid deadlocks. */
export function compareKeys(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
