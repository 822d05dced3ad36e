import type { Context, MiddlewareHandler } from "hono";
import { subscriptionJson } from "../server/event-context.ts";
import { findCustomer, findSubscription, type ProviderSlot } from "../server/provider-slot.ts";
import { findCoupon, findPromotionCode } from "../server/redeem.ts";
import { findProduct } from "./catalog.ts";
import { couponJson } from "./coupons.ts";
import { stripeCustomer } from "./customers.ts";
import { discountId, discountJson } from "./discount.ts";
import { invoiceOf, paymentsOfInvoice } from "./invoices.ts";
import { confirmationSecret } from "./open-invoices.ts";
import { promotionCodeJson } from "./promotion-codes.ts";
import { lineItemsOf } from "./sessions.ts";

type JsonObject = Record<string, unknown>;

/**
 * Replaces ids by their objects where a request asks for it. https://docs.stripe.com/api/expanding_objects
 */
export function expandResponses(slot: ProviderSlot): MiddlewareHandler {
  return async (c, next) => {
    await next();
    const paths = await requestedPaths(c);
    if (paths.length === 0 || !c.res.ok) return;
    const body: unknown = await c.res.json();
    for (const path of paths) expandAt(slot, body, path.split("."));
    c.res = new Response(JSON.stringify(body), c.res);
  };
}

async function requestedPaths(c: Context): Promise<string[]> {
  const query = new URL(c.req.url).searchParams;
  const fields = c.req.method === "GET" ? [] : new URLSearchParams(await c.req.text());
  return [...query, ...fields].flatMap(([name, path]) => (/^expand\[\d*\]$/.test(name) ? [path] : []));
}

function expandAt(slot: ProviderSlot, value: unknown, [field, ...rest]: readonly string[]): void {
  if (field === undefined || typeof value !== "object" || value === null) return;
  if (Array.isArray(value)) {
    for (const element of value) expandAt(slot, element, [field, ...rest]);
    return;
  }
  const object = value as JsonObject;
  object[field] = expandedField(slot, object, field);
  expandAt(slot, object[field], rest);
}

function expandedField(slot: ProviderSlot, object: JsonObject, field: string): unknown {
  const id = object[field];
  if (field === "discounts" && Array.isArray(id)) return id.map((discount) => discountOf(slot, discount));
  if (field === "line_items") return lineItemsOf(slot, String(object.id));
  if (field === "confirmation_secret")
    return object.status === "open" ? confirmationSecret(String(object.id)) : null;
  if (field === "payments") return paymentsOfInvoice(slot, String(object.id));
  return (typeof id === "string" && resolve(slot, field, id)) || id;
}

/** A session's names only what was redeemed; of a subscription it may have been replaced since. */
function discountOf(slot: ProviderSlot, id: unknown): unknown {
  for (const { ids, state } of slot.state.subscriptions)
    if (state.discount && discountId(ids, state.discount) === id) return discountJson(ids, state.discount);
  return id;
}

function resolve(slot: ProviderSlot, field: string, id: string): object | null {
  switch (field) {
    case "customer": {
      const customer = findCustomer(slot, id);
      return customer && stripeCustomer(customer);
    }
    case "subscription": {
      const subscription = findSubscription(slot, id);
      return subscription && subscriptionJson(slot, subscription);
    }
    case "latest_invoice":
    case "invoice":
      return invoiceOf(slot, id);
    case "coupon": {
      const coupon = findCoupon(slot, id);
      return coupon && couponJson(slot, coupon);
    }
    case "promotion_code": {
      const code = findPromotionCode(slot, { id });
      return code && promotionCodeJson(slot, code);
    }
    case "product":
      return findProduct(slot, id);
    default:
      return null;
  }
}
