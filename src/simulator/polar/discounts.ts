import { randomUUID } from "node:crypto";
import { type Context, Hono } from "hono";
import type { Json } from "../http/json-body.ts";
import type { Coupon } from "../lifecycle/coupon.ts";
import { findOffer, nowSeconds, type ProviderSlot } from "../server/provider-slot.ts";
import { findCoupon, findCouponByCode } from "../server/redeem.ts";
import { discountJson } from "./discount-document.ts";
import { notFound, readBody, unprocessable } from "./errors.ts";
import { inRequestedOrder, numberedPage } from "./page.ts";

/** https://polar.sh/docs/api-reference/discounts */
export function polarDiscounts(slot: ProviderSlot): Hono {
  const app = new Hono();
  app.post("/discounts/", async (c) => {
    const discount = discountIn(slot, await readBody(c));
    slot.state.coupons.push(discount);
    slot.changed();
    return c.json(discountJson(slot, discount), 201);
  });
  app.get("/discounts/", (c) => {
    const name = c.req.query("query")?.toLowerCase() ?? "";
    const listed = slot.state.coupons
      .filter(({ isDeleted }) => !isDeleted)
      .filter((discount) => discount.name?.toLowerCase().includes(name) ?? name === "");
    return numberedPage(c, inRequestedOrder(c, listed), (discount) => discountJson(slot, discount));
  });
  app.get("/discounts/:id", (c) => c.json(discountJson(slot, requireDiscount(slot, c))));
  app.patch("/discounts/:id", async (c) => {
    const discount = requireDiscount(slot, c);
    const fields = await readBody(c);
    discount.name = fields.at("name").text() ?? discount.name;
    if (fields.has("code")) discount.code = codeIn(slot, fields, discount);
    if (fields.has("metadata")) discount.data = fields.at("metadata").entries();
    if (fields.has("starts_at")) discount.startsAtSeconds = secondsIn(fields, "starts_at");
    if (fields.has("ends_at")) discount.expiresAtSeconds = secondsIn(fields, "ends_at");
    if (fields.has("max_redemptions")) discount.maxRedemptions = redemptionsIn(fields);
    if (fields.has("products")) discount.priceIds = productsIn(slot, fields);
    slot.changed();
    return c.json(discountJson(slot, discount));
  });
  // Subscriptions that have it keep it.
  app.delete("/discounts/:id", (c) => {
    requireDiscount(slot, c).isDeleted = true;
    slot.changed();
    return c.body(null, 204);
  });
  return app;
}

function discountIn(slot: ProviderSlot, fields: Json): Coupon {
  const name = fields.at("name").text();
  if (name === null) throw unprocessable(["name"], "Field required", { type: "missing" });
  return {
    id: randomUUID(),
    name,
    code: codeIn(slot, fields, null),
    ...reductionIn(fields),
    months: monthsIn(fields),
    maxRedemptions: redemptionsIn(fields),
    timesRedeemed: 0,
    startsAtSeconds: secondsIn(fields, "starts_at"),
    expiresAtSeconds: secondsIn(fields, "ends_at"),
    priceIds: productsIn(slot, fields),
    data: fields.at("metadata").entries(),
    isDeleted: false,
    createdAtSeconds: nowSeconds(slot),
  };
}

function reductionIn(fields: Json): Pick<Coupon, "percentOff" | "amountOff" | "currency"> {
  const points = fields.at("basis_points").wholeNumber();
  if (points !== null) {
    if (!(points >= 1 && points <= 10_000))
      throw unprocessable(["basis_points"], "Input should be between 1 and 10000");
    return { percentOff: points / 100, amountOff: null, currency: null };
  }
  const [[ofCurrency] = [], ...others] = Object.entries(fields.at("amounts").entries());
  if (others.length > 0)
    throw unprocessable(["amounts"], "The simulated prices have one currency: give one amount.");
  const amount = ofCurrency === undefined ? fields.at("amount") : fields.at("amounts").at(ofCurrency);
  const amountOff = amount.wholeNumber();
  if (amountOff === null) throw unprocessable([], "Must specify either `amount` or `amounts`.");
  if (!(amountOff >= 0)) throw unprocessable(["amount"], "Input should be greater than or equal to 0");
  const currency = ofCurrency ?? fields.at("currency").text() ?? "usd";
  return { percentOff: null, amountOff, currency: currency.toUpperCase() };
}

function monthsIn(fields: Json): number | null {
  const months = fields.at("duration_in_months").wholeNumber();
  if (fields.at("duration").text() !== "repeating")
    return fields.at("duration").text() === "forever" ? null : 0;
  if (!(months !== null && months >= 1 && months <= 999))
    throw unprocessable([], "`duration_in_months` is required when `duration` is `repeating`.");
  return months;
}

function codeIn(slot: ProviderSlot, fields: Json, discount: Coupon | null): string | null {
  const code = fields.at("code").text();
  if (code === null) return null;
  if (!/^[\p{L}\p{N}]{3,256}$/u.test(code))
    throw unprocessable(["code"], "Code must be 3 to 256 alphanumeric characters.");
  const existing = findCouponByCode(slot, code);
  if (existing !== null && existing !== discount)
    throw unprocessable(["code"], "Discount with this code already exists.");
  return code;
}

function productsIn(slot: ProviderSlot, fields: Json): string[] | null {
  const productIds = fields.at("products").texts();
  const unknown = productIds.findIndex((productId) => findOffer(slot, productId) === null);
  if (unknown >= 0) throw unprocessable(["products", unknown], "Product does not exist.");
  return productIds.length === 0 ? null : productIds;
}

function redemptionsIn(fields: Json): number | null {
  const count = fields.at("max_redemptions").wholeNumber();
  if (count !== null && !(count >= 1))
    throw unprocessable(["max_redemptions"], "Input should be greater than or equal to 1");
  return count;
}

function secondsIn(fields: Json, name: string): number | null {
  const seconds = fields.at(name).epochSeconds();
  if (Number.isNaN(seconds)) throw unprocessable([name], "Input should be a valid datetime");
  return seconds;
}

function requireDiscount(slot: ProviderSlot, c: Context): Coupon {
  const discount = findCoupon(slot, c.req.param("id") ?? "");
  if (discount === null) throw notFound();
  return discount;
}
