import type { Json } from "../http/json-body.ts";
import type { Discount } from "../lifecycle/discount.ts";
import type { Offer } from "../lifecycle/offer.ts";
import type { ProviderSlot } from "../server/provider-slot.ts";
import { discountNow, findCoupon, isRedeemable } from "../server/redeem.ts";
import { invalidField, noEntity, PaddleProblem } from "./errors.ts";

/** The discount that a request names; `null`: none. */
export function requestedDiscount(
  slot: ProviderSlot,
  id: Json,
  field: string,
  offer: Offer,
): Discount | null {
  const discountId = id.text();
  if (discountId === null) return null;
  const coupon = findCoupon(slot, discountId);
  if (coupon === null) throw noEntity(discountId);
  if (!isRedeemable(slot, coupon))
    throw new PaddleProblem(400, "discount_expired", `discount ${discountId} cannot be used any more`);
  if (coupon.currency !== null && coupon.currency !== offer.currency)
    throw invalidField(field, "the discount has another currency");
  // It recurs for billing periods.
  const months = coupon.months === null ? null : coupon.months * (offer.interval === "year" ? 12 : 1);
  return discountNow(slot, { ...coupon, months }, { promotionCodeId: null, trialDays: 0 });
}
