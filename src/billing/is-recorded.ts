import type { StoredCheckout } from "../store/checkouts.ts";
import type { Queryable } from "../store/database.ts";
import { findByProviderIds } from "../store/verification.ts";

/**
 * Whether the subscription of a paid checkout is known here. A checkout counts as used when any subscription
 * of its person changes, also a former one.
 * @param providerSubscriptionId `null`: the provider does not say which one it is
 */
export async function isRecorded(
  database: Queryable,
  { provider, isUsed }: StoredCheckout,
  providerSubscriptionId: string | null,
): Promise<boolean> {
  if (!isUsed || providerSubscriptionId === null) return isUsed;
  const stored = await findByProviderIds(database, provider, [providerSubscriptionId]);
  return stored.size > 0;
}
