import type { Parameters, ParameterTable } from "../http/parameters.ts";

// The SDK sends an empty `include` with each list.
const PAGE: Parameters = { "page.number": "any", "page.size": "any", include: [""] };
const RESOURCE: Parameters = { "data.type": "any", "data.id": "any" };
const CHECKOUT = "data.attributes";

/**
 * What the simulator honours of Lemon Squeezy's parameters; it refuses the others.
 * https://docs.lemonsqueezy.com/api
 */
export const LEMON_SQUEEZY_PARAMETERS: ParameterTable = {
  "GET /v1/users/me": {},
  "GET /v1/stores": PAGE,
  "GET /v1/stores/:id": {},
  "POST /v1/checkouts": {
    ...{ ...RESOURCE, [`${CHECKOUT}.expires_at`]: "any" },
    [`${CHECKOUT}.product_options.redirect_url`]: "any",
    // A checkout sells its own variant alone.
    [`${CHECKOUT}.product_options.enabled_variants.*`]: "any",
    [`${CHECKOUT}.checkout_options.discount`]: ["true", "false"],
    [`${CHECKOUT}.checkout_options.embed`]: ["false"],
    [`${CHECKOUT}.checkout_options.skip_trial`]: ["true", "false"],
    [`${CHECKOUT}.checkout_data.email`]: "any",
    [`${CHECKOUT}.checkout_data.discount_code`]: "any",
    [`${CHECKOUT}.checkout_data.custom.**`]: "any",
    // Several variants would be a choice for the payer: `order.ts` refuses more than one.
    [`${CHECKOUT}.checkout_data.variant_quantities.*.variant_id`]: "any",
    [`${CHECKOUT}.checkout_data.variant_quantities.*.quantity`]: "any",
    [`${CHECKOUT}.preview`]: ["false"],
    [`${CHECKOUT}.test_mode`]: ["true"],
    ...{ "data.relationships.store.data.type": "any", "data.relationships.store.data.id": "any" },
    ...{ "data.relationships.variant.data.type": "any", "data.relationships.variant.data.id": "any" },
  },
  "GET /v1/checkouts": { "filter.store_id": "any", "filter.variant_id": "any", ...PAGE },
  "GET /v1/checkouts/:id": {},
  "POST /v1/customers": {
    ...{ ...RESOURCE, "data.attributes.name": "any", "data.attributes.email": "any" },
    ...{ "data.relationships.store.data.type": "any", "data.relationships.store.data.id": "any" },
  },
  "GET /v1/customers": { "filter.store_id": "any", "filter.email": "any", ...PAGE },
  "GET /v1/customers/:id": {},
  "PATCH /v1/customers/:id": { ...RESOURCE, "data.attributes.name": "any" },
  "POST /v1/discounts": {
    ...{ ...RESOURCE, "data.attributes.name": "any", "data.attributes.code": "any" },
    ...{ "data.attributes.amount": "any", "data.attributes.amount_type": ["percent", "fixed"] },
    ...{ "data.attributes.duration": ["once", "repeating", "forever"] },
    ...{ "data.attributes.duration_in_months": "any", "data.attributes.test_mode": ["true"] },
    "data.attributes.is_limited_redemptions": ["true", "false"],
    "data.attributes.is_limited_to_products": ["true", "false"],
    ...{ "data.attributes.max_redemptions": "any" },
    ...{ "data.attributes.starts_at": "any", "data.attributes.expires_at": "any" },
    ...{ "data.relationships.store.data.type": "any", "data.relationships.store.data.id": "any" },
    "data.relationships.variants.data.*.type": "any",
    "data.relationships.variants.data.*.id": "any",
  },
  "GET /v1/discounts": { "filter.store_id": "any", ...PAGE },
  "GET /v1/discounts/:id": {},
  "DELETE /v1/discounts/:id": {},
  "GET /v1/discount-redemptions": { "filter.discount_id": "any", "filter.order_id": "any", ...PAGE },
  "GET /v1/discount-redemptions/:id": {},
  "GET /v1/products": { "filter.store_id": "any", ...PAGE },
  "GET /v1/products/:id": {},
  "GET /v1/variants": { "filter.product_id": "any", "filter.status": ["published"], ...PAGE },
  "GET /v1/variants/:id": {},
  "GET /v1/prices": { "filter.variant_id": "any", ...PAGE },
  "GET /v1/prices/:id": {},
  "GET /v1/subscriptions": {
    ...{ "filter.store_id": "any", "filter.order_id": "any", "filter.product_id": "any" },
    ...{ "filter.variant_id": "any", "filter.user_email": "any", ...PAGE },
    "filter.status": ["on_trial", "active", "paused", "past_due", "unpaid", "cancelled", "expired"],
  },
  "GET /v1/subscriptions/:id": {},
  "PATCH /v1/subscriptions/:id": {
    ...{ ...RESOURCE, "data.attributes.variant_id": "any", "data.attributes.cancelled": ["true", "false"] },
    "data.attributes.invoice_immediately": ["true", "false"],
    "data.attributes.disable_prorations": ["true", "false"],
  },
  "DELETE /v1/subscriptions/:id": {},
  "GET /v1/subscription-items": { "filter.subscription_id": "any", ...PAGE },
  "GET /v1/subscription-items/:id": {},
  "PATCH /v1/subscription-items/:id": {
    ...{ ...RESOURCE, "data.attributes.quantity": "any" },
    "data.attributes.invoice_immediately": ["true", "false"],
    "data.attributes.disable_prorations": ["true", "false"],
  },
  "GET /v1/subscription-invoices": {
    ...{ "filter.store_id": "any", "filter.subscription_id": "any", ...PAGE },
    ...{ "filter.refunded": ["true", "false"] },
    "filter.status": ["pending", "paid", "void", "refunded", "partial_refund"],
  },
  "GET /v1/subscription-invoices/:id": {},
  "POST /v1/subscription-invoices/:id/refund": { ...RESOURCE, "data.attributes.amount": "any" },
  "GET /v1/orders": {
    ...{ "filter.store_id": "any", "filter.user_email": "any", "filter.order_number": "any", ...PAGE },
  },
  "GET /v1/orders/:id": {},
};
