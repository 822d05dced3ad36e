import { randomBytes } from "node:crypto";
import { type Context, Hono } from "hono";
import type { Json } from "../http/json-body.ts";
import { matchesAny } from "../http/matches.ts";
import type { Coupon } from "../lifecycle/coupon.ts";
import { rfc3339 } from "../rfc3339.ts";
import { nowSeconds, type ProviderSlot } from "../server/provider-slot.ts";
import { isRedeemable } from "../server/redeem.ts";
import { body } from "./body.ts";
import { data, invalidField, noEntity } from "./errors.ts";
import { cursorPage } from "./page.ts";

/** https://developer.paddle.com/api-reference/discounts */
export function paddleDiscounts(slot: ProviderSlot): Hono {
  const app = new Hono();
  app.post("/", async (c) => {
    const discount = discountIn(slot, await body(c));
    slot.state.coupons.push(discount);
    slot.changed();
    return data(c, discountJson(slot, discount), 201);
  });
  app.get("/", (c) => {
    const listed = slot.state.coupons
      .filter(matchesAny(c, "status", (discount) => statusOf(slot, discount)))
      .filter(matchesAny(c, "code", ({ code = null }) => code));
    return cursorPage(c, slot, listed, {
      path: "/discounts",
      idOf: ({ id }) => id,
      show: (discount) => discountJson(slot, discount),
    });
  });
  app.get("/:id", (c) => data(c, discountJson(slot, requireDiscount(slot, c))));
  app.patch("/:id", async (c) => {
    const discount = requireDiscount(slot, c);
    const fields = await body(c);
    if (fields.has("description")) discount.name = fields.at("description").text();
    if (fields.has("custom_data")) discount.data = fields.at("custom_data").entries();
    if (fields.has("status")) discount.isDeleted = fields.at("status").text() === "archived";
    slot.changed();
    return data(c, discountJson(slot, discount));
  });
  return app;
}

function discountIn(slot: ProviderSlot, fields: Json): Coupon {
  const amount = Number(fields.at("amount").text() ?? Number.NaN);
  if (!(amount > 0)) throw invalidField("amount", "must be greater than 0");
  const isPercentage = fields.at("type").text() === "percentage";
  if (!isPercentage && fields.at("currency_code").text() === null)
    throw invalidField("currency_code", "is required for a flat discount");
  const expiresAtSeconds = fields.at("expires_at").epochSeconds();
  if (Number.isNaN(expiresAtSeconds)) throw invalidField("expires_at", "must be a valid date-time");
  return {
    id: `dsc_${randomBytes(13).toString("hex")}`,
    name: fields.at("description").text(),
    code: fields.at("code").text(),
    percentOff: isPercentage ? amount : null,
    amountOff: isPercentage ? null : amount,
    currency: isPercentage ? null : fields.at("currency_code").text(),
    // Of billing periods here: a year's is twelve months.
    months: fields.at("recur").flag() ? fields.at("maximum_recurring_intervals").wholeNumber() : 0,
    maxRedemptions: fields.at("usage_limit").wholeNumber(),
    timesRedeemed: 0,
    isDeleted: false,
    createdAtSeconds: nowSeconds(slot),
    expiresAtSeconds,
    data: fields.at("custom_data").entries(),
  };
}

function discountJson(slot: ProviderSlot, discount: Coupon): object {
  const { id, name, code = null, percentOff, amountOff, currency, months, createdAtSeconds } = discount;
  const createdAt = rfc3339(createdAtSeconds);
  return {
    id,
    status: statusOf(slot, discount),
    description: name ?? "",
    code,
    mode: "standard",
    enabled_for_checkout: true,
    type: percentOff === null ? "flat" : "percentage",
    amount: String(percentOff ?? amountOff),
    currency_code: currency,
    recur: months !== 0,
    maximum_recurring_intervals: months || null,
    usage_limit: discount.maxRedemptions,
    restrict_to: null,
    custom_data: discount.data,
    times_used: discount.timesRedeemed,
    expires_at: discount.expiresAtSeconds === null ? null : rfc3339(discount.expiresAtSeconds),
    import_meta: null,
    discount_group_id: null,
    created_at: createdAt,
    updated_at: createdAt,
  };
}

function statusOf(slot: ProviderSlot, discount: Coupon): string {
  if (discount.isDeleted) return "archived";
  if (isRedeemable(slot, discount)) return "active";
  const { maxRedemptions, timesRedeemed } = discount;
  return maxRedemptions !== null && timesRedeemed >= maxRedemptions ? "used" : "expired";
}

function requireDiscount(slot: ProviderSlot, c: Context): Coupon {
  const id = c.req.param("id") ?? "";
  const discount = slot.state.coupons.find((coupon) => coupon.id === id);
  if (!discount) throw noEntity(id);
  return discount;
}
