import type { Offer } from "../lifecycle/offer.ts";

export function paddlePrice(offer: Offer): object {
  return {
    id: offer.priceId,
    product_id: `pro_${offer.planId}`,
    type: "standard",
    name: `Per seat and ${offer.interval}`,
    description: offer.planName,
    tax_mode: "account_setting",
    billing_cycle: { interval: offer.interval, frequency: 1 },
    trial_period: null,
    unit_price: { amount: String(offer.amount), currency_code: offer.currency },
    unit_price_overrides: [],
    quantity: { minimum: offer.seats.min, maximum: offer.seats.max },
    custom_data: null,
    status: "active",
    import_meta: null,
  };
}
