import { chargeLines, chargeTotals } from "../lifecycle/charge.ts";
import type { Discount } from "../lifecycle/discount.ts";
import type { EmittedEvent } from "../lifecycle/subscription.ts";
import { type EventContext, type Renderer, subscriptionData } from "../renderer.ts";
import { rfc3339 } from "../rfc3339.ts";
import { reversalEvents } from "./adjustment.ts";
import { paddlePrice, paddleProduct } from "./price.ts";
import { paddleTransaction, type Transaction } from "./transaction.ts";

export const paddle: Renderer = {
  newIds: (run, number) => ({ subscriptionId: `sub_${run}_${number}`, customerId: `ctm_${run}_${number}` }),
  render: (context) => {
    const { step } = context;
    const name = nameOf(context);
    const eventType = eventTypeOf(step.event);
    return {
      eventId: `evt_${name}`,
      eventType,
      body: {
        event_id: `evt_${name}`,
        event_type: eventType,
        occurred_at: rfc3339(step.atSeconds),
        notification_id: `ntf_${name}`,
        data: isTransaction(step.event) ? transaction(context) : subscription(context),
      },
    };
  },
  payments: {
    reportedBy: ["checkout completed", "charged", "change charged", "charge failed"],
    reportsCredits: true,
    idOf: transactionId,
    linkEvents: () => [],
    reversalEvents,
  },
  subscription,
  restates: [],
  // An ended subscription has nothing scheduled any more.
  endKeepsSchedule: false,
};

function isTransaction(event: EmittedEvent): boolean {
  return event === "checkout completed" || isRecurring(event);
}

/** The subscription makes it, not a checkout. */
function isRecurring(event: EmittedEvent): boolean {
  return event === "charged" || event === "change charged" || event === "charge failed";
}

function eventTypeOf(event: EmittedEvent): string {
  switch (event) {
    case "checkout completed":
    case "charged":
    case "change charged":
      return "transaction.completed";
    case "charge failed":
      return "transaction.payment_failed";
    case "created":
      return "subscription.created";
    case "activated":
    case "trial ended":
    case "payment recovered":
      return "subscription.activated";
    case "payment failed":
      return "subscription.past_due";
    case "paused":
      return "subscription.paused";
    case "unpaused":
      return "subscription.resumed";
    case "deleted":
      return "subscription.canceled";
    default:
      return "subscription.updated";
  }
}

function nameOf({ ids, at }: Pick<EventContext, "ids" | "at">): string {
  return `${ids.subscriptionId.slice("sub_".length)}_${at}`;
}

function transactionId(context: EventContext): string {
  const { ids, at, chargeAt = at, step, checkout } = context;
  const own = `txn_${nameOf({ ids, at: chargeAt })}`;
  return isRecurring(step.event) ? own : (checkout?.id ?? own);
}

export function transaction(context: EventContext) {
  const { lifecycle, step, ids, checkout } = context;
  const { offer, periodStartSeconds, periodEndSeconds } = step.state;
  const recurs = isRecurring(step.event);
  return paddleTransaction({
    id: transactionId(context),
    status: step.event === "charge failed" ? "past_due" : "completed",
    origin: originOf(context),
    offer,
    lines: chargeLines(step.state),
    totals: chargeTotals(step.state),
    discountId: step.state.discount?.id ?? null,
    customerId: ids.customerId,
    subscriptionId: ids.subscriptionId,
    customData: subscriptionData(context),
    period: { startSeconds: periodStartSeconds, endSeconds: periodEndSeconds },
    checkoutUrl: checkout ? checkout.successUrl : "http://localhost:3000/pay",
    createdAtSeconds: recurs ? step.atSeconds : lifecycle.startedAtSeconds - 90,
    updatedAtSeconds: step.atSeconds,
  });
}

function originOf({ step, checkout }: EventContext): Transaction["origin"] {
  if (step.event === "change charged") return "subscription_update";
  return isRecurring(step.event) ? "subscription_recurring" : checkout ? "api" : "web";
}

function subscription(context: EventContext): object {
  const { lifecycle, step, ids } = context;
  const { offer, seats, status, cancelAtPeriodEnd, periodEndSeconds } = step.state;
  const hasEnded = status === "canceled";
  const isScheduled = cancelAtPeriodEnd && !hasEnded;
  const isPaused = status === "paused";
  return {
    id: ids.subscriptionId,
    status,
    customer_id: ids.customerId,
    address_id: `add_${ids.customerId}`,
    business_id: null,
    currency_code: offer.currency,
    created_at: rfc3339(lifecycle.startedAtSeconds),
    updated_at: rfc3339(step.atSeconds),
    started_at: rfc3339(lifecycle.startedAtSeconds),
    first_billed_at: rfc3339(lifecycle.startedAtSeconds),
    next_billed_at: isScheduled || hasEnded || isPaused ? null : rfc3339(periodEndSeconds),
    paused_at: isPaused ? rfc3339(step.atSeconds) : null,
    canceled_at: hasEnded ? rfc3339(step.atSeconds) : null,
    discount: subscriptionDiscount(step.state.discount ?? null),
    collection_mode: "automatic",
    billing_details: null,
    current_billing_period: hasEnded ? null : billingPeriod(context),
    billing_cycle: { interval: offer.interval, frequency: 1 },
    scheduled_change: isScheduled
      ? { action: "cancel", effective_at: rfc3339(periodEndSeconds), resume_at: null }
      : null,
    items: [
      {
        status: hasEnded ? "inactive" : status === "trialing" ? "trialing" : "active",
        quantity: seats,
        recurring: true,
        created_at: rfc3339(lifecycle.startedAtSeconds),
        updated_at: rfc3339(step.atSeconds),
        previously_billed_at: rfc3339(lifecycle.startedAtSeconds),
        next_billed_at: hasEnded ? null : rfc3339(periodEndSeconds),
        trial_dates: null,
        price: paddlePrice(offer),
        product: paddleProduct(offer),
      },
    ],
    custom_data: subscriptionData(context),
    import_meta: null,
  };
}

function subscriptionDiscount(discount: Discount | null): object | null {
  return (
    discount && {
      id: discount.id,
      starts_at: rfc3339(discount.startsAtSeconds),
      ends_at: discount.endsAtSeconds === null ? null : rfc3339(discount.endsAtSeconds),
    }
  );
}

function billingPeriod({ step }: EventContext): object {
  return {
    starts_at: rfc3339(step.state.periodStartSeconds),
    ends_at: rfc3339(step.state.periodEndSeconds),
  };
}
