import type { EventContext } from "../renderer.ts";
import { portalUrl } from "./portal-link.ts";
import type { ProviderSlot } from "./provider-slot.ts";
import type { SimulatedSubscription } from "./state.ts";

/** What a subscription's last event, and its present state, are rendered from. */
export function eventContextOf(slot: ProviderSlot, subscription: SimulatedSubscription): EventContext {
  const { ids, bought, startedAtSeconds, lastEvent, state, eventCount, checkout } = subscription;
  return {
    lifecycle: { bought, startedAtSeconds },
    step: { ...lastEvent, state },
    at: eventCount - 1,
    chargeAt: subscription.failedAt ?? eventCount - 1,
    ids,
    run: slot.state.run,
    scheduled: subscription.scheduled ?? null,
    coupon: slot.state.coupons.find(({ id }) => id === state.discount?.id) ?? null,
    checkout: {
      ...checkout,
      portalUrl: portalUrl(slot, { customerId: ids.customerId, returnUrl: null }),
    },
  };
}

/** The subscription as the provider's API returns it. */
export function subscriptionJson(slot: ProviderSlot, subscription: SimulatedSubscription): object {
  return slot.renderer.subscription(eventContextOf(slot, subscription));
}
