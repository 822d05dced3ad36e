import type { Offer } from "../lifecycle/offer.ts";
import { rfc3339 } from "../rfc3339.ts";

const CREATED_AT = rfc3339(1_735_689_600);

export function productIdOf({ planId }: Pick<Offer, "planId">): string {
  return `pro_${planId}`;
}

export function paddleProduct(offer: Offer): object {
  return {
    id: productIdOf(offer),
    name: offer.planName,
    description: null,
    type: "standard",
    tax_category: "standard",
    image_url: null,
    custom_data: null,
    status: "active",
    import_meta: null,
    created_at: CREATED_AT,
    updated_at: CREATED_AT,
  };
}

export function paddlePrice(offer: Offer): object {
  return {
    id: offer.priceId,
    product_id: productIdOf(offer),
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
    created_at: CREATED_AT,
    updated_at: CREATED_AT,
  };
}
