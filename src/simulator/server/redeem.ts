import { DAY_SECONDS } from "../lifecycle/calendar.ts";
import { type Discount, type DiscountRule, discountFrom } from "../lifecycle/discount.ts";
import { nowSeconds, type ProviderSlot } from "./provider-slot.ts";
import type { Coupon, PromotionCode } from "./state.ts";

export function findCoupon({ state }: ProviderSlot, id: string): Coupon | null {
  return state.coupons?.find((coupon) => coupon.id === id && !coupon.isDeleted) ?? null;
}

/** By its id, or by the code that a customer enters, whatever its case. */
export function findPromotionCode(
  { state }: ProviderSlot,
  by: { id: string } | { code: string },
): PromotionCode | null {
  const codes = state.promotionCodes ?? [];
  if ("id" in by) return codes.find(({ id }) => id === by.id) ?? null;
  return codes.find(({ code, isActive }) => isActive && code.toUpperCase() === by.code.toUpperCase()) ?? null;
}

/** Whether it can be redeemed now. */
export function isRedeemable(
  slot: ProviderSlot,
  { maxRedemptions, timesRedeemed, expiresAtSeconds }: Coupon | PromotionCode,
): boolean {
  const isUsedUp = maxRedemptions !== null && timesRedeemed >= maxRedemptions;
  return !isUsedUp && (expiresAtSeconds === null || nowSeconds(slot) < expiresAtSeconds);
}

/** The discount of a subscription that starts now. */
export function discountNow(
  slot: ProviderSlot,
  rule: DiscountRule,
  { promotionCodeId, trialDays }: { promotionCodeId: string | null; trialDays: number },
): Discount {
  const startsAtSeconds = nowSeconds(slot);
  const firstPaymentSeconds = startsAtSeconds + trialDays * DAY_SECONDS;
  return discountFrom(rule, promotionCodeId, { startsAtSeconds, firstPaymentSeconds });
}

/** Counts a redemption, when a subscription gets the discount. */
export function countRedemption(slot: ProviderSlot, { id, promotionCodeId }: Discount): void {
  const code = promotionCodeId === null ? null : findPromotionCode(slot, { id: promotionCodeId });
  for (const redeemable of [findCoupon(slot, id), code]) if (redeemable) redeemable.timesRedeemed += 1;
}
