import type { Offer } from "../lifecycle/offer.ts";
import { rfc3339 } from "../rfc3339.ts";
import { uuid } from "../uuid.ts";

const CREATED_AT = rfc3339(1_735_689_600);

export function polarProduct(offer: Offer): object {
  return {
    id: offer.priceId,
    created_at: CREATED_AT,
    modified_at: null,
    trial_interval: null,
    trial_interval_count: null,
    name: offer.planName,
    description: null,
    visibility: "public",
    recurring_interval: offer.interval,
    recurring_interval_count: 1,
    meter_interval: null,
    meter_interval_count: null,
    is_recurring: true,
    is_archived: false,
    organization_id: uuid("organization"),
    metadata: {},
    prices: [polarPrice(offer)],
    benefits: [],
    medias: [],
    attached_custom_fields: [],
  };
}

export function polarPrice(offer: Offer): object {
  return {
    id: uuid(`price ${offer.priceId}`),
    created_at: CREATED_AT,
    modified_at: null,
    source: "catalog",
    amount_type: "seat_based",
    is_archived: false,
    product_id: offer.priceId,
    price_currency: offer.currency.toLowerCase(),
    tax_behavior: "location",
    seat_tiers: {
      seat_tier_type: "volume",
      minimum_seats: offer.seats.min,
      maximum_seats: offer.seats.max,
      tiers: [{ min_seats: offer.seats.min, max_seats: offer.seats.max, price_per_seat: offer.amount }],
    },
  };
}
