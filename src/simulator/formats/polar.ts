import { hash } from "node:crypto";
import type { Happening } from "../story.ts";
import { rfc3339 } from "./clock.ts";
import { customData, type Renderer, type Telling } from "./renderer.ts";

export const polar: Renderer = {
  namesOf: (run, number) => ({
    subscriptionId: uuid(`${run} subscription ${number}`),
    customerId: uuid(`${run} customer ${number}`),
  }),
  render: (telling) => {
    const { step, at, subject } = telling;
    const eventType = eventTypeOf(step.happening);
    return {
      eventId: `msg_${subject.subscriptionId}_${at}`,
      eventType,
      body: {
        type: eventType,
        timestamp: rfc3339(step.atSeconds),
        data: step.happening === "checkout completed" ? order(telling) : subscription(telling),
      },
    };
  },
  endKeepsSchedule: true,
};

function eventTypeOf(happening: Happening): string {
  switch (happening) {
    case "checkout completed":
      return "order.paid";
    case "created":
      return "subscription.created";
    case "trial ended":
    case "payment recovered":
      return "subscription.active";
    case "payment failed":
      return "subscription.past_due";
    case "cancellation scheduled":
      return "subscription.canceled";
    case "cancellation withdrawn":
      return "subscription.uncanceled";
    case "deleted":
      return "subscription.revoked";
    default:
      return "subscription.updated";
  }
}

function order(telling: Telling): object {
  const { life, step, subject, run } = telling;
  const { offer, seats } = step.standing;
  const total = offer.amount * seats;
  return {
    id: uuid(`order ${subject.subscriptionId}`),
    created_at: rfc3339(life.startedAtSeconds - 1),
    modified_at: rfc3339(step.atSeconds),
    status: "paid",
    paid: true,
    subtotal_amount: total,
    discount_amount: 0,
    net_amount: total,
    tax_amount: 0,
    total_amount: total,
    due_amount: total,
    refunded_amount: 0,
    currency: offer.currency.toLowerCase(),
    billing_reason: "subscription_create",
    billing_name: null,
    billing_address: null,
    invoice_number: `SIM-${run}-0001`,
    is_invoice_generated: false,
    seats,
    customer_id: subject.customerId,
    product_id: offer.priceId,
    discount_id: null,
    subscription_id: subject.subscriptionId,
    checkout_id: uuid(`checkout ${subject.subscriptionId}`),
    metadata: customData(telling),
    custom_field_data: {},
    customer: customer(telling),
    product: product(telling),
    discount: null,
    items: [],
    description: offer.planName,
  };
}

function subscription(telling: Telling): object {
  const { life, step, subject } = telling;
  const { offer, seats, status, cancelAtPeriodEnd, periodStartSeconds, periodEndSeconds } = step.standing;
  const hasEnded = status === "canceled";
  const trialEnd = status === "trialing" ? rfc3339(periodEndSeconds) : null;
  return {
    created_at: rfc3339(life.startedAtSeconds),
    modified_at: rfc3339(step.atSeconds),
    id: subject.subscriptionId,
    amount: offer.amount * seats,
    currency: offer.currency.toLowerCase(),
    recurring_interval: "month",
    recurring_interval_count: 1,
    status,
    current_period_start: rfc3339(periodStartSeconds),
    current_period_end: rfc3339(periodEndSeconds),
    trial_start: trialEnd && rfc3339(life.startedAtSeconds),
    trial_end: trialEnd,
    cancel_at_period_end: cancelAtPeriodEnd,
    canceled_at: cancelAtPeriodEnd || hasEnded ? rfc3339(step.atSeconds) : null,
    started_at: rfc3339(life.startedAtSeconds),
    ends_at: cancelAtPeriodEnd ? rfc3339(periodEndSeconds) : null,
    ended_at: hasEnded ? rfc3339(step.atSeconds) : null,
    customer_id: subject.customerId,
    product_id: offer.priceId,
    discount_id: null,
    checkout_id: uuid(`checkout ${subject.subscriptionId}`),
    seats,
    customer_cancellation_reason: null,
    customer_cancellation_comment: null,
    metadata: customData(telling),
    custom_field_data: {},
    customer: customer(telling),
    product: product(telling),
    discount: null,
    prices: [price(telling)],
    meters: [],
    pending_update: null,
  };
}

function customer({ life, subject }: Telling): object {
  return {
    id: subject.customerId,
    created_at: rfc3339(life.startedAtSeconds - 90),
    modified_at: null,
    metadata: {},
    external_id: subject.userId,
    email: `${subject.userId}@example.com`,
    email_verified: true,
    name: null,
    billing_address: null,
    tax_id: null,
    organization_id: uuid("organization"),
    deleted_at: null,
    type: "individual",
  };
}

function product(telling: Telling): object {
  const { offer } = telling.step.standing;
  return {
    id: offer.priceId,
    modified_at: null,
    name: offer.planName,
    description: null,
    recurring_interval: "month",
    recurring_interval_count: 1,
    is_recurring: true,
    is_archived: false,
    organization_id: uuid("organization"),
    metadata: {},
    prices: [price(telling)],
    benefits: [],
    medias: [],
    attached_custom_fields: [],
  };
}

function price({ step }: Telling): object {
  const { offer } = step.standing;
  return {
    id: uuid(`price ${offer.priceId}`),
    source: "catalog",
    amount_type: "seat_based",
    is_archived: false,
    product_id: offer.priceId,
    type: "recurring",
    recurring_interval: "month",
    price_currency: offer.currency.toLowerCase(),
    seat_tiers: {
      tiers: [{ min_seats: offer.seats.min, max_seats: offer.seats.max, price_per_seat: offer.amount }],
    },
  };
}

/** The same for the same name, in the shape of a version 4. */
function uuid(name: string): string {
  const hex = hash("sha256", name, "hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
