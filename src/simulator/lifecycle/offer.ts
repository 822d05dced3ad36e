/** A plan with the slot provider's id of it. */
export type Offer = {
  planId: string;
  priceId: string;
  planName: string;
  /** Per seat and interval, in the currency's smallest unit. */
  amount: number;
  /** ISO 4217, upper case. */
  currency: string;
  interval: "month" | "year";
  seats: { min: number; max: number };
};

/** Each plan once, at its first price. */
export function firstOffers(offers: readonly Offer[]): Offer[] {
  return offers.filter((offer, at) => offers.findIndex(({ planId }) => planId === offer.planId) === at);
}
