import type { Queryable } from "../store/database.ts";
import { findByProviderIds } from "../store/reconciliation/verification.ts";
import type { StoredCheckout } from "../store/subscriptions/checkouts.ts";
import { isUnwanted } from "../store/subscriptions/unwanted-subscriptions.ts";

/**
 * Whether the subscription of a paid checkout is known here. It may be somebody else's, as Lemon Squeezy finds it by
 * the address that the payer typed in.
 * @param providerSubscriptionId `null`: the provider does not say which one it is. Then any change of a subscription
 * of the person counts, also of a former one.
 */
export async function isRecorded(
  database: Queryable,
  { provider, isUsed }: StoredCheckout,
  providerSubscriptionId: string | null,
): Promise<boolean> {
  if (providerSubscriptionId === null) return isUsed;
  const stored = (await findByProviderIds(database, provider, [providerSubscriptionId])).get(
    providerSubscriptionId,
  );
  if (stored !== undefined) return stored.status !== "incomplete";
  return isUnwanted(database, { provider, providerSubscriptionId });
}
