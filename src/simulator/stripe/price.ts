import type { Offer } from "../lifecycle/offer.ts";

/** The catalog is older than any subscription. */
export const CATALOG_CREATED_AT_SECONDS = 1_735_689_600;

export function stripePrice(offer: Offer): object {
  return {
    id: offer.priceId,
    object: "price",
    active: true,
    billing_scheme: "per_unit",
    created: CATALOG_CREATED_AT_SECONDS,
    currency: offer.currency.toLowerCase(),
    custom_unit_amount: null,
    livemode: false,
    lookup_key: null,
    metadata: {},
    nickname: `${offer.planName}, per seat / ${offer.interval}`,
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
