import type { Offer } from "../lifecycle/offer.ts";

export function stripePrice(offer: Offer, createdAtSeconds: number): object {
  return {
    id: offer.priceId,
    object: "price",
    active: true,
    billing_scheme: "per_unit",
    created: createdAtSeconds,
    currency: offer.currency.toLowerCase(),
    custom_unit_amount: null,
    livemode: false,
    lookup_key: null,
    metadata: {},
    nickname: `${offer.planName}, per seat and ${offer.interval}`,
    product: `prod_${offer.planId}`,
    recurring: {
      interval: offer.interval,
      interval_count: 1,
      meter: null,
      trial_period_days: null,
      usage_type: "licensed",
    },
    tax_behavior: "exclusive",
    tiers_mode: null,
    transform_quantity: null,
    type: "recurring",
    unit_amount: offer.amount,
    unit_amount_decimal: String(offer.amount),
  };
}
