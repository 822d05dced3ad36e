import { rfc3339 } from "./clock.ts";
import { paddlePrice } from "./paddle-price.ts";
import { paddleTransaction } from "./paddle-transaction.ts";
import { customData, type Renderer, type Telling, type Told } from "./renderer.ts";

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
        data: isTransaction(step.happening) ? transaction(telling, name) : subscription(telling),
      },
    };
  },
  subscription,
  restates: [],
  // An ended subscription has nothing scheduled any more.
  endKeepsSchedule: false,
};

function isTransaction(happening: Told): boolean {
  return happening === "checkout completed" || happening === "charged";
}

function eventTypeOf(happening: Told): string {
  switch (happening) {
    case "checkout completed":
    case "charged":
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
  const { life, step, subject, checkout } = telling;
  const { offer, seats, periodStartSeconds, periodEndSeconds } = step.standing;
  const isRenewal = step.happening === "charged";
  return paddleTransaction({
    id: isRenewal ? `txn_${name}` : (checkout?.id ?? `txn_${name}`),
    status: "completed",
    origin: isRenewal ? "subscription_recurring" : checkout ? "api" : "web",
    offer,
    seats,
    customerId: subject.customerId,
    subscriptionId: subject.subscriptionId,
    customData: customData(telling),
    period: { startSeconds: periodStartSeconds, endSeconds: periodEndSeconds },
    checkoutUrl: checkout ? checkout.successUrl : "http://localhost:3000/pay",
    createdAtSeconds: isRenewal ? step.atSeconds : life.startedAtSeconds - 90,
    updatedAtSeconds: step.atSeconds,
  });
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
    billing_cycle: { interval: offer.interval, frequency: 1 },
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
        price: paddlePrice(offer),
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

function billingPeriod({ step }: Telling): object {
  return {
    starts_at: rfc3339(step.standing.periodStartSeconds),
    ends_at: rfc3339(step.standing.periodEndSeconds),
  };
}
