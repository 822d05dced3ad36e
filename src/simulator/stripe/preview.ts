import type { Handler } from "hono";
import { readForm } from "../http/form.ts";
import { proratedAmount } from "../lifecycle/prorated-amount.ts";
import { findOffer, findSubscription, nowSeconds, type ProviderSlot } from "../server/provider-slot.ts";
import { missing } from "./errors.ts";

/** https://docs.stripe.com/api/invoices/create_preview */
export function invoicePreview(slot: ProviderSlot): Handler {
  return async (c) => {
    const form = await readForm(c);
    const id = form.text("subscription") ?? "";
    const before = findSubscription(slot, id);
    if (before === null) throw missing("subscription", id, "subscription", 400);
    const priceId = form.text("subscription_details[items][0][price]") ?? before.state.offer.priceId;
    const offer = findOffer(slot, priceId);
    if (!offer) throw missing("price", priceId, "subscription_details[items][0][price]", 400);
    const seats = form.wholeNumber("subscription_details[items][0][quantity]");
    return c.json({
      ...{ object: "invoice", subscription: id, currency: offer.currency.toLowerCase() },
      // Without prorations it is the next renewal's.
      amount_due:
        form.text("subscription_details[proration_behavior]") === "none"
          ? offer.amount * (seats ?? before.state.seats)
          : proratedAmount(before.state, offer, seats, nowSeconds(slot)),
    });
  };
}
