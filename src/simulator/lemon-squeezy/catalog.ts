import { Hono } from "hono";
import { firstOffers, type Offer } from "../lifecycle/offer.ts";
import { findOffer, type ProviderSlot } from "../server/provider-slot.ts";
import { price, product, STORE_ID, store, variant } from "./documents.ts";
import { document, notFound } from "./errors.ts";
import { priceIdOf, productIdOf } from "./names.ts";
import { isAllowed, numberedPage } from "./page.ts";

/** The only store, and its products, variants and prices, which the plans define. */
export function lemonSqueezyCatalog(slot: ProviderSlot): Hono {
  const app = new Hono();
  const find = (matches: (offer: Offer) => boolean): Offer => {
    const offer = slot.offers.find(matches);
    if (!offer) throw notFound();
    return offer;
  };
  app.get("/stores", (c) => numberedPage(c, slot, [slot], store));
  app.get("/stores/:id", (c) => {
    if (c.req.param("id") !== STORE_ID) throw notFound();
    return document(c, { data: store(slot) });
  });
  app.get("/products", (c) => {
    const listed = firstOffers(slot.offers).filter(isAllowed(c, "store_id", () => STORE_ID));
    return numberedPage(c, slot, listed, (offer) => product(slot, offer));
  });
  app.get("/products/:id", (c) =>
    document(c, {
      data: product(
        slot,
        find((offer) => productIdOf(offer) === c.req.param("id")),
      ),
    }),
  );
  app.get("/variants", (c) => {
    const listed = slot.offers.filter(isAllowed(c, "product_id", (offer) => productIdOf(offer)));
    return numberedPage(c, slot, listed, (offer) => variant(slot, offer));
  });
  app.get("/variants/:id", (c) => {
    const offer = findOffer(slot, c.req.param("id"));
    if (!offer) throw notFound();
    return document(c, { data: variant(slot, offer) });
  });
  app.get("/prices", (c) => {
    const listed = slot.offers.filter(isAllowed(c, "variant_id", ({ priceId }) => priceId));
    return numberedPage(c, slot, listed, (offer) => price(slot, offer));
  });
  app.get("/prices/:id", (c) =>
    document(c, {
      data: price(
        slot,
        find((offer) => priceIdOf(offer) === c.req.param("id")),
      ),
    }),
  );
  return app;
}
