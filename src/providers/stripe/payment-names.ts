import { textAt } from "../outbound/response-fields.ts";

/** What refunds and disputes name: a payment intent, or a charge that was made without one. */
export type PaymentName = { by: "payment_intent" | "charge"; id: string };

const NAMES = ["payment_intent", "charge"] as const;

/**
 * None for what was paid outside of Stripe.
 * @param payment of an invoice's payments: https://docs.stripe.com/api/invoice-payment/object
 */
export function namesOf(payment: unknown): PaymentName[] {
  return NAMES.flatMap((by) => {
    const id = textAt(payment, by);
    return id === null ? [] : { by, id };
  });
}
