import { rfc3339 } from "./clock.ts";
import { polarCustomer } from "./polar-customer.ts";
import { polarPrice, polarProduct, uuid } from "./polar-product.ts";
import { customData, emailOf, type Renderer, type Telling, type Told } from "./renderer.ts";

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
        data: eventType === "order.paid" ? order(telling) : subscription(telling),
      },
    };
  },
  subscription,
  restates: [
    "trial ended",
    "payment failed",
    "payment recovered",
    "cancellation scheduled",
    "cancellation withdrawn",
    "deleted",
  ],
  endKeepsSchedule: true,
};

function eventTypeOf(happening: Told): string {
  switch (happening) {
    case "checkout completed":
    case "charged":
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
  const { life, step, at, subject, run } = telling;
  const { offer, seats } = step.standing;
  const total = offer.amount * seats;
  const isRenewal = step.happening === "charged";
  return {
    id: uuid(`order ${subject.subscriptionId}${isRenewal ? ` ${at}` : ""}`),
    created_at: rfc3339((isRenewal ? step.atSeconds : life.startedAtSeconds) - 1),
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
    billing_reason: isRenewal ? "subscription_cycle" : "subscription_create",
    billing_name: null,
    billing_address: null,
    invoice_number: `SIM-${run}-0001`,
    is_invoice_generated: false,
    seats,
    customer_id: subject.customerId,
    product_id: offer.priceId,
    discount_id: null,
    subscription_id: subject.subscriptionId,
    checkout_id: checkoutIdOf(telling),
    metadata: customData(telling),
    custom_field_data: {},
    customer: customer(telling),
    product: polarProduct(offer),
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
    recurring_interval: offer.interval,
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
    checkout_id: checkoutIdOf(telling),
    seats,
    customer_cancellation_reason: null,
    customer_cancellation_comment: null,
    metadata: customData(telling),
    custom_field_data: {},
    customer: customer(telling),
    product: polarProduct(offer),
    discount: null,
    prices: [polarPrice(offer)],
    meters: [],
    pending_update: null,
  };
}

function customer(telling: Telling): object {
  const { life, subject, checkout } = telling;
  return polarCustomer({
    id: subject.customerId,
    createdAtSeconds: life.startedAtSeconds - 90,
    email: emailOf(telling),
    externalId: checkout ? checkout.externalId : subject.userId,
  });
}

function checkoutIdOf({ subject, checkout }: Telling): string {
  return checkout?.id ?? uuid(`checkout ${subject.subscriptionId}`);
}
