import type { Discount } from "../lifecycle/discount.ts";
import type { SubscriptionIds } from "../renderer.ts";

/** A coupon that was redeemed by a subscription. */
export function discountId(
  { subscriptionId }: Pick<SubscriptionIds, "subscriptionId">,
  { id }: Discount,
): string {
  return `di_${subscriptionId.slice("sub_".length)}_${id}`;
}
