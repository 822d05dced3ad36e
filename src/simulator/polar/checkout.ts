import type { ChargeTotals } from "../lifecycle/charge.ts";
import type { Coupon } from "../lifecycle/coupon.ts";
import type { Offer } from "../lifecycle/offer.ts";
import { rfc3339 } from "../rfc3339.ts";
import { uuid } from "../uuid.ts";
import { checkoutDiscount } from "./discount-document.ts";
import { polarPrice, polarProduct } from "./product.ts";

export type PolarCheckout = {
  id: string;
  status: "open" | "expired" | "succeeded";
  createdAtSeconds: number;
  modifiedAtSeconds: number | null;
  expiresAtSeconds: number;
  offer: Offer;
  seats: number;
  totals: Pick<ChargeTotals, "subtotal" | "discount" | "total">;
  coupon: Coupon | null;
  allowDiscountCodes: boolean;
  trialDays: number;
  metadata: object;
  email: string | null;
  customerId: string | null;
  externalCustomerId: string | null;
  url: string;
  successUrl: string | null;
  returnUrl: string | null;
};

export function polarCheckout(checkout: PolarCheckout): object {
  const { id, offer, seats, coupon } = checkout;
  const { subtotal, discount, total } = checkout.totals;
  return {
    id,
    created_at: rfc3339(checkout.createdAtSeconds),
    modified_at: checkout.modifiedAtSeconds === null ? null : rfc3339(checkout.modifiedAtSeconds),
    payment_processor: "stripe",
    status: checkout.status,
    client_secret: `polar_c_${id.replaceAll("-", "")}`,
    url: checkout.url,
    expires_at: rfc3339(checkout.expiresAtSeconds),
    success_url: checkout.successUrl ?? checkout.url,
    return_url: checkout.returnUrl,
    embed_origin: null,
    amount: subtotal,
    seats,
    min_seats: null,
    max_seats: null,
    discount_amount: discount,
    net_amount: total,
    tax_amount: 0,
    tax_behavior: null,
    total_amount: total,
    currency: offer.currency.toLowerCase(),
    allow_trial: true,
    ...trialOf(checkout),
    trial_end: null,
    organization_id: uuid("organization"),
    product_id: offer.priceId,
    product_price_id: uuid(`price ${offer.priceId}`),
    discount_id: coupon?.id ?? null,
    allow_discount_codes: checkout.allowDiscountCodes,
    require_billing_address: false,
    is_discount_applicable: true,
    is_free_product_price: subtotal === 0,
    is_payment_required: total > 0,
    is_payment_setup_required: true,
    is_payment_form_required: true,
    customer_id: checkout.customerId,
    is_business_customer: false,
    customer_name: null,
    customer_ip_address: null,
    customer_billing_name: null,
    customer_tax_id: null,
    locale: null,
    billing_address_fields: {
      country: "required",
      state: "disabled",
      city: "disabled",
      postal_code: "disabled",
      line1: "disabled",
      line2: "disabled",
    },
    customer_email: checkout.email,
    customer_billing_address: null,
    payment_processor_metadata: {},
    metadata: checkout.metadata,
    external_customer_id: checkout.externalCustomerId,
    products: [polarProduct(offer)],
    product: polarProduct(offer),
    product_price: polarPrice(offer),
    prices: { [offer.priceId]: [polarPrice(offer)] },
    discount: coupon && checkoutDiscount(coupon),
    // The id of an upgraded free subscription, never of the resulting one.
    subscription_id: null,
    attached_custom_fields: [],
    customer_metadata: {},
  };
}

/** The interval that was asked for, and the one that applies. */
function trialOf({ trialDays }: PolarCheckout): object {
  const interval = trialDays > 0 ? "day" : null;
  const count = trialDays || null;
  return {
    trial_interval: interval,
    trial_interval_count: count,
    active_trial_interval: interval,
    active_trial_interval_count: count,
  };
}
