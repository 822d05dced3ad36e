import type { Json } from "../http/json-body.ts";
import { isWebUrl } from "../http/web-url.ts";
import type { Discount } from "../lifecycle/discount.ts";
import type { Offer } from "../lifecycle/offer.ts";
import { findOffer, type ProviderSlot } from "../server/provider-slot.ts";
import { discountNow, findCouponByCode, isApplicable, isRedeemable } from "../server/redeem.ts";
import { STORE_ID } from "./documents.ts";
import { LemonSqueezyProblem } from "./errors.ts";

/** What a request for a checkout orders. */
export function orderOf(slot: ProviderSlot, order: Json) {
  const data = order.at("data");
  if (data.at("type").text() !== "checkouts") {
    throw new LemonSqueezyProblem(422, "The type field must be checkouts.", { pointer: "/data/type" });
  }
  const relations = data.at("relationships");
  const storeId = idOf(relations.at("store"));
  if (storeId === null) {
    throw new LemonSqueezyProblem(422, "The store field is required.", {
      pointer: "/data/relationships/store",
    });
  }
  const variantId = idOf(relations.at("variant"));
  const offer = variantId === null ? null : findOffer(slot, variantId);
  if (storeId !== STORE_ID || !offer) {
    const relation = storeId !== STORE_ID ? "store" : "variant";
    throw new LemonSqueezyProblem(404, "The related resource does not exist.", {
      pointer: `/data/relationships/${relation}`,
    });
  }
  const variants = data.at("attributes").at("product_options").at("enabled_variants");
  // The simulated checkout offers no other variant.
  if (variants.ids().some((id) => id !== variantId)) {
    throw new LemonSqueezyProblem(422, "Only the checkout's own variant can be enabled.", {
      pointer: "/data/attributes/product_options/enabled_variants",
    });
  }
  const filled = data.at("attributes").at("checkout_data");
  if (filled.at("variant_quantities").has("1")) {
    const problem =
      "A subscription has one variant. Further ones are alternatives, which the simulated checkout does not offer.";
    throw new LemonSqueezyProblem(422, problem, {
      pointer: "/data/attributes/checkout_data/variant_quantities/1",
    });
  }
  const custom = filled.at("custom").entries();
  const url = data.at("attributes").at("product_options").at("redirect_url").text();
  if (url !== null && !isWebUrl(url)) {
    const pointer = "/data/attributes/product_options/redirect_url";
    throw new LemonSqueezyProblem(422, "The redirect url must be a valid URL.", { pointer });
  }
  return {
    offer,
    seats: filled.at("variant_quantities").at(0).at("quantity").wholeNumber() || 1,
    discount: requestedDiscount(slot, filled.at("discount_code"), offer),
    allowPromotionCodes: data.at("attributes").at("checkout_options").at("discount").flag() ?? true,
    data: custom,
    subscriptionData: custom,
    email: filled.at("email").text(),
    customerId: null,
    externalId: null,
    expiresAtSeconds: expiry(slot, data.at("attributes").at("expires_at")),
    successUrl: url,
    cancelUrl: null,
  };
}

/** Of the code that the seller filled in; `null`: none. */
function requestedDiscount(slot: ProviderSlot, code: Json, offer: Offer): Discount | null {
  const entered = code.text();
  if (entered === null) return null;
  const coupon = findCouponByCode(slot, entered);
  if (coupon === null || !isApplicable(coupon, offer) || !isRedeemable(slot, coupon)) {
    const pointer = "/data/attributes/checkout_data/discount_code";
    throw new LemonSqueezyProblem(422, "The discount code is invalid.", { pointer });
  }
  return discountNow(slot, coupon, { promotionCodeId: null, trialDays: 0 });
}

/** The id of a relationship; JSON:API requires strings, but clients also send numbers. */
function idOf(relation: Json): string | null {
  const id = relation.at("data").at("id");
  return id.text() ?? id.wholeNumber()?.toString() ?? null;
}

/** Sellers use the machine's clock, and the provider's may be ahead of it. `null`: never. */
function expiry(slot: ProviderSlot, expiresAt: Json): number | null {
  const seconds = expiresAt.epochSeconds();
  if (Number.isNaN(seconds)) {
    throw new LemonSqueezyProblem(422, "The expires at is not a valid date.", {
      pointer: "/data/attributes/expires_at",
    });
  }
  return seconds === null ? null : seconds + (slot.nowMs() - Date.now()) / 1_000;
}
