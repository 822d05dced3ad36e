import type { Clock } from "../move-clock.ts";
import { nextDueMs } from "../move-clock.ts";
import { portalUrl } from "../portal-link.ts";
import { checkoutUrl, type Shop } from "../shop.ts";

/** Everything the control page shows, as JSON. Secrets are whole: who gets here may rotate them as well. */
export function summaryOf(shops: readonly Shop[], clock: Clock) {
  const nextMs = nextDueMs(shops);
  return {
    now: new Date(clock.nowMs()).toISOString(),
    nextDue: nextMs === null ? null : new Date(nextMs).toISOString(),
    slots: Object.fromEntries(shops.map((shop) => [shop.slot, slotSummary(shop)])),
  };
}

function slotSummary(shop: Shop) {
  const { format, secret, endpoint, faults, accounts, checkouts, events } = shop.state;
  return {
    format,
    secret,
    endpoint,
    faults,
    checkouts: checkouts.map((checkout) => ({
      ...{ id: checkout.id, status: checkout.status, email: checkout.email },
      url: checkoutUrl(shop, checkout),
    })),
    subscriptions: accounts.map(({ subject, step, arrears, nextCharge }) => ({
      ...{ id: subject.subscriptionId, customerId: subject.customerId, nextCharge, owes: arrears !== null },
      ...step.standing,
      portalUrl: portalUrl(shop, { customerId: subject.customerId, returnUrl: null }),
    })),
    deliveries: events.map(({ rawBody: _, ...event }) => event),
  };
}
