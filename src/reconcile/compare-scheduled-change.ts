import { type PlanCatalog, priceWithId } from "../domain/plans/plan.ts";
import type { PaymentApi } from "../domain/providers/payment-api.ts";
import type { Database } from "../store/database.ts";
import { changeableSubscription } from "../store/subscriptions/changeable-subscription.ts";
import { correctScheduledChange, scheduledChangeVersion } from "../store/subscriptions/scheduled-changes.ts";

/**
 * Stores the change that waits for the period's end at the provider, or that none does: the provider may have
 * accepted or withdrawn one although its response was lost. One at a price that no plan has is not stored. A
 * change that is made meanwhile has the last word.
 * @throws PaymentApiProblem, DatabaseUnavailable
 */
export async function compareScheduledChange(
  { database, plans }: { database: Database; plans: PlanCatalog },
  api: Pick<PaymentApi, "fetchScheduledChange">,
  id: string,
): Promise<void> {
  const version = await scheduledChangeVersion(database, id);
  const stored = await changeableSubscription(database, id);
  if (stored === null || stored.providerSubscriptionId === null) return;
  const { provider, providerSubscriptionId } = stored;
  const waiting = await api.fetchScheduledChange(providerSubscriptionId, stored.priceId);
  const plan = waiting && plans.plans.find((plan) => priceWithId(plan, provider, waiting.priceId));
  const change = plan
    ? { planId: plan.id, priceId: waiting.priceId, seats: waiting.seats, takesEffectAt: waiting.at }
    : null;
  await correctScheduledChange(database, id, change, version);
}
