import { DAY_SECONDS } from "../lifecycle/calendar.ts";
import type { Coupon, PromotionCode } from "../lifecycle/coupon.ts";
import { type Discount, type DiscountRule, discountFrom, discountOf } from "../lifecycle/discount.ts";
import type { Offer } from "../lifecycle/offer.ts";
import { nowSeconds, type ProviderSlot } from "./provider-slot.ts";

export function findCoupon({ state }: ProviderSlot, id: string): Coupon | null {
  return state.coupons.find((coupon) => coupon.id === id && !coupon.isDeleted) ?? null;
}

/** By its id, or by the code that a customer enters, whatever its case. */
export function findPromotionCode(
  { state }: ProviderSlot,
  by: { id: string } | { code: string },
): PromotionCode | null {
  const codes = state.promotionCodes;
  if ("id" in by) return codes.find(({ id }) => id === by.id) ?? null;
  return codes.find(({ code, isActive }) => isActive && code.toUpperCase() === by.code.toUpperCase()) ?? null;
}

/** By the code that a customer enters, whatever its case. */
export function findCouponByCode({ state }: ProviderSlot, entered: string): Coupon | null {
  const isEntered = ({ code, isDeleted }: Coupon) =>
    !isDeleted && code?.toUpperCase() === entered.toUpperCase();
  return state.coupons.find(isEntered) ?? null;
}

/** Whether it can be redeemed now. */
export function isRedeemable(
  slot: ProviderSlot,
  { maxRedemptions, timesRedeemed, startsAtSeconds = null, expiresAtSeconds }: Coupon | PromotionCode,
): boolean {
  const isUsedUp = maxRedemptions !== null && timesRedeemed >= maxRedemptions;
  const now = nowSeconds(slot);
  const hasStarted = startsAtSeconds === null || now >= startsAtSeconds;
  return !isUsedUp && hasStarted && (expiresAtSeconds === null || now < expiresAtSeconds);
}

/** Whether it reduces this price. */
export function isApplicable({ currency, priceIds = null }: Coupon, offer: Offer): boolean {
  return (currency === null || currency === offer.currency) && (priceIds?.includes(offer.priceId) ?? true);
}

/** The discount of a subscription that starts now. */
export function discountNow(
  slot: ProviderSlot,
  rule: DiscountRule,
  {
    promotionCodeId,
    trialDays,
    startsAtSeconds = nowSeconds(slot),
  }: { promotionCodeId: string | null; trialDays: number; startsAtSeconds?: number },
): Discount {
  const firstPaymentSeconds = startsAtSeconds + trialDays * DAY_SECONDS;
  return discountFrom(rule, promotionCodeId, { startsAtSeconds, firstPaymentSeconds });
}

/** Stores that a purchase has used a discount. */
export function recordRedemption(
  slot: ProviderSlot,
  discount: Discount,
  { subscriptionId, price }: { subscriptionId: string; price: number },
): void {
  countRedemption(slot, discount);
  const amount = discountOf(discount, price);
  const redemption = { couponId: discount.id, subscriptionId, amount, atSeconds: nowSeconds(slot) };
  slot.state.redemptions.push(redemption);
}

/** Counts a redemption, when a subscription gets the discount. */
export function countRedemption(slot: ProviderSlot, { id, promotionCodeId }: Discount): void {
  const code = promotionCodeId === null ? null : findPromotionCode(slot, { id: promotionCodeId });
  for (const redeemable of [findCoupon(slot, id), code]) if (redeemable) redeemable.timesRedeemed += 1;
}
