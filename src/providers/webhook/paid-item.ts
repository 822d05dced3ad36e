import type { PaidItem } from "../../domain/plans/paid-item.ts";

/** @param priceIds the provider's ids of the price, the most specific first; absent ones are dropped */
export function paidItem(priceIds: readonly (string | null)[], seats: number | null): PaidItem {
  return { priceIds: [...new Set(priceIds.filter((id) => id !== null))], seats };
}

/** For formats with a single item: a list of it, or an empty list when it is absent. */
export function singleItem(priceIds: readonly (string | null)[], seats: number | null): PaidItem[] {
  const item = paidItem(priceIds, seats);
  return item.priceIds.length > 0 || item.seats !== null ? [item] : [];
}
