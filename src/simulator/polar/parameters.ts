import type { Parameters, ParameterTable } from "../http/parameters.ts";

const PAGE: Parameters = { page: "any", limit: "any" };
const BY_CREATION: Parameters = { ...PAGE, sorting: ["created_at", "-created_at"] };
const PURCHASES_OF: Parameters = { customer_id: "any", external_customer_id: "any", product_id: "any" };
const CUSTOMER: Parameters = { email: "any", name: "any", "metadata.*": "any" };
const DISCOUNT: Parameters = {
  name: "any",
  code: "any",
  "metadata.*": "any",
  "products.*": "any",
  starts_at: "any",
  ends_at: "any",
  max_redemptions: "any",
};
// What Polar's SDK sends by default.
const CHECKOUT_DEFAULTS: Parameters = {
  require_billing_address: ["false"],
  is_business_customer: ["false"],
};

/**
 * What the simulator honours of Polar's parameters; it refuses the others.
 * https://polar.sh/docs/api-reference
 */
export const POLAR_PARAMETERS: ParameterTable = {
  "POST /v1/checkouts/": {
    // Several products would be a choice for the payer: `order.ts` refuses more than one.
    "products.*": "any",
    discount_id: "any",
    allow_discount_codes: ["true", "false"],
    seats: "any",
    "metadata.*": "any",
    success_url: "any",
    return_url: "any",
    customer_id: "any",
    external_customer_id: "any",
    customer_email: "any",
    allow_trial: ["true", "false"],
    trial_interval: "any",
    trial_interval_count: "any",
    ...CHECKOUT_DEFAULTS,
  },
  "GET /v1/checkouts/": {
    ...PURCHASES_OF,
    ...BY_CREATION,
    status: ["open", "expired", "confirmed", "succeeded", "failed"],
  },
  "GET /v1/checkouts/:id": {},
  "POST /v1/customer-sessions/": {
    customer_id: "any",
    external_customer_id: "any",
    return_url: "any",
    member_id: "any",
    external_member_id: "any",
  },
  "POST /v1/customers/": { ...CUSTOMER, external_id: "any", type: ["individual"] },
  "GET /v1/customers/": { email: "any", ...BY_CREATION },
  "GET /v1/customers/:id": {},
  "GET /v1/customers/:id/state": {},
  "PATCH /v1/customers/:id": { name: "any", "metadata.*": "any" },
  "GET /v1/customers/external/:externalId": {},
  "GET /v1/customers/external/:externalId/state": {},
  "PATCH /v1/customers/external/:externalId": { name: "any", "metadata.*": "any" },
  "GET /v1/subscriptions/": {
    ...PURCHASES_OF,
    ...PAGE,
    active: ["true", "false"],
    sorting: ["started_at", "-started_at"],
    status: ["incomplete", "incomplete_expired", "trialing", "active", "past_due", "canceled", "unpaid"],
  },
  "GET /v1/subscriptions/:id": {},
  "PATCH /v1/subscriptions/:id": {
    product_id: "any",
    seats: "any",
    cancel_at_period_end: ["true", "false"],
    revoke: ["true"],
    proration_behavior: ["invoice", "prorate", "next_period"],
    discount_id: "any",
    pending_update: ["null"],
  },
  "DELETE /v1/subscriptions/:id": {},
  "GET /v1/orders/": {
    ...PURCHASES_OF,
    ...BY_CREATION,
    subscription_id: "any",
    checkout_id: "any",
    created_after: "any",
  },
  "GET /v1/orders/:id": {},
  "GET /v1/refunds/": { order_id: "any", subscription_id: "any", ...BY_CREATION },
  "POST /v1/refunds/": {
    order_id: "any",
    amount: "any",
    revoke_benefits: ["false"],
    reason: ["customer_request", "duplicate", "fraudulent", "other", "satisfaction_guarantee"],
  },
  "GET /v1/disputes/": { order_id: "any", ...BY_CREATION },
  "POST /v1/discounts/": {
    ...DISCOUNT,
    type: ["fixed", "percentage"],
    duration: ["once", "forever", "repeating"],
    duration_in_months: "any",
    basis_points: "any",
    amount: "any",
    currency: "any",
    "amounts.*": "any",
  },
  "GET /v1/discounts/": { query: "any", ...BY_CREATION },
  "GET /v1/discounts/:id": {},
  "PATCH /v1/discounts/:id": DISCOUNT,
  "DELETE /v1/discounts/:id": {},
  "GET /v1/products/": {
    id: "any",
    is_archived: ["true", "false"],
    is_recurring: ["true", "false"],
    ...BY_CREATION,
  },
  "GET /v1/products/:id": {},
  "GET /v1/webhooks/endpoints": { ...PAGE },
  "GET /v1/webhooks/deliveries": {
    endpoint_id: "any",
    start_timestamp: "any",
    end_timestamp: "any",
    ...PAGE,
    succeeded: ["true", "false"],
    event_type: "any",
  },
};
