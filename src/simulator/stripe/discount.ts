import type { Discount } from "../lifecycle/discount.ts";
import type { SubscriptionIds } from "../renderer.ts";

/** A coupon that was redeemed by a subscription. */
export function discountId(
  { subscriptionId }: Pick<SubscriptionIds, "subscriptionId">,
  { id }: Discount,
): string {
  return `di_${subscriptionId.slice("sub_".length)}_${id}`;
}

/** https://docs.stripe.com/api/discounts/object; a subscription has one at most. */
export function discountJson(
  ids: Pick<SubscriptionIds, "subscriptionId" | "customerId">,
  discount: Discount,
): object {
  const { id, promotionCodeId, startsAtSeconds, endsAtSeconds } = discount;
  return {
    id: discountId(ids, discount),
    object: "discount",
    checkout_session: null,
    customer: ids.customerId,
    customer_account: null,
    subscription: ids.subscriptionId,
    subscription_item: null,
    invoice: null,
    invoice_item: null,
    promotion_code: promotionCodeId,
    source: { coupon: id, type: "coupon" },
    start: startsAtSeconds,
    end: endsAtSeconds,
  };
}
