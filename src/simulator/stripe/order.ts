import type { Form } from "../http/form.ts";
import { isWebUrl } from "../http/web-url.ts";
import { findCustomer, findOffer, nowSeconds, type ProviderSlot } from "../server/provider-slot.ts";
import { invalid, missing } from "./errors.ts";
import { requestedDiscount } from "./requested-discount.ts";

/** What a request for a checkout session orders. */
export function orderOf(slot: ProviderSlot, form: Form) {
  const priceId = form.text("line_items[0][price]");
  if (form.text("mode") !== "subscription") throw invalid("You must provide mode=subscription here.", "mode");
  if (!priceId) throw invalid("Missing required param: line_items[0][price].", "line_items[0][price]");
  const offer = findOffer(slot, priceId);
  if (!offer) throw missing("price", priceId, "line_items[0][price]", 400);
  const seats = form.wholeNumber("line_items[0][quantity]") ?? 1;
  if (!(seats >= 1))
    throw invalid("Invalid integer: quantity must be at least 1.", "line_items[0][quantity]");
  const customerId = form.text("customer");
  if (customerId && !findCustomer(slot, customerId)) throw missing("customer", customerId, "customer", 400);
  const email = form.text("customer_email");
  if (customerId && email)
    throw invalid("You may only specify one of these parameters: customer, customer_email.");
  const expiresAtSeconds = form.wholeNumber("expires_at");
  if (expiresAtSeconds !== null && !isAllowedExpiry(expiresAtSeconds - nowSeconds(slot)))
    throw invalid(
      "The `expires_at` timestamp must be between 30 minutes and 24 hours from Checkout Session creation.",
      "expires_at",
    );
  const trialDays = trialDaysIn(form, "subscription_data[trial_period_days]");
  const allowPromotionCodes = isTrue(form.text("allow_promotion_codes"));
  const discount = requestedDiscount(slot, form, { offer, customerId, trialDays });
  if (discount !== null && allowPromotionCodes !== null)
    throw invalid("You may only specify one of these parameters: allow_promotion_codes, discounts.");
  const successUrl = webUrl(form, "success_url");
  if (!successUrl) throw invalid("You must provide a success_url.", "success_url");
  return {
    offer,
    seats,
    trialDays,
    // A session's metadata is not copied: the subscription's is a separate parameter.
    data: form.entries("metadata"),
    subscriptionData: form.entries("subscription_data[metadata]"),
    email: email ?? (customerId ? (findCustomer(slot, customerId)?.email ?? null) : null),
    customerId,
    externalId: referenceIn(form),
    expiresAtSeconds,
    allowPromotionCodes,
    discount,
    successUrl,
    cancelUrl: webUrl(form, "cancel_url"),
  };
}

/** https://docs.stripe.com/api/checkout/sessions/create#create_checkout_session-client_reference_id */
function referenceIn(form: Form): string | null {
  const name = "client_reference_id";
  const reference = form.text(name);
  if (reference !== null && reference.length > 200)
    throw invalid(`Invalid string: ${reference.slice(0, 5)}...; must be at most 200 characters`, name);
  return reference;
}

/** 0: none. */
export function trialDaysIn(form: Form, name: string): number {
  const trialDays = form.wholeNumber(name);
  if (trialDays !== null && !(trialDays >= 1 && trialDays <= 730))
    throw invalid("Trial days must be between 1 and 730.", name);
  return trialDays ?? 0;
}

/** The check is done a moment after the seller has computed the time. */
function isAllowedExpiry(lifetimeSeconds: number): boolean {
  return lifetimeSeconds > 29 * 60 && lifetimeSeconds <= 86_400;
}

function isTrue(text: string | null): boolean | null {
  return text === null ? null : text === "true";
}

export function webUrl(form: Form, name: string): string | null {
  const url = form.text(name);
  // Replaces the placeholder in braces by the session's id.
  if (url !== null && !isWebUrl(url)) throw invalid("Not a valid URL", name, "url_invalid");
  return url;
}
