import { customData, type Renderer, type Telling, type Told } from "./renderer.ts";
import { stripePrice } from "./stripe-price.ts";
import { completedSession } from "./stripe-session.ts";

const API_VERSION = "2026-02-25.clover";

export const stripe: Renderer = {
  namesOf: (run, number) => ({ subscriptionId: `sub_${run}_${number}`, customerId: `cus_${run}_${number}` }),
  render: (telling) => {
    const eventType = eventTypeOf(telling.step.happening);
    const eventId = `evt_${telling.subject.subscriptionId.slice("sub_".length)}_${telling.at}`;
    return { eventId, eventType, body: envelope(eventId, eventType, telling, objectOf(telling)) };
  },
  subscription,
  restates: [],
  endKeepsSchedule: true,
};

function eventTypeOf(happening: Told): string {
  switch (happening) {
    case "checkout completed":
      return "checkout.session.completed";
    case "created":
      return "customer.subscription.created";
    case "deleted":
      return "customer.subscription.deleted";
    case "charged":
      return "invoice.paid";
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

function objectOf(telling: Telling): object {
  switch (telling.step.happening) {
    case "checkout completed":
      return completedSession(telling);
    case "charged":
      return invoice(telling);
    default:
      return subscription(telling);
  }
}

function invoice({ step, at, subject }: Telling): object {
  const { offer, seats, periodStartSeconds, periodEndSeconds } = step.standing;
  const total = offer.amount * seats;
  return {
    id: `in_${subject.subscriptionId}_${at}`,
    object: "invoice",
    amount_due: total,
    amount_paid: total,
    amount_remaining: 0,
    billing_reason: "subscription_cycle",
    created: step.atSeconds,
    currency: offer.currency.toLowerCase(),
    customer: subject.customerId,
    livemode: false,
    parent: {
      quote_details: null,
      subscription_details: { metadata: {}, subscription: subject.subscriptionId },
      type: "subscription_details",
    },
    period_end: periodEndSeconds,
    period_start: periodStartSeconds,
    status: "paid",
    subtotal: total,
    total,
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
    price: stripePrice(offer, life.startedAtSeconds - 86_400),
    quantity: seats,
    subscription: subject.subscriptionId,
    tax_rates: [],
  };
}
