import { amountDue } from "../lifecycle/charge.ts";
import type { EmittedEvent } from "../lifecycle/subscription.ts";
import { type EventContext, type Renderer, subscriptionData, type WireEvent } from "../renderer.ts";
import { discountId } from "./discount.ts";
import { envelope } from "./envelope.ts";
import { invoice, invoiceId } from "./invoice.ts";
import { itemIdOf } from "./item-id.ts";
import { previousAttributes } from "./previous-attributes.ts";
import { stripePrice } from "./price.ts";
import { currencyOf, invoicePayment, reversalEvents } from "./reversals.ts";
import { completedSession } from "./session.ts";

export const stripe: Renderer = {
  newIds: (run, number) => ({ subscriptionId: `sub_${run}_${number}`, customerId: `cus_${run}_${number}` }),
  render: (context) => {
    const eventType = eventTypeOf(context.step.event);
    const object = objectOf(context);
    const { previous } = context;
    const isChange = eventType === "customer.subscription.updated" && previous !== undefined;
    return envelope(context, {
      eventType,
      object,
      previousAttributes: isChange ? previousAttributes(subscription(previous), object) : undefined,
    });
  },
  payments: {
    reportedBy: ["charged", "change charged", "charge failed"],
    reportsCredits: true,
    idOf: invoiceId,
    linkEvents,
    reversalEvents,
  },
  subscription,
  restates: [],
  endKeepsSchedule: true,
};

function eventTypeOf(event: EmittedEvent): string {
  switch (event) {
    case "checkout completed":
      return "checkout.session.completed";
    case "created":
      return "customer.subscription.created";
    case "deleted":
      return "customer.subscription.deleted";
    case "paused":
      return "customer.subscription.paused";
    case "unpaused":
      return "customer.subscription.resumed";
    case "charged":
    case "change charged":
      return "invoice.paid";
    case "charge failed":
      return "invoice.payment_failed";
    default:
      return "customer.subscription.updated";
  }
}

function linkEvents(context: EventContext): WireEvent[] {
  const amount = amountDue(context.step.state);
  if (amount === 0) return [];
  const object = invoicePayment({ id: invoiceId(context), currency: currencyOf(context), amount });
  return [envelope(context, { eventType: "invoice_payment.paid", suffix: "link", object })];
}

function objectOf(context: EventContext): object {
  switch (context.step.event) {
    case "checkout completed":
      return completedSession(context);
    case "charged":
    case "change charged":
    case "charge failed":
      return invoice(context);
    default:
      return subscription(context);
  }
}

/** A subscription has at most one at a time. */
export function scheduleId(subscriptionId: string): string {
  return subscriptionId.replace(/^sub_/, "sub_sched_");
}

function subscription(context: EventContext): object {
  const { lifecycle, step, ids } = context;
  const { seats, cancelAtPeriodEnd, canceledBy, periodEndSeconds } = step.state;
  const canceledAtSeconds = step.state.canceledAtSeconds ?? step.atSeconds;
  const status = statusOf(context);
  const hasEnded = step.state.status === "canceled";
  const trialEnd = status === "trialing" ? periodEndSeconds : null;
  return {
    id: ids.subscriptionId,
    object: "subscription",
    application: null,
    application_fee_percent: null,
    automatic_tax: { disabled_reason: null, enabled: true, liability: { type: "self" } },
    billing_cycle_anchor: lifecycle.startedAtSeconds,
    billing_mode: { flexible: { proration_discounts: "included" }, type: "flexible" },
    billing_thresholds: null,
    cancel_at: cancelAtPeriodEnd ? periodEndSeconds : null,
    // In flexible billing mode the portal sets only the time.
    cancel_at_period_end: cancelAtPeriodEnd && canceledBy === "seller",
    canceled_at: cancelAtPeriodEnd || hasEnded ? canceledAtSeconds : null,
    cancellation_details: {
      comment: null,
      feedback: null,
      reason: cancelAtPeriodEnd || hasEnded ? "cancellation_requested" : null,
    },
    collection_method: "charge_automatically",
    created: lifecycle.startedAtSeconds,
    currency: step.state.offer.currency.toLowerCase(),
    customer: ids.customerId,
    days_until_due: null,
    default_payment_method: `pm_${ids.customerId}`,
    default_source: null,
    default_tax_rates: [],
    description: null,
    discounts: step.state.discount ? [discountId(ids, step.state.discount)] : [],
    ended_at: hasEnded ? step.atSeconds : null,
    invoice_settings: { account_tax_ids: null, issuer: { type: "self" } },
    items: {
      object: "list",
      data: [item(context)],
      has_more: false,
      total_count: 1,
      url: `/v1/subscription_items?subscription=${ids.subscriptionId}`,
    },
    latest_invoice: status === "trialing" ? null : invoiceId(context),
    livemode: false,
    metadata: subscriptionData(context),
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
    schedule: context.scheduled ? scheduleId(ids.subscriptionId) : null,
    start_date: lifecycle.startedAtSeconds,
    status,
    test_clock: null,
    transfer_data: null,
    trial_end: trialEnd,
    trial_settings: { end_behavior: { missing_payment_method: "create_invoice" } },
    trial_start: trialEnd === null ? null : lifecycle.startedAtSeconds,
  };
}

/**
 * A hosted checkout creates the subscription before its first payment, and activates it with the next event.
 */
function statusOf({ step, checkout }: EventContext): string {
  const { status, offer } = step.state;
  if (step.event === "expired") return "incomplete_expired";
  const isBeforePayment = step.event === "created" && status === "active" && checkout !== undefined;
  return isBeforePayment && offer.amount > 0 ? "incomplete" : status;
}

function item({ lifecycle, step, ids }: EventContext): object {
  const { offer, seats, periodStartSeconds, periodEndSeconds } = step.state;
  return {
    id: itemIdOf(ids),
    object: "subscription_item",
    billing_thresholds: null,
    created: lifecycle.startedAtSeconds,
    current_period_end: periodEndSeconds,
    current_period_start: periodStartSeconds,
    discounts: [],
    metadata: {},
    price: stripePrice(offer),
    quantity: seats,
    subscription: ids.subscriptionId,
    tax_rates: [],
  };
}
