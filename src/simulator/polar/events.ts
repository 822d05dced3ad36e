import type { EmittedEvent } from "../lifecycle/subscription.ts";
import { type EventContext, type Renderer, subscriptionData } from "../renderer.ts";
import { rfc3339 } from "../rfc3339.ts";
import { uuid } from "../uuid.ts";
import { checkoutIdOf, customer, order, orderId } from "./order-document.ts";
import { polarPrice, polarProduct } from "./product.ts";
import { reversalEvents } from "./reversals.ts";

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
  payments: {
    reportedBy: ["checkout completed", "charged"],
    idOf: orderId,
    linkEvents: () => [],
    reversalEvents,
  },
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
