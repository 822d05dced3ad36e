/** One for each period that is charged. */
export function invoiceIdOf(subscriptionId: string, periodStartSeconds: number): string {
  return `in_${subscriptionId}_${periodStartSeconds}`;
}
