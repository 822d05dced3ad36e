import { type EventContext, emailOf } from "../renderer.ts";
import { rfc3339 } from "../rfc3339.ts";
import { nameOf, orderIdOf, priceIdOf, productIdOf } from "./names.ts";
import { relationships } from "./relationships.ts";

export function subscription(context: EventContext): object {
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
      pause: status === "paused" ? { mode: "void", resumes_at: null } : null,
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
  on_trial: "On Trial",
  active: "Active",
  cancelled: "Cancelled",
  past_due: "Past Due",
  paused: "Paused",
  unpaid: "Unpaid",
  expired: "Expired",
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
    case "paused":
      return "paused";
    case "unpaid":
      return "unpaid";
    case "canceled":
      return "expired";
    default:
      return status satisfies never;
  }
}
