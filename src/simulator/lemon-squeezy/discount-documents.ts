import type { Coupon, Redemption } from "../lifecycle/coupon.ts";
import { rfc3339 } from "../rfc3339.ts";
import type { ProviderSlot } from "../server/provider-slot.ts";
import { isRedeemable } from "../server/redeem.ts";
import { STORE_ID } from "./documents.ts";
import { numberOf, orderIdOf } from "./names.ts";

/** https://docs.lemonsqueezy.com/api/discounts */
export function discountDocument(slot: ProviderSlot, discount: Coupon): object {
  const { id, name, code, months, maxRedemptions, startsAtSeconds = null, expiresAtSeconds } = discount;
  const createdAt = rfc3339(discount.createdAtSeconds);
  return {
    type: "discounts",
    id,
    attributes: {
      store_id: Number(STORE_ID),
      name,
      code,
      ...reductionOf(discount),
      is_limited_to_products: (discount.priceIds ?? null) !== null,
      is_limited_redemptions: maxRedemptions !== null,
      max_redemptions: maxRedemptions ?? 0,
      starts_at: startsAtSeconds === null ? null : rfc3339(startsAtSeconds),
      expires_at: expiresAtSeconds === null ? null : rfc3339(expiresAtSeconds),
      duration: months === null ? "forever" : months === 0 ? "once" : "repeating",
      duration_in_months: months || 1,
      status: "published",
      status_formatted: isRedeemable(slot, discount) ? "Published" : "Expired",
      created_at: createdAt,
      updated_at: createdAt,
      test_mode: true,
    },
    links: { self: `${slot.url()}/v1/discounts/${id}` },
  };
}

/** https://docs.lemonsqueezy.com/api/discount-redemptions */
export function redemptionDocument(slot: ProviderSlot, redemption: Redemption): object {
  const discount = slot.state.coupons.find(({ id }) => id === redemption.couponId);
  const reduction = discount && reductionOf(discount);
  const at = rfc3339(redemption.atSeconds);
  const id = redemptionIdOf(redemption);
  return {
    type: "discount-redemptions",
    id,
    attributes: {
      discount_id: Number(redemption.couponId),
      order_id: Number(orderIdOf(redemption)),
      discount_name: discount?.name ?? "",
      discount_code: discount?.code ?? "",
      discount_amount: reduction?.amount ?? 0,
      discount_amount_type: reduction?.amount_type ?? "fixed",
      amount: redemption.amount,
      created_at: at,
      updated_at: at,
    },
    links: { self: `${slot.url()}/v1/discount-redemptions/${id}` },
  };
}

export function redemptionIdOf({ subscriptionId }: Redemption): string {
  return numberOf(`redemption ${subscriptionId}`);
}

function reductionOf({ percentOff, amountOff }: Coupon) {
  return percentOff === null
    ? { amount: amountOff ?? 0, amount_type: "fixed" }
    : { amount: percentOff, amount_type: "percent" };
}
