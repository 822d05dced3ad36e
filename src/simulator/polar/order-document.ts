import { type EventContext, emailOf, subscriptionData } from "../renderer.ts";
import { rfc3339 } from "../rfc3339.ts";
import { uuid } from "../uuid.ts";
import { polarCustomer } from "./customer.ts";
import { polarProduct } from "./product.ts";

export function orderId({ step, at, ids }: EventContext): string {
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
