import { rfc3339 } from "../rfc3339.ts";
import { portalUrl } from "../server/portal-link.ts";
import { nowSeconds, type ProviderSlot } from "../server/provider-slot.ts";

export function portalSession(
  slot: ProviderSlot,
  customerId: string,
  subscriptionIds: readonly string[],
): object {
  const link = portalLink(slot, customerId);
  return {
    id: `cpls_${slot.state.run}${Date.now().toString(36)}`,
    customer_id: customerId,
    urls: {
      general: { overview: link },
      subscriptions: subscriptionIds.map((id) => ({
        id,
        cancel_subscription: link,
        update_subscription_payment_method: link,
      })),
    },
    created_at: rfc3339(nowSeconds(slot)),
  };
}

export function portalLink(slot: ProviderSlot, customerId: string): string {
  return portalUrl(slot, { customerId, returnUrl: null });
}
