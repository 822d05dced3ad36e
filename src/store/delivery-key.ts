/** What makes a delivery unique. Slots have no spaces in their names. */
export function keyOf({ provider, eventId }: { provider: string; eventId: string }): string {
  return `${provider} ${eventId}`;
}

/** The order in which every transaction touches deliveries, so that none waits for another in a circle. */
export function compareKeys(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
