import type { Form } from "../http/form.ts";
import type { Discount } from "../lifecycle/discount.ts";
import type { Offer } from "../lifecycle/offer.ts";
import type { ProviderSlot } from "../server/provider-slot.ts";
import { discountNow, findCoupon, findPromotionCode, isRedeemable } from "../server/redeem.ts";
import { invalid, missing } from "./errors.ts";
import { isActive } from "./promotion-codes.ts";

type Order = { offer: Offer; customerId: string | null; trialDays: number };

/** The coupon or promotion code that a request names; `null`: none. */
export function requestedDiscount(slot: ProviderSlot, form: Form, order: Order): Discount | null {
  const couponId = form.text("discounts[0][coupon]");
  const promotionCodeId = form.text("discounts[0][promotion_code]");
  if (couponId !== null && promotionCodeId !== null)
    throw invalid("You may only specify one of these parameters: coupon, promotion_code.", "discounts[0]");
  if (couponId === null && promotionCodeId === null) return null;
  const coupon = promotionCodeId === null ? null : couponOfCode(slot, promotionCodeId, order.customerId);
  return redeemedCoupon(slot, coupon ?? couponId ?? "", promotionCodeId, order);
}

function couponOfCode(slot: ProviderSlot, id: string, customerId: string | null): string {
  const param = "discounts[0][promotion_code]";
  const promotionCode = findPromotionCode(slot, { id });
  if (promotionCode === null) throw missing("promotion code", id, param, 400);
  if (!isActive(slot, promotionCode)) throw invalid("This promotion code is inactive.", param);
  if (promotionCode.customerId !== null && promotionCode.customerId !== customerId)
    throw invalid("This promotion code cannot be redeemed by this customer.", param);
  return promotionCode.couponId;
}

function redeemedCoupon(
  slot: ProviderSlot,
  couponId: string,
  promotionCodeId: string | null,
  { offer, trialDays }: Order,
): Discount {
  const param = "discounts[0][coupon]";
  const coupon = findCoupon(slot, couponId);
  if (coupon === null) throw missing("coupon", couponId, param, 400);
  if (!isRedeemable(slot, coupon)) throw invalid(`Coupon expired: ${couponId}`, param, "coupon_expired");
  if (coupon.currency !== null && coupon.currency !== offer.currency)
    throw invalid(`The coupon ${couponId} has another currency than the price.`, param);
  return discountNow(slot, coupon, { promotionCodeId, trialDays });
}
