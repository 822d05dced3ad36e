import type { Coupon } from "../lifecycle/coupon.ts";
import { rfc3339 } from "../rfc3339.ts";
import { findOffer, type ProviderSlot } from "../server/provider-slot.ts";
import { uuid } from "../uuid.ts";
import { polarProduct } from "./product.ts";

/** https://polar.sh/docs/api-reference/discounts */
export function discountJson(slot: ProviderSlot, discount: Coupon): object {
  const offers = (discount.priceIds ?? []).map((priceId) => findOffer(slot, priceId));
  return {
    ...purchaseDiscount(discount),
    products: offers.flatMap((offer) => (offer === null ? [] : [polarProduct(offer)])),
  };
}

/** As subscriptions and orders contain it. */
export function purchaseDiscount(discount: Coupon): object {
  const { startsAtSeconds = null, expiresAtSeconds, maxRedemptions, timesRedeemed, data } = discount;
  return {
    ...checkoutDiscount(discount),
    created_at: rfc3339(discount.createdAtSeconds),
    modified_at: null,
    metadata: data,
    starts_at: startsAtSeconds === null ? null : rfc3339(startsAtSeconds),
    ends_at: expiresAtSeconds === null ? null : rfc3339(expiresAtSeconds),
    max_redemptions: maxRedemptions,
    max_redemptions_per_customer: null,
    redemptions_count: timesRedeemed,
    organization_id: uuid("organization"),
  };
}

/** As checkouts contain it. */
export function checkoutDiscount(discount: Coupon): object {
  const { id, name, code = null, percentOff, amountOff, currency, months } = discount;
  const ofCurrency = currency?.toLowerCase() ?? "";
  return {
    id,
    name: name ?? "",
    code,
    duration: months === null ? "forever" : months === 0 ? "once" : "repeating",
    ...(months ? { duration_in_months: months } : {}),
    ...(percentOff === null
      ? { type: "fixed", amount: amountOff, currency: ofCurrency, amounts: { [ofCurrency]: amountOff } }
      : { type: "percentage", basis_points: Math.round(percentOff * 100) }),
  };
}
