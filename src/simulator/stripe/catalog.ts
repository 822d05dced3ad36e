import { Hono } from "hono";
import { matches } from "../http/matches.ts";
import { firstOffers, type Offer } from "../lifecycle/offer.ts";
import { findOffer, type ProviderSlot } from "../server/provider-slot.ts";
import { missing } from "./errors.ts";
import { isCreatedWithin, listResponse } from "./page.ts";
import { CATALOG_CREATED_AT_SECONDS, stripePrice } from "./price.ts";

/** Prices and products, which the plans define. https://docs.stripe.com/api/prices */
export function stripeCatalog(slot: ProviderSlot): Hono {
  const app = new Hono();
  app.get("/prices", (c) => {
    const { active, type } = c.req.query();
    const listed = slot.offers
      .filter(matches(c, "product", productIdOf))
      .filter(matches(c, "currency", (offer) => offer.currency.toLowerCase()))
      .filter(matches(c, "recurring[interval]", (offer) => offer.interval))
      .filter(() => active !== "false" && type !== "one_time")
      .filter(isCreatedWithin(c, () => CATALOG_CREATED_AT_SECONDS));
    return listResponse(c, listed, {
      object: "price",
      url: "/v1/prices",
      idOf: ({ priceId }) => priceId,
      show: (offer) => stripePrice(offer),
    });
  });
  app.get("/prices/:id", (c) => {
    const offer = findOffer(slot, c.req.param("id"));
    if (!offer) throw missing("price", c.req.param("id"), "price");
    return c.json(stripePrice(offer));
  });
  app.get("/products", (c) => {
    const ids = [...new URL(c.req.url).searchParams].flatMap(([name, id]) =>
      name.startsWith("ids[") ? [id] : [],
    );
    const listed = firstOffers(slot.offers)
      .filter((offer) => ids.length === 0 || ids.includes(productIdOf(offer)))
      .filter(() => c.req.query("active") !== "false")
      .filter(isCreatedWithin(c, () => CATALOG_CREATED_AT_SECONDS));
    return listResponse(c, listed, {
      object: "product",
      url: "/v1/products",
      idOf: productIdOf,
      show: stripeProduct,
    });
  });
  app.get("/products/:id", (c) => {
    const product = findProduct(slot, c.req.param("id"));
    if (product === null) throw missing("product", c.req.param("id"), "id");
    return c.json(product);
  });
  return app;
}

export function findProduct(slot: ProviderSlot, id: string): object | null {
  const offer = slot.offers.find((candidate) => productIdOf(candidate) === id);
  return offer === undefined ? null : stripeProduct(offer);
}

function productIdOf({ planId }: Offer): string {
  return `prod_${planId}`;
}

function stripeProduct(offer: Offer): object {
  return {
    id: productIdOf(offer),
    object: "product",
    name: offer.planName,
    description: null,
    active: true,
    default_price: offer.priceId,
    created: CATALOG_CREATED_AT_SECONDS,
    updated: CATALOG_CREATED_AT_SECONDS,
    images: [],
    livemode: false,
    marketing_features: [],
    metadata: {},
    package_dimensions: null,
    shippable: null,
    statement_descriptor: null,
    tax_code: null,
    type: "service",
    unit_label: "seat",
    url: null,
  };
}
