import { type ChargeTotals, chargeTotals } from "../lifecycle/charge.ts";
import type { Discount } from "../lifecycle/discount.ts";
import { checkoutData, type EventContext, emailOf } from "../renderer.ts";
import { invoiceIdOf } from "./invoice-id.ts";

export type Session = {
  id: string;
  createdAtSeconds: number;
  status: "open" | "complete" | "expired";
  paymentStatus: "paid" | "unpaid" | "no_payment_required";
  totals: Pick<ChargeTotals, "subtotal" | "discount" | "due">;
  discount: Discount | null;
  currency: string;
  customerId: string | null;
  /** From the seller, and from the customer's input. */
  givenEmail: string | null;
  paidByEmail: string | null;
  clientReferenceId: string | null;
  metadata: object;
  subscriptionId: string | null;
  invoiceId: string | null;
  allowPromotionCodes: boolean | null;
  expiresAtSeconds: number | null;
  successUrl: string | null;
  cancelUrl: string | null;
  /** `null` once it is over. */
  url: string | null;
};

const LIFETIME_SECONDS = 86_400;

/** What a trial costs. */
export const NOTHING: Session["totals"] = { subtotal: 0, discount: 0, due: 0 };

export function completedSession(context: EventContext): object {
  const { step, ids, checkout } = context;
  const { offer, status } = step.state;
  return stripeSession({
    id: checkout?.id ?? `cs_test_${ids.subscriptionId}`,
    createdAtSeconds: step.atSeconds - 90,
    status: "complete",
    paymentStatus: status === "trialing" ? "no_payment_required" : "paid",
    totals: status === "trialing" ? NOTHING : chargeTotals(step.state),
    discount: step.state.discount ?? null,
    currency: offer.currency,
    customerId: ids.customerId,
    givenEmail: null,
    paidByEmail: emailOf(context),
    clientReferenceId: checkout ? checkout.externalId : ids.userId,
    metadata: checkoutData(context),
    subscriptionId: ids.subscriptionId,
    invoiceId: status === "trialing" ? null : invoiceIdOf(ids.subscriptionId, step.state.periodStartSeconds),
    allowPromotionCodes: checkout?.allowPromotionCodes ?? null,
    expiresAtSeconds: null,
    successUrl: checkout ? checkout.successUrl : "http://localhost:3000/billing?checkout=completed",
    cancelUrl: checkout ? checkout.cancelUrl : "http://localhost:3000/billing?checkout=cancelled",
    url: null,
  });
}

export function stripeSession(session: Session): object {
  return {
    id: session.id,
    object: "checkout.session",
    after_expiration: null,
    allow_promotion_codes: session.allowPromotionCodes,
    amount_subtotal: session.totals.subtotal,
    amount_total: session.totals.due,
    automatic_tax: { enabled: true, liability: { type: "self" }, provider: "stripe", status: "complete" },
    billing_address_collection: "auto",
    cancel_url: session.cancelUrl,
    client_reference_id: session.clientReferenceId,
    consent: null,
    created: session.createdAtSeconds,
    currency: session.currency.toLowerCase(),
    custom_fields: [],
    customer: session.customerId,
    customer_creation: "always",
    customer_details: session.paidByEmail === null ? null : customerDetails(session.paidByEmail),
    customer_email: session.givenEmail,
    discounts: session.discount
      ? [{ coupon: session.discount.id, promotion_code: session.discount.promotionCodeId }]
      : [],
    expires_at: session.expiresAtSeconds ?? session.createdAtSeconds + LIFETIME_SECONDS,
    invoice: session.invoiceId,
    livemode: false,
    locale: "auto",
    metadata: session.metadata,
    mode: "subscription",
    payment_intent: null,
    payment_link: null,
    payment_method_collection: "always",
    payment_method_options: { card: { request_three_d_secure: "automatic" } },
    payment_method_types: ["card", "link"],
    payment_status: session.paymentStatus,
    phone_number_collection: { enabled: false },
    recovered_from: null,
    setup_intent: null,
    shipping_address_collection: null,
    status: session.status,
    submit_type: null,
    subscription: session.subscriptionId,
    success_url: session.successUrl,
    total_details: { amount_discount: session.totals.discount, amount_shipping: 0, amount_tax: 0 },
    ui_mode: "hosted_page",
    url: session.url,
  };
}

function customerDetails(email: string): object {
  return {
    address: { city: null, country: "DE", line1: null, line2: null, postal_code: "10115", state: null },
    email,
    name: null,
    phone: null,
    tax_exempt: "none",
    tax_ids: [],
  };
}
