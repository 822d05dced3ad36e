import { chargeTotals } from "../lifecycle/charge.ts";
import { type EventContext, emailOf } from "../renderer.ts";
import { rfc3339 } from "../rfc3339.ts";
import { amounts } from "./amounts.ts";
import { nameOf, orderIdOf, priceIdOf, productIdOf } from "./names.ts";
import { relationships } from "./relationships.ts";

/**
 * An order does not contain the id of the resulting subscription. @param discounted what a discount took off
 * it
 */
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
          subtotal,
          setup_fee: 0,
          discount_total: discounted,
          tax: 0,
          refunded_amount: 0,
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
