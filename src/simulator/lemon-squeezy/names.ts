import { hash } from "node:crypto";
import type { Offer } from "../lifecycle/offer.ts";
import type { EventContext } from "../renderer.ts";

export function nameOf(context: EventContext): string {
  return context.checkout ? context.checkout.email : context.ids.userId;
}

/** The same 14 digits for the same name. */
export function numberOf(name: string): string {
  return String(10 ** 13 + (Number.parseInt(hash("sha256", name, "hex").slice(0, 11), 16) % (9 * 10 ** 13)));
}

export function orderIdOf({ subscriptionId }: Pick<EventContext["ids"], "subscriptionId">): string {
  return numberOf(`order ${subscriptionId}`);
}

export function productIdOf({ planId }: Pick<Offer, "planId">): string {
  return numberOf(`product ${planId}`);
}

export function priceIdOf({ priceId }: Pick<Offer, "priceId">): string {
  return numberOf(`price ${priceId}`);
}
