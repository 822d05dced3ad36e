/** What an event says was paid for. `priceIds` are the names under which a plan may know it. */
export type PaidItem = { priceIds: readonly string[]; seats: number | null };
