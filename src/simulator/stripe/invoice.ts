import { chargeLines, chargeTotals } from "../lifecycle/charge.ts";
import type { ChargeLine } from "../lifecycle/charge-line.ts";
import type { EventContext } from "../renderer.ts";
import { discountId } from "./discount.ts";
import { changeInvoiceIdOf, invoiceIdOf } from "./invoice-id.ts";
import { itemIdOf } from "./item-id.ts";

/** The subscription's latest invoice. */
export function invoiceId({ ids, step }: EventContext): string {
  const { charge, periodStartSeconds } = step.state;
  const number = charge?.number ?? null;
  return number === null
    ? invoiceIdOf(ids.subscriptionId, periodStartSeconds)
    : changeInvoiceIdOf(ids.subscriptionId, number);
}

/** https://docs.stripe.com/api/invoices/object */
export function invoice(context: EventContext): object {
  const { lifecycle, step, ids } = context;
  const { offer, charge, discount, periodStartSeconds, periodEndSeconds } = step.state;
  const { subtotal, discount: discounted, total, due } = chargeTotals(step.state);
  const isPaid = step.event !== "charge failed";
  return {
    id: invoiceId(context),
    object: "invoice",
    amount_due: due,
    amount_paid: isPaid ? due : 0,
    amount_remaining: isPaid ? 0 : due,
    attempted: true,
    billing_reason:
      (charge?.number ?? null) !== null
        ? "subscription_update"
        : periodStartSeconds === lifecycle.startedAtSeconds
          ? "subscription_create"
          : "subscription_cycle",
    created: step.atSeconds,
    currency: offer.currency.toLowerCase(),
    customer: ids.customerId,
    discounts: discount ? [discountId(ids, discount)] : [],
    // Customers' credit is a negative balance.
    ending_balance: 0 - (charge?.creditAfter ?? 0),
    lines: {
      object: "list",
      data: chargeLines(step.state).map((line, index) => invoiceLine(context, line, index)),
      has_more: false,
    },
    livemode: false,
    parent: {
      quote_details: null,
      subscription_details: { metadata: {}, subscription: ids.subscriptionId },
      type: "subscription_details",
    },
    period_end: periodEndSeconds,
    period_start: periodStartSeconds,
    starting_balance: 0 - (charge?.creditBefore ?? 0),
    status: isPaid ? "paid" : "open",
    status_transitions: { paid_at: isPaid ? step.atSeconds : null },
    subtotal,
    total,
    total_discount_amounts: discountAmounts(context, discounted),
  };
}

/** A proration's amount has the discount in it already. */
function invoiceLine(context: EventContext, line: ChargeLine, index: number): object {
  const { ids } = context;
  const { offer, seats, subtotal, discount, isProration, startSeconds, endSeconds } = line;
  const id = `il_${ids.subscriptionId}`;
  return {
    id: index === 0 ? id : `${id}_${index}`,
    object: "line_item",
    amount: subtotal,
    quantity: seats,
    currency: offer.currency.toLowerCase(),
    description: descriptionOf(line),
    subtotal,
    discountable: !isProration,
    discount_amounts: discountAmounts(context, discount),
    parent: {
      invoice_item_details: null,
      subscription_item_details: {
        proration: isProration,
        subscription: ids.subscriptionId,
        subscription_item: itemIdOf(ids),
      },
      type: "subscription_item_details",
    },
    period: { start: Math.floor(startSeconds), end: Math.floor(endSeconds) },
    pricing: {
      price_details: { price: offer.priceId, product: `prod_${offer.planId}` },
      type: "price_details",
      unit_amount_decimal: String(offer.amount),
    },
  };
}

function descriptionOf({ offer, seats, subtotal, isProration, startSeconds }: ChargeLine): string {
  if (!isProration) return `${seats} × ${offer.planName}`;
  const day = new Date(startSeconds * 1_000).toISOString().slice(0, 10);
  return `${subtotal < 0 ? "Unused" : "Remaining"} time on ${seats} × ${offer.planName} after ${day}`;
}

function discountAmounts({ ids, step }: EventContext, amount: number): object[] {
  const { discount } = step.state;
  return discount && amount !== 0 ? [{ amount, discount: discountId(ids, discount) }] : [];
}
