import { type Clock, nextDueMs } from "../server/move-clock.ts";
import { chargedAmount, paymentStatus, refundedAmount } from "../server/payments.ts";
import { portalUrl } from "../server/portal-link.ts";
import { checkoutUrl, type ProviderSlot } from "../server/provider-slot.ts";
import { maskedSecret } from "./masked-secret.ts";

/** Everything the control page shows, as JSON. */
export function summaryOf(slots: readonly ProviderSlot[], clock: Clock) {
  const nextMs = nextDueMs(slots);
  return {
    now: new Date(clock.nowMs()).toISOString(),
    nextDue: nextMs === null ? null : new Date(nextMs).toISOString(),
    slots: Object.fromEntries(slots.map((slot) => [slot.name, slotSummary(slot)])),
  };
}

function slotSummary(slot: ProviderSlot) {
  const { format, secret, endpoint, faults, subscriptions, payments, checkouts, events } = slot.state;
  return {
    format,
    secret: maskedSecret(secret),
    endpoint,
    faults,
    checkouts: checkouts.map((checkout) => ({
      id: checkout.id,
      status: checkout.status,
      email: checkout.email,
      url: checkoutUrl(slot, checkout),
    })),
    subscriptions: subscriptions.map(({ ids, state, overdue, nextCharge }) => ({
      id: ids.subscriptionId,
      customerId: ids.customerId,
      nextCharge,
      owes: overdue !== null,
      ...state,
      portalUrl: portalUrl(slot, { customerId: ids.customerId, returnUrl: null }),
    })),
    payments: payments.map((payment) => ({
      id: payment.id,
      subscriptionId: payment.subscriptionId,
      status: paymentStatus(payment),
      amount: chargedAmount(payment),
      currency: payment.state.offer.currency,
      refundedAmount: refundedAmount(payment),
    })),
    deliveries: events.map(({ rawBody: _, ...event }) => event),
  };
}
