import { randomBytes } from "node:crypto";
import { type Context, Hono } from "hono";
import { type Form, readForm } from "../http/form.ts";
import { matches } from "../http/matches.ts";
import type { PromotionCode } from "../lifecycle/coupon.ts";
import { findCustomer, nowSeconds, type ProviderSlot } from "../server/provider-slot.ts";
import { findCoupon, findPromotionCode, isRedeemable } from "../server/redeem.ts";
import { mergedMetadata } from "./customers.ts";
import { invalid, missing } from "./errors.ts";
import { isCreatedWithin, listResponse } from "./page.ts";

/** https://docs.stripe.com/api/promotion_codes */
export function stripePromotionCodes(slot: ProviderSlot): Hono {
  const app = new Hono();
  app.post("/", async (c) => {
    const promotionCode = promotionCodeIn(slot, await readForm(c));
    slot.state.promotionCodes.push(promotionCode);
    slot.changed();
    return c.json(promotionCodeJson(slot, promotionCode));
  });
  app.get("/", (c) => {
    const code = c.req.query("code");
    const listed = slot.state.promotionCodes
      .filter((listedCode) => code === undefined || listedCode.code.toUpperCase() === code.toUpperCase())
      .filter(matches(c, "coupon", ({ couponId }) => couponId))
      .filter(matches(c, "customer", ({ customerId }) => customerId))
      .filter(matches(c, "active", (listedCode) => String(isActive(slot, listedCode))))
      .filter(isCreatedWithin(c, ({ createdAtSeconds }) => createdAtSeconds));
    return listResponse(c, listed.toReversed(), {
      object: "promotion_code",
      url: "/v1/promotion_codes",
      idOf: ({ id }) => id,
      show: (listedCode) => promotionCodeJson(slot, listedCode),
    });
  });
  app.get("/:id", (c) => c.json(promotionCodeJson(slot, requirePromotionCode(slot, c))));
  app.post("/:id", async (c) => {
    const promotionCode = requirePromotionCode(slot, c);
    const form = await readForm(c);
    if (form.has("active")) promotionCode.isActive = form.text("active") === "true";
    promotionCode.data = mergedMetadata(promotionCode.data, form);
    slot.changed();
    return c.json(promotionCodeJson(slot, promotionCode));
  });
  return app;
}

/** A code that is used up or expired is inactive. */
export function isActive(slot: ProviderSlot, promotionCode: PromotionCode): boolean {
  const coupon = findCoupon(slot, promotionCode.couponId);
  return (
    promotionCode.isActive &&
    isRedeemable(slot, promotionCode) &&
    coupon !== null &&
    isRedeemable(slot, coupon)
  );
}

export function promotionCodeJson(slot: ProviderSlot, promotionCode: PromotionCode): object {
  const { id, code, couponId, customerId, maxRedemptions, timesRedeemed } = promotionCode;
  return {
    id,
    object: "promotion_code",
    active: isActive(slot, promotionCode),
    code,
    created: promotionCode.createdAtSeconds,
    customer: customerId,
    customer_account: null,
    expires_at: promotionCode.expiresAtSeconds,
    livemode: false,
    metadata: promotionCode.data,
    max_redemptions: maxRedemptions,
    times_redeemed: timesRedeemed,
    promotion: { coupon: couponId, type: "coupon" },
    restrictions: {
      first_time_transaction: false,
      minimum_amount: null,
      minimum_amount_currency: null,
    },
  };
}

function promotionCodeIn(slot: ProviderSlot, form: Form): PromotionCode {
  const couponId = form.text("promotion[coupon]");
  if (couponId === null)
    throw invalid("Missing required param: promotion[coupon].", "promotion[coupon]", "parameter_missing");
  if (findCoupon(slot, couponId) === null) throw missing("coupon", couponId, "promotion[coupon]", 400);
  const code = form.text("code") ?? randomBytes(4).toString("hex").toUpperCase();
  if (findPromotionCode(slot, { code }))
    throw invalid(`An active promotion code with \`code: ${code}\` already exists.`, "code");
  const customerId = form.text("customer");
  if (customerId !== null && findCustomer(slot, customerId) === null)
    throw missing("customer", customerId, "customer", 400);
  return {
    id: `promo_${randomBytes(12).toString("hex")}`,
    code,
    couponId,
    customerId,
    isActive: form.text("active") !== "false",
    timesRedeemed: 0,
    maxRedemptions: form.wholeNumber("max_redemptions"),
    data: form.entries("metadata"),
    expiresAtSeconds: form.wholeNumber("expires_at"),
    createdAtSeconds: nowSeconds(slot),
  };
}

function requirePromotionCode(slot: ProviderSlot, c: Context): PromotionCode {
  const id = c.req.param("id") ?? "";
  const promotionCode = findPromotionCode(slot, { id });
  if (promotionCode === null) throw missing("promotion code", id, "promotion_code");
  return promotionCode;
}
