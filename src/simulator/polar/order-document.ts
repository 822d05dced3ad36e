import { type EventContext, subscriptionData } from "../renderer.ts";
import { rfc3339 } from "../rfc3339.ts";
import { uuid } from "../uuid.ts";
import { polarProduct } from "./product.ts";
import { checkoutIdOf, customer, subscriptionFields } from "./subscription-document.ts";

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
    applied_balance_amount: 0,
    due_amount: total,
    refunded_amount: 0,
    refunded_tax_amount: 0,
    refundable_amount: total,
    refundable_tax_amount: 0,
    platform_fee_amount: 0,
    platform_fee_currency: null,
    next_payment_attempt_at: null,
    currency: offer.currency.toLowerCase(),
    billing_reason: isRenewal ? "subscription_cycle" : "subscription_create",
    billing_name: null,
    billing_address: null,
    invoice_number: `SIM-${run}-0001`,
    is_invoice_generated: false,
    receipt_number: null,
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
    subscription: subscriptionFields(context),
    items: [
      {
        ...{ id: uuid(`item ${orderId(context)}`), label: offer.planName, amount: total, tax_amount: 0 },
        ...{ created_at: rfc3339(step.atSeconds), modified_at: null, proration: false },
        product_price_id: uuid(`price ${offer.priceId}`),
      },
    ],
    description: offer.planName,
  };
}
