import type { Happening } from "../story.ts";
import { customData, type Renderer, type Telling } from "./renderer.ts";

const API_VERSION = "2026-02-25.clover";

export const stripe: Renderer = {
  namesOf: (run, number) => ({ subscriptionId: `sub_${run}_${number}`, customerId: `cus_${run}_${number}` }),
  render: (telling) => {
    const eventType = eventTypeOf(telling.step.happening);
    const eventId = `evt_${telling.subject.subscriptionId.slice("sub_".length)}_${telling.at}`;
    const object =
      telling.step.happening === "checkout completed" ? checkoutSession(telling) : subscription(telling);
    return { eventId, eventType, body: envelope(eventId, eventType, telling, object) };
  },
  endKeepsSchedule: true,
};

function eventTypeOf(happening: Happening): string {
  switch (happening) {
    case "checkout completed":
      return "checkout.session.completed";
    case "created":
      return "customer.subscription.created";
    case "deleted":
      return "customer.subscription.deleted";
    default:
      return "customer.subscription.updated";
  }
}

function envelope(eventId: string, eventType: string, { step, at, run }: Telling, object: object): object {
  return {
    id: eventId,
    object: "event",
    api_version: API_VERSION,
    created: step.atSeconds,
    data: { object },
    livemode: false,
    pending_webhooks: 1,
    request: { id: `req_${run}${at}`, idempotency_key: null },
    type: eventType,
  };
}

function checkoutSession(telling: Telling): object {
  const { step, subject } = telling;
  const { offer, seats } = step.standing;
  const total = offer.amount * seats;
  return {
    id: `cs_test_${subject.subscriptionId}`,
    object: "checkout.session",
    after_expiration: null,
    allow_promotion_codes: true,
    amount_subtotal: total,
    amount_total: total,
    automatic_tax: { enabled: true, liability: { type: "self" }, provider: "stripe", status: "complete" },
    billing_address_collection: "auto",
    cancel_url: "http://localhost:3000/billing?checkout=cancelled",
    client_reference_id: subject.userId,
    consent: null,
    created: step.atSeconds - 90,
    currency: offer.currency.toLowerCase(),
    custom_fields: [],
    customer: subject.customerId,
    customer_creation: "always",
    customer_details: {
      address: { city: null, country: "DE", line1: null, line2: null, postal_code: "10115", state: null },
      email: `${subject.userId}@example.com`,
      name: null,
      phone: null,
      tax_exempt: "none",
      tax_ids: [],
    },
    customer_email: null,
    discounts: [],
    expires_at: step.atSeconds + 86_400,
    invoice: `in_${subject.subscriptionId}_0`,
    livemode: false,
    locale: "auto",
    metadata: customData(telling),
    mode: "subscription",
    payment_intent: null,
    payment_link: null,
    payment_method_collection: "always",
    payment_method_options: { card: { request_three_d_secure: "automatic" } },
    payment_method_types: ["card", "link"],
    payment_status: "paid",
    phone_number_collection: { enabled: false },
    recovered_from: null,
    setup_intent: null,
    shipping_address_collection: null,
    status: "complete",
    submit_type: null,
    subscription: subject.subscriptionId,
    success_url: "http://localhost:3000/billing?checkout=completed",
    total_details: { amount_discount: 0, amount_shipping: 0, amount_tax: 0 },
    ui_mode: "hosted",
    url: null,
  };
}

function subscription(telling: Telling): object {
  const { life, step, at, subject } = telling;
  const { seats, status, cancelAtPeriodEnd, periodEndSeconds } = step.standing;
  const hasEnded = status === "canceled";
  const trialEnd = status === "trialing" ? periodEndSeconds : null;
  return {
    id: subject.subscriptionId,
    object: "subscription",
    application: null,
    application_fee_percent: null,
    automatic_tax: { disabled_reason: null, enabled: true, liability: { type: "self" } },
    billing_cycle_anchor: life.startedAtSeconds,
    billing_mode: { flexible: { proration_discounts: "included" }, type: "flexible" },
    billing_thresholds: null,
    cancel_at: cancelAtPeriodEnd ? periodEndSeconds : null,
    cancel_at_period_end: cancelAtPeriodEnd,
    canceled_at: cancelAtPeriodEnd || hasEnded ? step.atSeconds : null,
    cancellation_details: { comment: null, feedback: null, reason: null },
    collection_method: "charge_automatically",
    created: life.startedAtSeconds,
    currency: step.standing.offer.currency.toLowerCase(),
    customer: subject.customerId,
    days_until_due: null,
    default_payment_method: `pm_${subject.customerId}`,
    default_source: null,
    default_tax_rates: [],
    description: null,
    discounts: [],
    ended_at: hasEnded ? step.atSeconds : null,
    invoice_settings: { account_tax_ids: null, issuer: { type: "self" } },
    items: {
      object: "list",
      data: [item(telling)],
      has_more: false,
      total_count: 1,
      url: `/v1/subscription_items?subscription=${subject.subscriptionId}`,
    },
    latest_invoice: `in_${subject.subscriptionId}_${at}`,
    livemode: false,
    metadata: customData(telling),
    next_pending_invoice_item_invoice: null,
    on_behalf_of: null,
    pause_collection: null,
    payment_settings: {
      payment_method_options: { card: { network: null, request_three_d_secure: "automatic" } },
      payment_method_types: ["card"],
      save_default_payment_method: "off",
    },
    pending_invoice_item_interval: null,
    pending_setup_intent: null,
    pending_update: null,
    quantity: seats,
    schedule: null,
    start_date: life.startedAtSeconds,
    status,
    test_clock: null,
    transfer_data: null,
    trial_end: trialEnd,
    trial_settings: { end_behavior: { missing_payment_method: "create_invoice" } },
    trial_start: trialEnd === null ? null : life.startedAtSeconds,
  };
}

function item({ life, step, subject }: Telling): object {
  const { offer, seats, periodStartSeconds, periodEndSeconds } = step.standing;
  return {
    id: `si_${subject.subscriptionId}`,
    object: "subscription_item",
    billing_thresholds: null,
    created: life.startedAtSeconds,
    current_period_end: periodEndSeconds,
    current_period_start: periodStartSeconds,
    discounts: [],
    metadata: {},
    price: {
      id: offer.priceId,
      object: "price",
      active: true,
      billing_scheme: "per_unit",
      created: life.startedAtSeconds - 86_400,
      currency: offer.currency.toLowerCase(),
      custom_unit_amount: null,
      livemode: false,
      lookup_key: null,
      metadata: {},
      nickname: `${offer.planName}, monthly`,
      product: `prod_${offer.planId}`,
      recurring: {
        interval: "month",
        interval_count: 1,
        meter: null,
        trial_period_days: null,
        usage_type: "licensed",
      },
      tax_behavior: "exclusive",
      tiers_mode: null,
      transform_quantity: null,
      type: "recurring",
      unit_amount: offer.amount,
      unit_amount_decimal: String(offer.amount),
    },
    quantity: seats,
    subscription: subject.subscriptionId,
    tax_rates: [],
  };
}
