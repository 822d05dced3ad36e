import { type Context, Hono } from "hono";
import type { Json } from "../http/json-body.ts";
import type { Coupon } from "../lifecycle/coupon.ts";
import { findOffer, nowSeconds, type ProviderSlot } from "../server/provider-slot.ts";
import { findCoupon, findCouponByCode } from "../server/redeem.ts";
import { discountDocument, redemptionDocument, redemptionIdOf } from "./discount-documents.ts";
import { STORE_ID } from "./documents.ts";
import { document, LemonSqueezyProblem, notFound, readBody } from "./errors.ts";
import { numberOf, orderIdOf } from "./names.ts";
import { isAllowed, numberedPage } from "./page.ts";

/** https://docs.lemonsqueezy.com/api/discounts and discount redemptions. A discount cannot be changed. */
export function lemonSqueezyDiscounts(slot: ProviderSlot): Hono {
  const app = new Hono();
  app.post("/discounts", async (c) => {
    const discount = discountIn(slot, (await readBody(c)).at("data"));
    slot.state.coupons.push(discount);
    slot.changed();
    return document(c, { data: discountDocument(slot, discount) }, 201);
  });
  app.get("/discounts", (c) => {
    const listed = slot.state.coupons
      .filter(({ isDeleted }) => !isDeleted)
      .filter(isAllowed(c, "store_id", () => STORE_ID));
    return numberedPage(c, slot, listed.toReversed(), (discount) => discountDocument(slot, discount));
  });
  app.get("/discounts/:id", (c) => document(c, { data: discountDocument(slot, requireDiscount(slot, c)) }));
  // Subscriptions that have it keep it.
  app.delete("/discounts/:id", (c) => {
    requireDiscount(slot, c).isDeleted = true;
    slot.changed();
    return c.body(null, 204);
  });
  app.get("/discount-redemptions", (c) => {
    const listed = slot.state.redemptions
      .filter(isAllowed(c, "discount_id", ({ couponId }) => couponId))
      .filter(isAllowed(c, "order_id", (redemption) => orderIdOf(redemption)));
    return numberedPage(c, slot, listed.toReversed(), (redemption) => redemptionDocument(slot, redemption));
  });
  app.get("/discount-redemptions/:id", (c) => {
    const id = c.req.param("id");
    const redemption = slot.state.redemptions.find((candidate) => redemptionIdOf(candidate) === id);
    if (!redemption) throw notFound();
    return document(c, { data: redemptionDocument(slot, redemption) });
  });
  return app;
}

function discountIn(slot: ProviderSlot, data: Json): Coupon {
  const attributes = data.at("attributes");
  const name = attributes.at("name").text();
  if (name === null) throw invalid("name", "is required");
  const amount = attributes.at("amount").wholeNumber();
  const isPercentage = attributes.at("amount_type").text() === "percent";
  if (!(amount !== null && amount >= 1 && (!isPercentage || amount <= 100)))
    throw invalid("amount", isPercentage ? "must be between 1 and 100" : "must be at least 1");
  const limitsRedemptions = attributes.at("is_limited_redemptions").flag() === true;
  return {
    id: numberOf(`${slot.state.run} discount ${slot.state.coupons.length}`),
    name,
    code: codeIn(slot, attributes),
    percentOff: isPercentage ? amount : null,
    amountOff: isPercentage ? null : amount,
    currency: null,
    months: monthsIn(attributes),
    timesRedeemed: 0,
    isDeleted: false,
    data: {},
    maxRedemptions: limitsRedemptions ? attributes.at("max_redemptions").wholeNumber() : null,
    startsAtSeconds: secondsIn(attributes, "starts_at"),
    expiresAtSeconds: secondsIn(attributes, "expires_at"),
    priceIds: attributes.at("is_limited_to_products").flag() === true ? variantsIn(slot, data) : null,
    createdAtSeconds: nowSeconds(slot),
  };
}

function codeIn(slot: ProviderSlot, attributes: Json): string {
  const code = attributes.at("code").text() ?? "";
  if (!/^[A-Z0-9]{3,256}$/.test(code))
    throw invalid("code", "must be 3 to 256 uppercase letters and numbers");
  if (findCouponByCode(slot, code) !== null) throw invalid("code", "has already been taken");
  return code;
}

function monthsIn(attributes: Json): number | null {
  const duration = attributes.at("duration").text() ?? "once";
  if (duration === "repeating") return attributes.at("duration_in_months").wholeNumber() ?? 1;
  return duration === "forever" ? null : 0;
}

function variantsIn(slot: ProviderSlot, data: Json): string[] {
  const variants = data.at("relationships").at("variants").at("data");
  const ids: string[] = [];
  for (let index = 0; variants.has(String(index)); index += 1) {
    const id = variants.at(index).at("id").text() ?? "";
    if (findOffer(slot, id) === null)
      throw new LemonSqueezyProblem(404, "The related resource does not exist.", {
        pointer: `/data/relationships/variants/data/${index}`,
      });
    ids.push(id);
  }
  return ids;
}

function secondsIn(attributes: Json, name: string): number | null {
  const seconds = attributes.at(name).epochSeconds();
  if (Number.isNaN(seconds)) throw invalid(name, "is not a valid date");
  return seconds;
}

function requireDiscount(slot: ProviderSlot, c: Context): Coupon {
  const discount = findCoupon(slot, c.req.param("id") ?? "");
  if (discount === null) throw notFound();
  return discount;
}

function invalid(name: string, problem: string): LemonSqueezyProblem {
  return new LemonSqueezyProblem(422, `The ${name.replaceAll("_", " ")} ${problem}.`, {
    pointer: `/data/attributes/${name}`,
  });
}
