/** One for each period that is charged. */
export function invoiceIdOf(subscriptionId: string, periodStartSeconds: number): string {
  return `in_${subscriptionId}_${periodStartSeconds}`;
}

/** One for each change that is charged at once. */
export function changeInvoiceIdOf(subscriptionId: string, number: number): string {
  return `in_${subscriptionId}_c${number}`;
}
