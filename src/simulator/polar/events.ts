import type { EmittedEvent } from "../lifecycle/subscription.ts";
import { type EventContext, emailOf, type Renderer, subscriptionData } from "../renderer.ts";
import { rfc3339 } from "../rfc3339.ts";
import { uuid } from "../uuid.ts";
import { polarCustomer } from "./customer.ts";
import { polarPrice, polarProduct } from "./product.ts";

export const polar: Renderer = {
  newIds: (run, number) => ({
    subscriptionId: uuid(`${run} subscription ${number}`),
    customerId: uuid(`${run} customer ${number}`),
  }),
  render: (context) => {
    const { step, at, ids } = context;
    const eventType = eventTypeOf(step.event);
    return {
      eventId: `msg_${ids.subscriptionId}_${at}`,
      eventType,
      body: {
        type: eventType,
        timestamp: rfc3339(step.atSeconds),
        data: eventType === "order.paid" ? order(context) : subscription(context),
      },
    };
  },
  payments: { reportedBy: ["checkout completed", "charged"], idOf: orderId },
  subscription,
  restates: [
    "activated",
    "trial ended",
    "payment failed",
    "payment recovered",
    "cancellation scheduled",
    "cancellation withdrawn",
    "deleted",
  ],
  endKeepsSchedule: true,
};

function eventTypeOf(event: EmittedEvent): string {
  switch (event) {
    case "checkout completed":
    case "charged":
      return "order.paid";
    case "created":
      return "subscription.created";
    case "activated":
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

function orderId({ step, at, ids }: EventContext): string {
  return uuid(`order ${ids.subscriptionId}${step.event === "charged" ? ` ${at}` : ""}`);
}

export function order(context: EventContext): object {
  const { lifecycle, step, ids, run } = context;
  const { offer, seats } = step.state;
  const total = offer.amount * seats;
  const isRenewal = step.event === "charged";
  return {
    id: orderId(context),
    created_at: rfc3339((isRenewal ? step.atSeconds : lifecycle.startedAtSeconds) - 1),
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
    customer_id: ids.customerId,
    product_id: offer.priceId,
    discount_id: null,
    subscription_id: ids.subscriptionId,
    checkout_id: checkoutIdOf(context),
    metadata: subscriptionData(context),
    custom_field_data: {},
    customer: customer(context),
    product: polarProduct(offer),
    discount: null,
    items: [],
    description: offer.planName,
  };
}

function subscription(context: EventContext): object {
  const { lifecycle, step, ids } = context;
  const { offer, seats, status, cancelAtPeriodEnd, periodStartSeconds, periodEndSeconds } = step.state;
  const hasEnded = status === "canceled";
  const trialEnd = status === "trialing" ? rfc3339(periodEndSeconds) : null;
  return {
    created_at: rfc3339(lifecycle.startedAtSeconds),
    modified_at: rfc3339(step.atSeconds),
    id: ids.subscriptionId,
    amount: offer.amount * seats,
    currency: offer.currency.toLowerCase(),
    recurring_interval: offer.interval,
    recurring_interval_count: 1,
    status,
    current_period_start: rfc3339(periodStartSeconds),
    current_period_end: rfc3339(periodEndSeconds),
    trial_start: trialEnd && rfc3339(lifecycle.startedAtSeconds),
    trial_end: trialEnd,
    cancel_at_period_end: cancelAtPeriodEnd,
    canceled_at: cancelAtPeriodEnd || hasEnded ? rfc3339(step.atSeconds) : null,
    started_at: rfc3339(lifecycle.startedAtSeconds),
    ends_at: cancelAtPeriodEnd ? rfc3339(periodEndSeconds) : null,
    ended_at: hasEnded ? rfc3339(step.atSeconds) : null,
    customer_id: ids.customerId,
    product_id: offer.priceId,
    discount_id: null,
    checkout_id: checkoutIdOf(context),
    seats,
    customer_cancellation_reason: null,
    customer_cancellation_comment: null,
    metadata: subscriptionData(context),
    custom_field_data: {},
    customer: customer(context),
    product: polarProduct(offer),
    discount: null,
    prices: [polarPrice(offer)],
    meters: [],
    pending_update: null,
  };
}

function customer(context: EventContext): object {
  const { lifecycle, ids, checkout } = context;
  return polarCustomer({
    id: ids.customerId,
    createdAtSeconds: lifecycle.startedAtSeconds - 90,
    email: emailOf(context),
    externalId: checkout ? checkout.externalId : ids.userId,
  });
}

function checkoutIdOf({ ids, checkout }: EventContext): string {
  return checkout?.id ?? uuid(`checkout ${ids.subscriptionId}`);
}
