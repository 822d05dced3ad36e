import type { PaidItem } from "../../domain/payment-event.ts";

/** @param priceIds the names the provider gives the price, the most exact first; absent ones are left out. */
export function paidItem(priceIds: readonly (string | null)[], seats: number | null): PaidItem {
  return { priceIds: [...new Set(priceIds.filter((id) => id !== null))], seats };
}

/** For formats that describe one item in the open: a list of it, or none when nothing is said of it. */
export function singleItem(priceIds: readonly (string | null)[], seats: number | null): PaidItem[] {
  const item = paidItem(priceIds, seats);
  return item.priceIds.length > 0 || item.seats !== null ? [item] : [];
}
