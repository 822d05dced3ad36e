import { type Context, Hono } from "hono";
import { matchesAny } from "../http/matches.ts";
import { firstOffers, type Offer } from "../lifecycle/offer.ts";
import { findOffer, type ProviderSlot } from "../server/provider-slot.ts";
import { data, noEntity } from "./errors.ts";
import { cursorPage, isIncluded } from "./page.ts";
import { paddlePrice, paddleProduct, productIdOf } from "./price.ts";

/** Prices and products, which the plans define. https://developer.paddle.com/api-reference/prices */
export function paddleCatalog(slot: ProviderSlot): Hono {
  const app = new Hono();
  app.get("/prices", (c) => {
    const listed = slot.offers
      .filter(matchesAny(c, "product_id", (offer) => productIdOf(offer)))
      .filter(matchesAny(c, "status", () => "active"))
      .filter(matchesAny(c, "type", () => "standard"))
      .filter(matchesAny(c, "recurring", () => "true"));
    return cursorPage(c, slot, listed, {
      path: "/prices",
      idOf: ({ priceId }) => priceId,
      show: (offer) => priceJson(c, offer),
    });
  });
  app.get("/prices/:id", (c) => {
    const offer = findOffer(slot, c.req.param("id"));
    if (!offer) throw noEntity(c.req.param("id"));
    return data(c, priceJson(c, offer));
  });
  app.get("/products", (c) => {
    const listed = firstOffers(slot.offers)
      .filter(matchesAny(c, "status", () => "active"))
      .filter(matchesAny(c, "type", () => "standard"));
    return cursorPage(c, slot, listed, {
      path: "/products",
      idOf: (offer) => productIdOf(offer),
      show: (offer) => productJson(c, slot, offer),
    });
  });
  app.get("/products/:id", (c) => {
    const offer = slot.offers.find((candidate) => productIdOf(candidate) === c.req.param("id"));
    if (!offer) throw noEntity(c.req.param("id"));
    return data(c, productJson(c, slot, offer));
  });
  return app;
}

function priceJson(c: Context, offer: Offer): object {
  const price = paddlePrice(offer);
  return isIncluded(c, "product") ? { ...price, product: paddleProduct(offer) } : price;
}

function productJson(c: Context, { offers }: ProviderSlot, offer: Offer): object {
  const product = paddleProduct(offer);
  if (!isIncluded(c, "prices")) return product;
  const prices = offers.filter(({ planId }) => planId === offer.planId).map(paddlePrice);
  return { ...product, prices };
}
