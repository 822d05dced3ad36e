import { chargeLines, chargeTotals } from "../lifecycle/charge.ts";
import { type EventContext, subscriptionData } from "../renderer.ts";
import { rfc3339 } from "../rfc3339.ts";
import { uuid } from "../uuid.ts";
import { purchaseDiscount } from "./discount-document.ts";
import { polarProduct } from "./product.ts";
import { checkoutIdOf, customer, subscriptionFields } from "./subscription-document.ts";

export function orderId({ step, at, ids }: EventContext): string {
  return uuid(`order ${ids.subscriptionId}${isRecurring(step) ? ` ${at}` : ""}`);
}

/** The subscription makes it, not a checkout. */
function isRecurring({ event }: EventContext["step"]): boolean {
  return event === "charged" || event === "change charged";
}

export function order(context: EventContext): object {
  const { lifecycle, step, ids, run } = context;
  const { offer, seats } = step.state;
  const { discount, total, credited, due } = chargeTotals(step.state);
  const applied = 0 - Math.max(0, credited);
  const lines = chargeLines(step.state);
  return {
    id: orderId(context),
    created_at: rfc3339(isRecurring(step) ? step.atSeconds : lifecycle.startedAtSeconds),
    modified_at: rfc3339(step.atSeconds),
    status: "paid",
    paid: true,
    subtotal_amount: total + discount,
    discount_amount: discount,
    net_amount: total,
    tax_amount: 0,
    total_amount: total,
    applied_balance_amount: applied,
    due_amount: due,
    refunded_amount: 0,
    refunded_tax_amount: 0,
    refundable_amount: due,
    refundable_tax_amount: 0,
    platform_fee_amount: 0,
    platform_fee_currency: null,
    next_payment_attempt_at: null,
    currency: offer.currency.toLowerCase(),
    billing_reason: billingReason(step),
    billing_name: null,
    billing_address: null,
    invoice_number: `SIM-${run}-0001`,
    is_invoice_generated: false,
    receipt_number: null,
    seats,
    customer_id: ids.customerId,
    product_id: offer.priceId,
    discount_id: context.coupon?.id ?? null,
    subscription_id: ids.subscriptionId,
    checkout_id: checkoutIdOf(context),
    metadata: subscriptionData(context),
    custom_field_data: {},
    customer: customer(context),
    product: polarProduct(offer),
    discount: context.coupon ? purchaseDiscount(context.coupon) : null,
    subscription: subscriptionFields(context),
    items: lines.map((line, index) => ({
      id: uuid(`item ${orderId(context)}${index === 0 ? "" : ` ${index}`}`),
      tax_amount: 0,
      label: line.offer.planName,
      amount: line.subtotal,
      proration: line.isProration,
      created_at: rfc3339(step.atSeconds),
      modified_at: null,
      product_price_id: uuid(`price ${line.offer.priceId}`),
    })),
    description: offer.planName,
  };
}

function billingReason({ event }: EventContext["step"]): string {
  if (event === "change charged") return "subscription_update";
  return event === "charged" ? "subscription_cycle" : "subscription_create";
}
