import { hash } from "node:crypto";
import { amountDue } from "../lifecycle/charge.ts";
import { eventContextOf } from "../server/event-context.ts";
import { findSubscription, type ProviderSlot } from "../server/provider-slot.ts";
import type { SimulatedSubscription } from "../server/state.ts";
import { invoice } from "./invoice.ts";
import { invoiceIdOf } from "./invoice-id.ts";

/** The subscription whose latest invoice this is, while it waits for its payment. */
export function findOwing(slot: ProviderSlot, invoiceId: string): SimulatedSubscription | null {
  const subscription = findSubscription(slot, invoiceId.replace(/^in_(.*)_\d+$/, "$1"));
  if (subscription === null || openInvoiceId(subscription) !== invoiceId) return null;
  return isAwaiting(subscription) || subscription.overdue !== null ? subscription : null;
}

/** The same while this is its first invoice. */
export function findAwaiting(slot: ProviderSlot, invoiceId: string): SimulatedSubscription | null {
  const subscription = findOwing(slot, invoiceId);
  return subscription && isAwaiting(subscription) ? subscription : null;
}

export function isAwaiting({ state }: SimulatedSubscription): boolean {
  return state.status === "incomplete";
}

export function openInvoiceId({ ids, state }: SimulatedSubscription): string {
  return invoiceIdOf(ids.subscriptionId, state.periodStartSeconds);
}

/** The customer's browser confirms it with the secret, which is shown when expanded. */
export function openInvoice(slot: ProviderSlot, subscription: SimulatedSubscription): object {
  return {
    ...invoice(eventContextOf(slot, subscription)),
    status: "open",
    attempted: false,
    amount_paid: 0,
    amount_remaining: amountDue(subscription.state),
    status_transitions: { finalized_at: subscription.startedAtSeconds, paid_at: null },
  };
}

/** https://docs.stripe.com/api/invoices/object#invoice_object-confirmation_secret */
export function confirmationSecret(invoiceId: string): object {
  const secret = hash("sha256", invoiceId, "hex").slice(0, 24);
  return { client_secret: `pi_${invoiceId.slice("in_".length)}_secret_${secret}`, type: "payment_intent" };
}
