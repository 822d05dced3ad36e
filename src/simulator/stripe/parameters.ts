import type { Parameters, ParameterTable } from "../http/parameters.ts";

const PAGE: Parameters = { limit: "any", starting_after: "any", ending_before: "any" };

const CREATED: Parameters = {
  ...{ created: "any", "created.gt": "any", "created.gte": "any" },
  ...{ "created.lt": "any", "created.lte": "any" },
};

const DISCOUNT: Parameters = { "discounts.0.coupon": "any", "discounts.0.promotion_code": "any" };

const PROMOTION_FIELDS = ["promotion.coupon", "customer"];
const SUBSCRIPTION_FIELDS = [
  ...["customer", "latest_invoice", "latest_invoice.customer", "latest_invoice.payments"],
  ...["items.data.price.product", "discounts", "discounts.source.coupon", "discounts.promotion_code"],
];
const SESSION_FIELDS = [
  ...["customer", "invoice", "invoice.payments", "line_items", "line_items.data.price.product"],
  ...["discounts.coupon", "discounts.promotion_code"],
  ...["subscription", ...SUBSCRIPTION_FIELDS.map((field) => `subscription.${field}`)],
];
const INVOICE_FIELDS = [
  ...["discounts", "discounts.source.coupon"],
  ...["confirmation_secret", "customer", "payments", "parent.subscription_details.subscription"],
];

/** What the simulator honours of Stripe's parameters; it refuses the others. https://docs.stripe.com/api */
export const STRIPE_PARAMETERS: ParameterTable = {
  "POST /v1/checkout/sessions": {
    ...{ mode: "any", customer: "any", customer_email: "any", client_reference_id: "any" },
    ...{ success_url: "any", cancel_url: "any", expires_at: "any", "metadata.*": "any" },
    ...{ "line_items.0.price": "any", "line_items.0.quantity": "any" },
    "subscription_data.metadata.*": "any",
    "subscription_data.trial_period_days": "any",
    ...{ allow_promotion_codes: ["true", "false"], ...DISCOUNT },
    ui_mode: ["hosted", "hosted_page"],
    locale: ["auto"],
    "automatic_tax.enabled": ["true"],
    billing_address_collection: ["auto"],
    payment_method_collection: ["always"],
    "payment_method_types.*": ["card", "link"],
    "expand.*": SESSION_FIELDS,
  },
  "GET /v1/checkout/sessions": {
    ...{ customer: "any", subscription: "any", "customer_details.email": "any" },
    status: ["open", "complete", "expired"],
    ...{ ...PAGE, ...CREATED, ...expandable(listed(SESSION_FIELDS)) },
  },
  "GET /v1/checkout/sessions/:id": expandable(SESSION_FIELDS),
  "GET /v1/checkout/sessions/:id/line_items": { ...PAGE, ...expandable(["data.price.product"]) },
  "POST /v1/checkout/sessions/:id/expire": expandable(SESSION_FIELDS),
  "POST /v1/billing_portal/sessions": { customer: "any", return_url: "any" },
  "GET /v1/subscriptions": {
    ...{ customer: "any", price: "any", collection_method: ["charge_automatically"] },
    status: [
      ...["active", "all", "canceled", "ended", "incomplete", "incomplete_expired"],
      ...["past_due", "paused", "trialing", "unpaid"],
    ],
    ...{ ...PAGE, ...CREATED, ...expandable(listed(SUBSCRIPTION_FIELDS)) },
  },
  "POST /v1/subscriptions": {
    ...{ customer: "any", "items.0.price": "any", "items.0.quantity": "any", "metadata.*": "any" },
    ...{ trial_period_days: "any", cancel_at_period_end: ["true", "false"], default_payment_method: "any" },
    ...DISCOUNT,
    payment_behavior: ["allow_incomplete", "default_incomplete", "error_if_incomplete"],
    "payment_settings.save_default_payment_method": ["off", "on_subscription"],
    "automatic_tax.enabled": ["true"],
    collection_method: ["charge_automatically"],
    off_session: ["true", "false"],
    ...expandable([...SUBSCRIPTION_FIELDS, "latest_invoice.confirmation_secret"]),
  },
  "GET /v1/subscriptions/:id": expandable(SUBSCRIPTION_FIELDS),
  "POST /v1/subscriptions/:id": {
    ...{ cancel_at_period_end: ["true", "false"], cancel_at: [""] },
    ...{ "items.0.id": "any", "items.0.price": "any", "items.0.quantity": "any", "metadata.*": "any" },
    ...{ ...DISCOUNT, "discounts.0.discount": "any", discounts: [""] },
    proration_behavior: ["always_invoice", "create_prorations", "none"],
    payment_behavior: ["allow_incomplete", "error_if_incomplete"],
    ...expandable(SUBSCRIPTION_FIELDS),
  },
  "DELETE /v1/subscriptions/:id": {
    ...{ invoice_now: ["false"], prorate: ["false"], ...expandable(SUBSCRIPTION_FIELDS) },
  },
  "DELETE /v1/subscriptions/:id/discount": {},
  "POST /v1/coupons": {
    ...{ id: "any", name: "any", percent_off: "any", amount_off: "any", currency: "any" },
    ...{ duration: ["forever", "once", "repeating"], duration_in_months: "any" },
    ...{ max_redemptions: "any", redeem_by: "any", "metadata.*": "any" },
  },
  "GET /v1/coupons": { ...PAGE, ...CREATED },
  "GET /v1/coupons/:id": {},
  "POST /v1/coupons/:id": { name: "any", "metadata.*": "any" },
  "DELETE /v1/coupons/:id": {},
  "POST /v1/promotion_codes": {
    ...{ "promotion.type": ["coupon"], "promotion.coupon": "any", code: "any", customer: "any" },
    ...{ active: ["true", "false"], max_redemptions: "any", expires_at: "any", "metadata.*": "any" },
    ...expandable(PROMOTION_FIELDS),
  },
  "GET /v1/promotion_codes": {
    ...{ code: "any", coupon: "any", customer: "any", active: ["true", "false"], ...PAGE, ...CREATED },
    ...expandable(listed(PROMOTION_FIELDS)),
  },
  "GET /v1/promotion_codes/:id": expandable(PROMOTION_FIELDS),
  "POST /v1/promotion_codes/:id": {
    ...{ active: ["true", "false"], "metadata.*": "any", ...expandable(PROMOTION_FIELDS) },
  },
  "POST /v1/subscription_schedules": { from_subscription: "any" },
  "GET /v1/subscription_schedules/:id": {},
  "POST /v1/subscription_schedules/:id": {
    ...{ end_behavior: ["release"], proration_behavior: ["none"] },
    ...{ "phases.0.start_date": "any", "phases.0.end_date": "any", "phases.0.trial_end": "any" },
    ...{ "phases.*.items.0.price": "any", "phases.*.items.0.quantity": "any" },
    "phases.1.duration.interval": ["month", "year"],
    "phases.1.duration.interval_count": ["1"],
    "phases.*.proration_behavior": ["none"],
    "phases.*.automatic_tax.enabled": ["true"],
  },
  "POST /v1/subscription_schedules/:id/release": {},
  "POST /v1/invoices/create_preview": {
    ...{ subscription: "any", "subscription_details.items.0.id": "any" },
    "subscription_details.items.0.price": "any",
    "subscription_details.items.0.quantity": "any",
    "subscription_details.proration_behavior": ["always_invoice", "create_prorations", "none"],
  },
  "GET /v1/invoices": {
    ...{ customer: "any", subscription: "any" },
    status: ["draft", "open", "paid", "uncollectible", "void"],
    ...{ ...PAGE, ...CREATED, ...expandable(listed(INVOICE_FIELDS)) },
  },
  "GET /v1/invoices/:id": expandable(INVOICE_FIELDS),
  "POST /v1/invoices/:id/pay": { payment_method: "any", ...expandable(INVOICE_FIELDS) },
  "GET /v1/invoice_payments": {
    ...{ invoice: "any", status: ["canceled", "open", "paid"], ...PAGE },
    ...expandable(listed(["invoice"])),
  },
  "GET /v1/refunds": { payment_intent: "any", ...PAGE, ...CREATED },
  "POST /v1/refunds": {
    ...{ payment_intent: "any", amount: "any" },
    reason: ["duplicate", "fraudulent", "requested_by_customer"],
  },
  "GET /v1/disputes": { payment_intent: "any", ...PAGE, ...CREATED },
  "GET /v1/prices": {
    ...{ product: "any", currency: "any", active: ["true", "false"], type: ["recurring", "one_time"] },
    ...{ "recurring.interval": ["month", "year"], "recurring.usage_type": ["licensed"] },
    ...{ ...PAGE, ...CREATED, ...expandable(["data.product"]) },
  },
  "GET /v1/prices/:id": expandable(["product"]),
  "GET /v1/products": { "ids.*": "any", active: ["true", "false"], ...PAGE, ...CREATED },
  "GET /v1/products/:id": {},
  "POST /v1/customers": { email: "any", name: "any", "metadata.*": "any" },
  "GET /v1/customers": { email: "any", ...PAGE, ...CREATED },
  "GET /v1/customers/:id": {},
  "POST /v1/customers/:id": { email: "any", name: "any", "metadata.*": "any" },
  "GET /v1/events": { type: "any", "types.*": "any", ...PAGE, ...CREATED },
  "GET /v1/events/:id": {},
};

function expandable(fields: readonly string[]): Parameters {
  return { "expand.*": fields };
}

function listed(fields: readonly string[]): string[] {
  return fields.map((field) => `data.${field}`);
}
