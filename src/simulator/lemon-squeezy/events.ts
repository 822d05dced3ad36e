import { chargeTotals } from "../lifecycle/charge.ts";
import type { EmittedEvent } from "../lifecycle/subscription.ts";
import { type EventContext, emailOf, type Renderer, subscriptionData } from "../renderer.ts";
import { rfc3339 } from "../rfc3339.ts";
import { uuid } from "../uuid.ts";
import { amounts } from "./amounts.ts";
import { invoice, invoiceId, reversalEvents } from "./invoice.ts";
import { nameOf, numberOf, orderIdOf, priceIdOf, productIdOf } from "./names.ts";

export const lemonSqueezy: Renderer = {
  newIds: (run, number) => ({
    subscriptionId: numberOf(`${run} subscription ${number}`),
    customerId: numberOf(`${run} customer ${number}`),
  }),
  render: (context) => {
    const { step, run } = context;
    const eventType = eventTypeOf(step.event);
    return {
      // There is no event id outside the body: the receiver derives one.
      eventId: "",
      eventType,
      body: {
        meta: {
          test_mode: true,
          event_name: eventType,
          webhook_id: uuid(`${run} ${context.ids.subscriptionId} ${context.at}`),
          custom_data: subscriptionData(context),
        },
        data: dataOf(context),
      },
    };
  },
  payments: {
    reportedBy: ["charged", "change charged", "charge failed"],
    reportsCredits: false,
    idOf: invoiceId,
    linkEvents: () => [],
    reversalEvents,
  },
  subscription,
  restates: ["cancellation scheduled", "cancellation withdrawn", "deleted"],
  endKeepsSchedule: true,
};

function dataOf(context: EventContext): object {
  switch (context.step.event) {
    case "checkout completed":
      return order(context);
    case "charged":
    case "change charged":
    case "charge failed":
      return invoice(context);
    default:
      return subscription(context);
  }
}

function eventTypeOf(event: EmittedEvent): string {
  switch (event) {
    case "checkout completed":
      return "order_created";
    case "created":
      return "subscription_created";
    case "cancellation scheduled":
      return "subscription_cancelled";
    case "cancellation withdrawn":
      return "subscription_resumed";
    case "deleted":
      return "subscription_expired";
    case "charged":
    case "change charged":
      return "subscription_payment_success";
    case "charge failed":
      return "subscription_payment_failed";
    default:
      return "subscription_updated";
  }
}

/** An order does not contain the id of the resulting subscription. @param discounted what a discount took off it */
export function order(context: EventContext, discounted = chargeTotals(context.step.state).discount): object {
  const { lifecycle, step, ids } = context;
  const { offer, seats } = step.state;
  const subtotal = offer.amount * seats;
  const id = orderIdOf(ids);
  return {
    type: "orders",
    id,
    attributes: {
      store_id: 1,
      customer_id: Number(ids.customerId),
      identifier: `order-${id}`,
      order_number: 1,
      user_name: nameOf(context),
      user_email: emailOf(context),
      currency: offer.currency,
      currency_rate: "1.00000000",
      ...amounts(
        {
          ...{ subtotal, setup_fee: 0, discount_total: discounted, tax: 0, refunded_amount: 0 },
          total: subtotal - discounted,
        },
        offer.currency,
      ),
      tax_name: null,
      tax_rate: 0,
      tax_inclusive: false,
      status: "paid",
      status_formatted: "Paid",
      refunded: false,
      refunded_at: null,
      first_order_item: {
        id: Number(id) + 1,
        order_id: Number(id),
        product_id: Number(productIdOf(offer)),
        variant_id: offer.priceId,
        price_id: Number(priceIdOf(offer)),
        product_name: offer.planName,
        variant_name: `Per seat and ${offer.interval}`,
        price: offer.amount,
        quantity: seats,
        created_at: rfc3339(lifecycle.startedAtSeconds),
        updated_at: rfc3339(lifecycle.startedAtSeconds),
        test_mode: true,
      },
      urls: { receipt: `https://app.lemonsqueezy.example/my-orders/${id}` },
      created_at: rfc3339(lifecycle.startedAtSeconds),
      updated_at: rfc3339(step.atSeconds),
      test_mode: true,
    },
    relationships: relationships("orders", id, ["store", "customer", "order-items", "subscriptions"]),
    links: { self: `https://api.lemonsqueezy.example/v1/orders/${id}` },
  };
}

function subscription(context: EventContext): object {
  const { lifecycle, step, ids, checkout } = context;
  const { offer, status, cancelAtPeriodEnd, periodEndSeconds } = step.state;
  const id = ids.subscriptionId;
  const ends = cancelAtPeriodEnd || status === "canceled";
  const statusWord = wordFor(step.state);
  return {
    type: "subscriptions",
    id,
    attributes: {
      store_id: 1,
      customer_id: Number(ids.customerId),
      order_id: Number(orderIdOf(ids)),
      order_item_id: Number(orderIdOf(ids)) + 1,
      product_id: Number(productIdOf(offer)),
      variant_id: offer.priceId,
      product_name: offer.planName,
      variant_name: `Per seat and ${offer.interval}`,
      user_name: nameOf(context),
      user_email: emailOf(context),
      status: statusWord,
      status_formatted: STATUS_LABELS[statusWord],
      card_brand: "visa",
      card_last_four: "4242",
      payment_processor: "stripe",
      pause: null,
      cancelled: cancelAtPeriodEnd,
      trial_ends_at: status === "trialing" ? rfc3339(periodEndSeconds) : null,
      billing_anchor: 1,
      first_subscription_item: status === "trialing" ? null : itemOf(context),
      urls: {
        update_payment_method: `https://store-0.lemonsqueezy.example/subscription/${id}/payment-details`,
        customer_portal: checkout?.portalUrl ?? "https://store-0.lemonsqueezy.example/billing",
        customer_portal_update_subscription:
          checkout?.portalUrl ?? "https://store-0.lemonsqueezy.example/billing/update",
      },
      renews_at: rfc3339(periodEndSeconds),
      ends_at: ends ? rfc3339(periodEndSeconds) : null,
      created_at: rfc3339(lifecycle.startedAtSeconds),
      // A change of seats updates the item's time only.
      updated_at: rfc3339(step.event === "seats changed" ? lifecycle.startedAtSeconds : step.atSeconds),
      test_mode: true,
    },
    relationships: relationships("subscriptions", id, ["store", "customer", "order", "product", "variant"]),
    links: { self: `https://api.lemonsqueezy.example/v1/subscriptions/${id}` },
  };
}

export function itemOf({ lifecycle, step, ids }: EventContext) {
  return {
    id: Number(ids.subscriptionId) + 1,
    subscription_id: Number(ids.subscriptionId),
    price_id: Number(priceIdOf(step.state.offer)),
    quantity: step.state.seats,
    is_usage_based: false,
    created_at: rfc3339(lifecycle.startedAtSeconds),
    updated_at: rfc3339(step.atSeconds),
  };
}

/** The item's id is the next number. */
export function subscriptionIdOfItem(itemId: string): string {
  return String(Number(itemId) - 1);
}

const STATUS_LABELS = {
  ...{ on_trial: "On Trial", active: "Active", cancelled: "Cancelled", past_due: "Past Due" },
  ...{ unpaid: "Unpaid", expired: "Expired" },
};

export function wordFor({
  status,
  cancelAtPeriodEnd,
}: EventContext["step"]["state"]): keyof typeof STATUS_LABELS {
  switch (status) {
    case "trialing":
      return "on_trial";
    case "incomplete":
      throw new Error("Lemon Squeezy has no incomplete subscriptions");
    case "active":
      return cancelAtPeriodEnd ? "cancelled" : "active";
    case "past_due":
      return "past_due";
    case "unpaid":
      return "unpaid";
    case "canceled":
      return "expired";
    default:
      return status satisfies never;
  }
}

function relationships(type: string, id: string, names: readonly string[]): object {
  const home = `https://api.lemonsqueezy.example/v1/${type}/${id}`;
  return Object.fromEntries(
    names.map((name) => [
      name,
      { links: { related: `${home}/${name}`, self: `${home}/relationships/${name}` } },
    ]),
  );
}
