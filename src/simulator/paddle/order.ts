import type { Json } from "../http/json-body.ts";
import { isWebUrl } from "../http/web-url.ts";
import { findOffer, type ProviderSlot } from "../server/provider-slot.ts";
import { requireCustomer } from "./customers.ts";
import { invalidField, PaddleProblem } from "./errors.ts";
import { requestedDiscount } from "./requested-discount.ts";

/** What a request for a transaction orders. */
export function orderOf(slot: ProviderSlot, order: Json) {
  const item = order.at("items").at(0);
  const priceId = item.at("price_id").text();
  if (priceId === null) throw invalidField("items.0.price_id", "is required");
  const offer = findOffer(slot, priceId);
  if (!offer) {
    throw new PaddleProblem(400, "transaction_price_not_found", `price ${priceId} not found`);
  }
  const seats = item.at("quantity").wholeNumber() ?? 1;
  const { min, max } = offer.seats;
  if (!(seats >= min && seats <= max)) {
    throw new PaddleProblem(
      400,
      "transaction_item_quantity_out_of_range",
      `quantity must be between ${min} and ${max}`,
    );
  }
  const customerId = order.at("customer_id").text();
  // Stands in for the seller's page with the checkout, from which people return to the seller.
  const page = order.at("checkout").at("url").text();
  if (page !== null && !isWebUrl(page)) throw invalidField("checkout.url", "must be a valid URL");
  const customData = order.at("custom_data").entries();
  return {
    offer,
    seats,
    discount: requestedDiscount(slot, order.at("discount_id"), "discount_id", offer),
    data: customData,
    subscriptionData: customData,
    email: customerId === null ? null : requireCustomer(slot, customerId).email,
    customerId,
    externalId: null,
    successUrl: page,
    cancelUrl: page,
  };
}
