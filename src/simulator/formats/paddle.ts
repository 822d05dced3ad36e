import type { Happening } from "../story.ts";
import { rfc3339 } from "./clock.ts";
import { customData, type Renderer, type Telling } from "./renderer.ts";

export const paddle: Renderer = {
  namesOf: (run, number) => ({ subscriptionId: `sub_${run}_${number}`, customerId: `ctm_${run}_${number}` }),
  render: (telling) => {
    const { step, at, subject } = telling;
    const name = `${subject.subscriptionId.slice("sub_".length)}_${at}`;
    const eventType = eventTypeOf(step.happening);
    return {
      eventId: `evt_${name}`,
      eventType,
      body: {
        event_id: `evt_${name}`,
        event_type: eventType,
        occurred_at: rfc3339(step.atSeconds),
        notification_id: `ntf_${name}`,
        data: step.happening === "checkout completed" ? transaction(telling, name) : subscription(telling),
      },
    };
  },
  // An ended subscription has nothing scheduled any more.
  endKeepsSchedule: false,
};

function eventTypeOf(happening: Happening): string {
  switch (happening) {
    case "checkout completed":
      return "transaction.completed";
    case "created":
      return "subscription.created";
    case "trial ended":
    case "payment recovered":
      return "subscription.activated";
    case "payment failed":
      return "subscription.past_due";
    case "deleted":
      return "subscription.canceled";
    default:
      return "subscription.updated";
  }
}

function transaction(telling: Telling, name: string): object {
  const { life, step, subject } = telling;
  const { offer, seats } = step.standing;
  const total = String(offer.amount * seats);
  return {
    id: `txn_${name}`,
    status: "completed",
    customer_id: subject.customerId,
    address_id: `add_${subject.customerId}`,
    business_id: null,
    custom_data: customData(telling),
    currency_code: offer.currency,
    origin: "web",
    subscription_id: subject.subscriptionId,
    invoice_id: `inv_${name}`,
    collection_mode: "automatic",
    discount_id: null,
    billing_details: null,
    billing_period: billingPeriod(telling),
    items: [{ price: price(telling), price_id: offer.priceId, quantity: seats, proration: null }],
    details: {
      tax_rates_used: [],
      totals: {
        subtotal: total,
        tax: "0",
        discount: "0",
        total,
        grand_total: total,
        fee: null,
        credit: "0",
        balance: "0",
        earnings: null,
        currency_code: offer.currency,
      },
      payout_totals: null,
      line_items: [],
    },
    payments: [],
    checkout: { url: "http://localhost:3000/pay" },
    created_at: rfc3339(life.startedAtSeconds - 90),
    updated_at: rfc3339(step.atSeconds),
    billed_at: rfc3339(step.atSeconds),
    revised_at: null,
  };
}

function subscription(telling: Telling): object {
  const { life, step, subject } = telling;
  const { offer, seats, status, cancelAtPeriodEnd, periodEndSeconds } = step.standing;
  const hasEnded = status === "canceled";
  const isScheduled = cancelAtPeriodEnd && !hasEnded;
  return {
    id: subject.subscriptionId,
    status,
    customer_id: subject.customerId,
    address_id: `add_${subject.customerId}`,
    business_id: null,
    currency_code: offer.currency,
    created_at: rfc3339(life.startedAtSeconds),
    updated_at: rfc3339(step.atSeconds),
    started_at: rfc3339(life.startedAtSeconds),
    first_billed_at: rfc3339(life.startedAtSeconds),
    next_billed_at: isScheduled || hasEnded ? null : rfc3339(periodEndSeconds),
    paused_at: null,
    canceled_at: hasEnded ? rfc3339(step.atSeconds) : null,
    discount: null,
    collection_mode: "automatic",
    billing_details: null,
    current_billing_period: hasEnded ? null : billingPeriod(telling),
    billing_cycle: { interval: "month", frequency: 1 },
    scheduled_change: isScheduled
      ? { action: "cancel", effective_at: rfc3339(periodEndSeconds), resume_at: null }
      : null,
    items: [
      {
        status: hasEnded ? "inactive" : status === "trialing" ? "trialing" : "active",
        quantity: seats,
        recurring: true,
        created_at: rfc3339(life.startedAtSeconds),
        updated_at: rfc3339(step.atSeconds),
        previously_billed_at: rfc3339(life.startedAtSeconds),
        next_billed_at: hasEnded ? null : rfc3339(periodEndSeconds),
        trial_dates: null,
        price: price(telling),
        product: {
          id: `pro_${offer.planId}`,
          name: offer.planName,
          description: null,
          type: "standard",
          tax_category: "standard",
          image_url: null,
          custom_data: null,
          status: "active",
        },
      },
    ],
    custom_data: customData(telling),
    import_meta: null,
  };
}

function price({ step }: Telling): object {
  const { offer } = step.standing;
  return {
    id: offer.priceId,
    product_id: `pro_${offer.planId}`,
    type: "standard",
    name: "Monthly, per seat",
    description: `${offer.planName}, monthly`,
    tax_mode: "account_setting",
    billing_cycle: { interval: "month", frequency: 1 },
    trial_period: null,
    unit_price: { amount: String(offer.amount), currency_code: offer.currency },
    unit_price_overrides: [],
    quantity: { minimum: offer.seats.min, maximum: offer.seats.max },
    custom_data: null,
    status: "active",
    import_meta: null,
  };
}

function billingPeriod({ step }: Telling): object {
  return {
    starts_at: rfc3339(step.standing.periodStartSeconds),
    ends_at: rfc3339(step.standing.periodEndSeconds),
  };
}
