import type { Json } from "../http/json-body.ts";
import type { Discount } from "../lifecycle/discount.ts";
import type { Offer } from "../lifecycle/offer.ts";
import type { ProviderSlot } from "../server/provider-slot.ts";
import { discountNow, findCoupon, isApplicable, isRedeemable } from "../server/redeem.ts";
import { unprocessable } from "./errors.ts";

/**
 * The discount that `discount_id` names; `null`: none. @param trialDays until the first payment that it
 * reduces
 */
export function requestedDiscount(
  slot: ProviderSlot,
  order: Json,
  { offer, trialDays }: { offer: Offer; trialDays: number },
): Discount | null {
  const id = order.at("discount_id").text();
  if (id === null) return null;
  const coupon = findCoupon(slot, id);
  if (coupon === null || !isApplicable(coupon, offer) || !isRedeemable(slot, coupon))
    throw unprocessable(["discount_id"], "Discount does not exist.");
  return discountNow(slot, coupon, { promotionCodeId: null, trialDays });
}
