import type { Offer } from "../lifecycle/offer.ts";
import { rfc3339 } from "../rfc3339.ts";
import { portalUrl } from "../server/portal-link.ts";
import { checkoutUrl, nowSeconds, type ProviderSlot } from "../server/provider-slot.ts";
import type { Checkout, Customer } from "../server/state.ts";

export const STORE_ID = "1";

export function checkoutDocument(slot: ProviderSlot, checkout: Checkout): object {
  const { id, offer, seats, email, data, successUrl, createdAtSeconds, expiresAtSeconds } = checkout;
  const createdAt = rfc3339(createdAtSeconds);
  return {
    type: "checkouts",
    id,
    attributes: {
      store_id: Number(STORE_ID),
      variant_id: offer.priceId,
      custom_price: null,
      product_options: { redirect_url: successUrl, enabled_variants: [] },
      checkout_options: { embed: false, media: true, logo: true },
      checkout_data: {
        email: email ?? "",
        name: "",
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

export function customer(slot: ProviderSlot, { id, email, createdAtSeconds }: Customer): object {
  const createdAt = rfc3339(createdAtSeconds);
  return {
    type: "customers",
    id,
    attributes: {
      ...{ store_id: Number(STORE_ID), name: email, email, status: "subscribed", test_mode: true },
      ...{ city: null, region: null, country: null, total_revenue_currency: 0, mrr: 0 },
      urls: { customer_portal: portalUrl(slot, { customerId: id, returnUrl: null }) },
      ...{ created_at: createdAt, updated_at: createdAt },
    },
  };
}

export function store(slot: ProviderSlot): object {
  const createdAt = rfc3339(nowSeconds(slot));
  return {
    type: "stores",
    id: STORE_ID,
    attributes: {
      ...{ name: "Simulated store", slug: "simulated", domain: "simulated.lemonsqueezy.example" },
      ...{ url: slot.url(), country: "DE", currency: slot.offers[0]?.currency ?? "EUR" },
      ...{ created_at: createdAt, updated_at: createdAt },
    },
  };
}

export function variant(offer: Offer): object {
  return {
    type: "variants",
    id: offer.priceId,
    attributes: {
      product_id: 20,
      name: `Per seat and ${offer.interval}`,
      slug: offer.planId,
      price: offer.amount,
      is_subscription: true,
      interval: offer.interval,
      interval_count: 1,
      has_free_trial: false,
      status: "published",
      test_mode: true,
    },
  };
}
