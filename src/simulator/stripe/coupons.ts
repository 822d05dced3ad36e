import { randomBytes } from "node:crypto";
import { type Context, Hono } from "hono";
import { type Form, readForm } from "../http/form.ts";
import type { Coupon } from "../lifecycle/coupon.ts";
import { nowSeconds, type ProviderSlot } from "../server/provider-slot.ts";
import { findCoupon, isRedeemable } from "../server/redeem.ts";
import { mergedMetadata } from "./customers.ts";
import { invalid, missing } from "./errors.ts";
import { isCreatedWithin, listResponse } from "./page.ts";

/** https://docs.stripe.com/api/coupons */
export function stripeCoupons(slot: ProviderSlot): Hono {
  const app = new Hono();
  app.post("/", async (c) => {
    const coupon = couponIn(slot, await readForm(c));
    slot.state.coupons.push(coupon);
    slot.changed();
    return c.json(couponJson(slot, coupon));
  });
  app.get("/", (c) => {
    const listed = slot.state.coupons
      .filter(({ isDeleted }) => !isDeleted)
      .filter(isCreatedWithin(c, ({ createdAtSeconds }) => createdAtSeconds));
    return listResponse(c, listed.toReversed(), {
      object: "coupon",
      url: "/v1/coupons",
      idOf: ({ id }) => id,
      show: (coupon) => couponJson(slot, coupon),
    });
  });
  app.get("/:id", (c) => c.json(couponJson(slot, requireCoupon(slot, c))));
  app.post("/:id", async (c) => {
    const coupon = requireCoupon(slot, c);
    const form = await readForm(c);
    if (form.has("name")) coupon.name = form.text("name");
    coupon.data = mergedMetadata(coupon.data, form);
    slot.changed();
    return c.json(couponJson(slot, coupon));
  });
  // Subscriptions that have it keep it.
  app.delete("/:id", (c) => {
    const coupon = requireCoupon(slot, c);
    coupon.isDeleted = true;
    slot.changed();
    return c.json({ id: coupon.id, object: "coupon", deleted: true });
  });
  return app;
}

export function couponJson(slot: ProviderSlot, coupon: Coupon): object {
  const { id, name, percentOff, amountOff, currency, months, createdAtSeconds, data } = coupon;
  return {
    id,
    object: "coupon",
    amount_off: amountOff,
    percent_off: percentOff,
    name,
    metadata: data,
    currency: currency?.toLowerCase() ?? null,
    duration: months === null ? "forever" : months === 0 ? "once" : "repeating",
    duration_in_months: months || null,
    created: createdAtSeconds,
    livemode: false,
    redeem_by: coupon.expiresAtSeconds,
    max_redemptions: coupon.maxRedemptions,
    times_redeemed: coupon.timesRedeemed,
    valid: isRedeemable(slot, coupon),
  };
}

function couponIn(slot: ProviderSlot, form: Form): Coupon {
  const id = form.text("id") ?? randomBytes(4).toString("hex");
  if (findCoupon(slot, id)) throw invalid("Coupon already exists.", "id", "resource_already_exists");
  const amountOff = form.wholeNumber("amount_off");
  const percentOff = form.text("percent_off") === null ? null : Number(form.text("percent_off"));
  if ((amountOff === null) === (percentOff === null))
    throw invalid("You must pass either `percent_off` or `amount_off`.", "percent_off", "parameter_missing");
  if (percentOff !== null && !(percentOff > 0 && percentOff <= 100))
    throw invalid("Invalid percent_off: must be greater than 0 and at most 100.", "percent_off");
  if (amountOff !== null && !(amountOff >= 1))
    throw invalid(
      "This value must be greater than or equal to 1.",
      "amount_off",
      "parameter_invalid_integer",
    );
  const currency = form.text("currency")?.toUpperCase() ?? null;
  if (amountOff !== null && currency === null)
    throw invalid("Must provide currency when passing amount_off.", "currency", "parameter_missing");
  return {
    id,
    name: form.text("name"),
    percentOff,
    amountOff,
    currency,
    months: monthsIn(form),
    maxRedemptions: form.wholeNumber("max_redemptions"),
    timesRedeemed: 0,
    isDeleted: false,
    expiresAtSeconds: form.wholeNumber("redeem_by"),
    createdAtSeconds: nowSeconds(slot),
    data: form.entries("metadata"),
  };
}

function monthsIn(form: Form): number | null {
  const duration = form.text("duration") ?? "once";
  const months = form.wholeNumber("duration_in_months");
  if (duration !== "repeating") return duration === "forever" ? null : 0;
  if (months === null || !(months >= 1))
    throw invalid(
      "You must pass duration_in_months when passing duration=repeating.",
      "duration_in_months",
      "parameter_missing",
    );
  return months;
}

function requireCoupon(slot: ProviderSlot, c: Context): Coupon {
  const id = c.req.param("id") ?? "";
  const coupon = findCoupon(slot, id);
  if (coupon === null) throw missing("coupon", id, "coupon");
  return coupon;
}
