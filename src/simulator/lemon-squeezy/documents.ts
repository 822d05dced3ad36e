import type { Offer } from "../lifecycle/offer.ts";
import { money } from "../pages/format.ts";
import { rfc3339 } from "../rfc3339.ts";
import { portalUrl } from "../server/portal-link.ts";
import { checkoutUrl, type ProviderSlot } from "../server/provider-slot.ts";
import type { Checkout, Customer } from "../server/state.ts";
import { priceIdOf, productIdOf } from "./names.ts";

export const STORE_ID = "1";
const CATALOG_CREATED_AT = rfc3339(1_735_689_600);
const CATALOG_TIMES = { created_at: CATALOG_CREATED_AT, updated_at: CATALOG_CREATED_AT };

export function checkoutDocument(slot: ProviderSlot, checkout: Checkout): object {
  const { id, offer, seats, email, data, successUrl, createdAtSeconds, expiresAtSeconds } = checkout;
  const createdAt = rfc3339(createdAtSeconds);
  const discountCode = slot.state.coupons.find((coupon) => coupon.id === checkout.discount?.id)?.code;
  return {
    type: "checkouts",
    id,
    attributes: {
      store_id: Number(STORE_ID),
      variant_id: offer.priceId,
      custom_price: null,
      product_options: { redirect_url: successUrl, enabled_variants: [offer.priceId] },
      checkout_options: {
        embed: false,
        media: true,
        logo: true,
        discount: checkout.allowPromotionCodes ?? true,
      },
      checkout_data: {
        email: email ?? "",
        name: "",
        discount_code: discountCode ?? "",
        custom: data,
        variant_quantities: [{ variant_id: offer.priceId, quantity: seats }],
      },
      preview: false,
      expires_at:
        expiresAtSeconds === null ? null : rfc3339(expiresAtSeconds - (slot.nowMs() - Date.now()) / 1_000),
      created_at: createdAt,
      updated_at: createdAt,
      test_mode: true,
      url: checkoutUrl(slot, checkout),
    },
    links: { self: `${slot.url()}/v1/checkouts/${id}` },
  };
}

export function customer(slot: ProviderSlot, { id, email, name, createdAtSeconds }: Customer): object {
  const createdAt = rfc3339(createdAtSeconds);
  return {
    type: "customers",
    id,
    attributes: {
      store_id: Number(STORE_ID),
      name: name ?? email,
      email,
      test_mode: true,
      status: "subscribed",
      status_formatted: "Subscribed",
      city: null,
      region: null,
      country: null,
      country_formatted: null,
      total_revenue_currency: 0,
      total_revenue_currency_formatted: "$0.00",
      mrr: 0,
      mrr_formatted: "$0.00",
      urls: { customer_portal: portalUrl(slot, { customerId: id, returnUrl: null }) },
      created_at: createdAt,
      updated_at: createdAt,
    },
    links: { self: `${slot.url()}/v1/customers/${id}` },
  };
}

export function user(slot: ProviderSlot): object {
  return {
    type: "users",
    id: "1",
    attributes: {
      name: "Simulated seller",
      email: "seller@example.com",
      color: "#7047EB",
      avatar_url: `${slot.url()}/avatar.png`,
      has_custom_avatar: false,
      createdAt: CATALOG_CREATED_AT,
      updatedAt: CATALOG_CREATED_AT,
    },
    links: { self: `${slot.url()}/v1/users/1` },
  };
}

export function store(slot: ProviderSlot): object {
  return {
    type: "stores",
    id: STORE_ID,
    attributes: {
      name: "Simulated store",
      slug: "simulated",
      domain: "simulated.lemonsqueezy.example",
      url: slot.url(),
      avatar_url: `${slot.url()}/avatar.png`,
      plan: "fresh",
      country: "DE",
      country_nicename: "Germany",
      currency: slot.offers[0]?.currency ?? "EUR",
      total_sales: 0,
      total_revenue: 0,
      thirty_day_sales: 0,
      thirty_day_revenue: 0,
      ...CATALOG_TIMES,
    },
    links: { self: `${slot.url()}/v1/stores/${STORE_ID}` },
  };
}

export function product(slot: ProviderSlot, offer: Offer): object {
  const id = productIdOf(offer);
  const price = money(offer.amount, offer.currency);
  return {
    type: "products",
    id,
    attributes: {
      store_id: Number(STORE_ID),
      name: offer.planName,
      slug: offer.planId,
      description: "",
      status: "published",
      status_formatted: "Published",
      thumb_url: null,
      large_thumb_url: null,
      price: offer.amount,
      price_formatted: price,
      pay_what_you_want: false,
      from_price: null,
      from_price_formatted: null,
      to_price: null,
      to_price_formatted: null,
      buy_now_url: `${slot.url()}/buy/${id}`,
      ...CATALOG_TIMES,
      test_mode: true,
    },
    links: { self: `${slot.url()}/v1/products/${id}` },
  };
}

export function variant(slot: ProviderSlot, offer: Offer): object {
  const { priceId: id } = offer;
  return {
    type: "variants",
    id,
    attributes: {
      product_id: Number(productIdOf(offer)),
      name: `Per seat and ${offer.interval}`,
      slug: offer.planId,
      description: "",
      links: [],
      sort: 1,
      price: offer.amount,
      is_subscription: true,
      interval: offer.interval,
      interval_count: 1,
      has_free_trial: false,
      has_license_keys: false,
      license_activation_limit: 0,
      is_license_limit_unlimited: false,
      license_length_value: 1,
      license_length_unit: "years",
      is_license_length_unlimited: false,
      status: "published",
      status_formatted: "Published",
      ...CATALOG_TIMES,
      test_mode: true,
    },
    links: { self: `${slot.url()}/v1/variants/${id}` },
  };
}

export function price(slot: ProviderSlot, offer: Offer): object {
  const id = priceIdOf(offer);
  return {
    type: "prices",
    id,
    attributes: {
      variant_id: offer.priceId,
      category: "subscription",
      scheme: "standard",
      usage_aggregation: null,
      unit_price: offer.amount,
      unit_price_decimal: null,
      tiers: null,
      setup_fee_enabled: false,
      setup_fee: null,
      package_size: 1,
      min_price: null,
      renewal_interval_unit: offer.interval,
      renewal_interval_quantity: 1,
      suggested_price: null,
      trial_interval_unit: "day",
      trial_interval_quantity: 30,
      tax_code: "eservice",
      ...CATALOG_TIMES,
    },
    links: { self: `${slot.url()}/v1/prices/${id}` },
  };
}
