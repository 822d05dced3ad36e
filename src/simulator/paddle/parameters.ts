import type { Parameters, ParameterTable } from "../http/parameters.ts";

const PAGE: Parameters = {
  after: "any",
  per_page: "any",
  // Lists are in the order of creation, which is that of the ids.
  order_by: ["id[ASC]", "id[DESC]", "created_at[ASC]", "created_at[DESC]"],
};
const CUSTOM_DATA: Parameters = { "custom_data.**": "any" };
const ITEM: Parameters = { "items.0.price_id": "any", "items.0.quantity": "any" };
const ORIGINS = ["web", "api", "subscription_recurring", "subscription_update"];
const INCLUDED = ["adjustments", "customer"];
const CHANGE: Parameters = {
  ...ITEM,
  proration_billing_mode: [
    ...["prorated_immediately", "prorated_next_billing_period", "full_immediately"],
    ...["full_next_billing_period", "do_not_bill"],
  ],
  on_payment_failure: ["prevent_change"],
  // Only `null`, which withdraws it.
  scheduled_change: [],
  "discount.id": "any",
  "discount.effective_from": ["next_billing_period"],
};

/**
 * What the simulator honours of Paddle's parameters; it refuses the others.
 * https://developer.paddle.com/api-reference
 */
export const PADDLE_PARAMETERS: ParameterTable = {
  "GET /prices": {
    id: "any",
    product_id: "any",
    include: ["product"],
    status: ["active", "archived"],
    ...PAGE,
    type: ["standard", "custom"],
    recurring: ["true", "false"],
  },
  "GET /prices/:id": { include: ["product"] },
  "GET /products": {
    id: "any",
    include: ["prices"],
    status: ["active", "archived"],
    type: ["standard", "custom"],
    ...PAGE,
  },
  "GET /products/:id": { include: ["prices"] },
  "POST /customers": { email: "any", name: "any", ...CUSTOM_DATA },
  "GET /customers": { id: "any", email: "any", status: ["active", "archived"], ...PAGE },
  "GET /customers/:id": {},
  "PATCH /customers/:id": { name: "any", ...CUSTOM_DATA },
  "POST /customers/:id/portal-sessions": { "subscription_ids.*": "any" },
  "POST /transactions": {
    ...ITEM,
    ...CUSTOM_DATA,
    customer_id: "any",
    discount_id: "any",
    "checkout.url": "any",
    collection_mode: ["automatic"],
  },
  "GET /transactions": {
    id: "any",
    customer_id: "any",
    subscription_id: "any",
    "created_at.GTE": "any",
    include: INCLUDED,
    status: ["draft", "ready", "billed", "paid", "completed", "canceled", "past_due"],
    collection_mode: ["automatic"],
    origin: ORIGINS,
    ...PAGE,
  },
  "GET /transactions/:id": { include: INCLUDED },
  "PATCH /transactions/:id": { ...ITEM, ...CUSTOM_DATA, discount_id: "any", status: ["canceled"] },
  "POST /discounts": {
    amount: "any",
    description: "any",
    currency_code: "any",
    code: "any",
    ...CUSTOM_DATA,
    type: ["flat", "percentage"],
    mode: ["standard"],
    enabled_for_checkout: ["true"],
    recur: ["true", "false"],
    maximum_recurring_intervals: "any",
    usage_limit: "any",
    expires_at: "any",
  },
  "GET /discounts": {
    id: "any",
    code: "any",
    status: ["active", "archived", "expired", "used"],
    ...PAGE,
  },
  "GET /discounts/:id": {},
  "PATCH /discounts/:id": { description: "any", status: ["active", "archived"], ...CUSTOM_DATA },
  "POST /adjustments": {
    action: ["refund"],
    transaction_id: "any",
    reason: "any",
    type: ["full", "partial"],
    "items.0.item_id": "any",
    "items.0.type": ["partial"],
    "items.0.amount": "any",
  },
  "GET /adjustments": {
    id: "any",
    customer_id: "any",
    subscription_id: "any",
    transaction_id: "any",
    ...PAGE,
    action: ["refund", "credit", "chargeback", "chargeback_reverse", "chargeback_warning"],
    status: ["pending_approval", "approved", "rejected", "reversed"],
  },
  "GET /subscriptions": {
    id: "any",
    customer_id: "any",
    price_id: "any",
    collection_mode: ["automatic"],
    ...PAGE,
    status: ["active", "canceled", "past_due", "paused", "trialing"],
  },
  "GET /subscriptions/:id": {},
  "PATCH /subscriptions/:id": { ...CHANGE, ...CUSTOM_DATA },
  "PATCH /subscriptions/:id/preview": CHANGE,
  "POST /subscriptions/:id/cancel": { effective_from: ["immediately", "next_billing_period"] },
  "GET /events": { event_type: "any", ...PAGE },
};
