import { type EventContext, emailOf, subscriptionData } from "../renderer.ts";
import { rfc3339 } from "../rfc3339.ts";
import { uuid } from "../uuid.ts";
import { polarCustomer } from "./customer.ts";
import { purchaseDiscount } from "./discount-document.ts";
import { polarPrice, polarProduct } from "./product.ts";

export function subscription(context: EventContext): object {
  const { offer } = context.step.state;
  return {
    ...subscriptionFields(context),
    custom_field_data: {},
    customer: customer(context),
    product: polarProduct(offer),
    discount: context.coupon ? purchaseDiscount(context.coupon) : null,
    prices: [polarPrice(offer)],
    meters: [],
    pending_update: pendingUpdate(context),
  };
}

/** As an order contains its subscription. */
export function subscriptionFields(context: EventContext): object {
  const { lifecycle, step, ids } = context;
  const { offer, seats, status, cancelAtPeriodEnd, periodStartSeconds, periodEndSeconds } = step.state;
  const hasEnded = status === "canceled";
  const trialEnd = status === "trialing" ? rfc3339(periodEndSeconds) : null;
  const canceledAt = rfc3339(step.state.canceledAtSeconds ?? step.atSeconds);
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
    current_meter_period_start: null,
    current_meter_period_end: null,
    trial_start: trialEnd && rfc3339(lifecycle.startedAtSeconds),
    trial_end: trialEnd,
    cancel_at_period_end: cancelAtPeriodEnd,
    canceled_at: cancelAtPeriodEnd || hasEnded ? canceledAt : null,
    started_at: rfc3339(lifecycle.startedAtSeconds),
    ends_at: cancelAtPeriodEnd ? rfc3339(periodEndSeconds) : null,
    ended_at: hasEnded ? rfc3339(step.atSeconds) : null,
    past_due_at: status === "past_due" ? rfc3339(periodStartSeconds) : null,
    pause_at_period_end: false,
    paused_at: status === "paused" ? rfc3339(step.atSeconds) : null,
    resumes_at: null,
    customer_id: ids.customerId,
    product_id: offer.priceId,
    discount_id: context.coupon?.id ?? null,
    checkout_id: checkoutIdOf(context),
    seats,
    customer_cancellation_reason: null,
    customer_cancellation_comment: null,
    metadata: subscriptionData(context),
  };
}

function pendingUpdate({ scheduled, step, ids, at }: EventContext): object | null {
  if (!scheduled) return null;
  return {
    id: uuid(`update ${ids.subscriptionId} ${at}`),
    created_at: rfc3339(step.atSeconds),
    modified_at: null,
    applies_at: rfc3339(step.state.periodEndSeconds),
    product_id: scheduled.offer?.priceId ?? null,
    seats: scheduled.seats,
  };
}

export function customer(context: EventContext): object {
  const { lifecycle, ids, checkout } = context;
  return polarCustomer({
    id: ids.customerId,
    createdAtSeconds: lifecycle.startedAtSeconds - 90,
    email: emailOf(context),
    externalId: checkout ? checkout.externalId : ids.userId,
  });
}

export function checkoutIdOf({ ids, checkout }: EventContext): string {
  return checkout?.id ?? uuid(`checkout ${ids.subscriptionId}`);
}
