import type { SubscriptionIds } from "../renderer.ts";

/** A subscription has one item. */
export function itemIdOf({ subscriptionId }: Pick<SubscriptionIds, "subscriptionId">): string {
  return `si_${subscriptionId}`;
}
