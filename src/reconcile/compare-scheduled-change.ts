import type { PaymentApi } from "../domain/payment-api.ts";
import { type PlanCatalog, priceWithId } from "../domain/plan.ts";
import { changeableSubscription } from "../store/changeable-subscription.ts";
import { checkoutLease } from "../store/checkouts.ts";
import type { Database } from "../store/database.ts";
import { withLease } from "../store/hold-lease.ts";
import { deleteScheduledChange, saveScheduledChange } from "../store/scheduled-changes.ts";

/** Longer than two calls of a provider may take. */
const LEASE_SECONDS = 30;

/**
 * Stores the change that waits for the period's end at the provider, or that none does: the provider may have
 * accepted or withdrawn one although its response was lost. One at a price that no plan has is not stored.
 * @returns `false`: another change of the person is being made
 * @throws PaymentApiProblem, DatabaseUnavailable
 */
export async function compareScheduledChange(
  { database, plans }: { database: Database; plans: PlanCatalog },
  fetchScheduledChange: NonNullable<PaymentApi["fetchScheduledChange"]>,
  subscriptionId: string,
): Promise<boolean> {
  const stored = await changeableSubscription(database, subscriptionId);
  if (stored === null || stored.userId === null || stored.providerSubscriptionId === null) return true;
  const { provider, providerSubscriptionId, priceId } = stored;
  const lease = checkoutLease(stored.userId);
  const compared = await withLease(database, lease, { seconds: LEASE_SECONDS }, async () => {
    const waiting = await fetchScheduledChange(providerSubscriptionId, priceId);
    const plan = waiting && plans.plans.find((plan) => priceWithId(plan, provider, waiting.priceId));
    if (!plan) await deleteScheduledChange(database, subscriptionId);
    else
      await saveScheduledChange(database, {
        subscriptionId,
        planId: plan.id,
        priceId: waiting.priceId,
        seats: waiting.seats,
        takesEffectAt: waiting.at,
      });
    return true;
  });
  return compared ?? false;
}
