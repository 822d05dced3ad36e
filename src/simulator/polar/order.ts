import type { Json } from "../http/json-body.ts";
import { isWebUrl } from "../http/web-url.ts";
import { findCustomer, findOffer, type ProviderSlot } from "../server/provider-slot.ts";
import { unprocessable } from "./errors.ts";
import { requestedDiscount } from "./requested-discount.ts";

/** What a request for a checkout orders. */
export function orderOf(slot: ProviderSlot, order: Json) {
  const productId = order.at("products").at(0).text();
  if (productId === null) throw unprocessable(["products"], "Field required");
  if (order.at("products").texts().length > 1)
    throw unprocessable(
      ["products", 1],
      "A subscription has one product. Further ones are alternatives, which the simulated checkout does not offer.",
    );
  const offer = findOffer(slot, productId);
  if (!offer) throw unprocessable(["products", 0], "Product does not exist.");
  const seats = order.at("seats").wholeNumber() ?? offer.seats.min;
  const { min, max } = offer.seats;
  if (!(seats >= min && seats <= max)) {
    throw unprocessable(["seats"], `Seats must be between ${min} and ${max}.`);
  }
  const customerId = order.at("customer_id").text();
  const customer = customerId === null ? null : findCustomer(slot, customerId);
  if (customerId !== null && customer === null)
    throw unprocessable(["customer_id"], "Customer does not exist.");
  const trialDays = trialDaysOf(order);
  const metadata = order.at("metadata").entries();
  return {
    offer,
    seats,
    trialDays,
    discount: requestedDiscount(slot, order, { offer, trialDays }),
    allowPromotionCodes: order.at("allow_discount_codes").flag() ?? true,
    data: metadata,
    subscriptionData: metadata,
    email: order.at("customer_email").text() ?? customer?.email ?? null,
    customerId,
    externalId: order.at("external_customer_id").text() ?? customer?.externalId ?? null,
    successUrl: webUrl(order, "success_url"),
    cancelUrl: webUrl(order, "return_url"),
  };
}

const INTERVAL_DAYS = new Map([
  ["day", 1],
  ["week", 7],
  ["month", 30],
  ["year", 365],
]);

function trialDaysOf(order: Json): number {
  const interval = order.at("trial_interval").text();
  const count = order.at("trial_interval_count").wholeNumber();
  if ((interval === null && count === null) || order.at("allow_trial").flag() === false) return 0;
  const days = INTERVAL_DAYS.get(interval ?? "");
  if (days === undefined)
    throw unprocessable(["trial_interval"], "Input should be 'day', 'week', 'month' or 'year'");
  if (!(count !== null && count >= 1 && count <= 1_000))
    throw unprocessable(["trial_interval_count"], "Input should be between 1 and 1000");
  return days * count;
}

export function webUrl(order: Json, name: string): string | null {
  const url = order.at(name).text();
  if (url !== null && !isWebUrl(url)) throw unprocessable([name], "Input should be a valid URL");
  return url;
}
