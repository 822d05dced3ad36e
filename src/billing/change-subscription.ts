import type { PaymentApi, SubscriptionChange } from "../domain/payment-api.ts";
import type { PlanCatalog } from "../domain/plan.ts";
import { refuse } from "../domain/refusal.ts";
import type { Slot } from "../domain/slot.ts";
import type { Intake } from "../intake/intake.ts";
import { compare } from "../reconcile/compare.ts";
import { checkoutLease } from "../store/checkouts.ts";
import type { Queryable } from "../store/database.ts";
import { withLease } from "../store/hold-lease.ts";
import { findReconcilable } from "../store/reconciliations.ts";
import { deleteScheduledChange, saveScheduledChange } from "../store/scheduled-changes.ts";
import { mapProviderErrors, type ProviderTools } from "./ask-provider.ts";

export type ChangingSubscription = {
  id: string;
  provider: Slot;
  providerSubscriptionId: string;
  userId: string;
  currentPeriodEnd: Date | null;
  /** After the change. */
  planId: string;
};

export type ChangeTools = ProviderTools & { database: Queryable; intake: Intake; plans: PlanCatalog };

const LEASE_SECONDS = 20;

/**
 * Changes a subscription at its provider, one request per person at a time, then stores the provider's new
 * state, which its webhook will repeat.
 * @throws Refusal `unavailable`
 */
export async function changeSubscription(
  deps: ChangeTools,
  api: PaymentApi,
  subscription: ChangingSubscription,
  change: SubscriptionChange,
): Promise<void> {
  const { id, provider, providerSubscriptionId, userId } = subscription;
  const completed = await withLease(
    deps.database,
    checkoutLease(userId),
    { seconds: LEASE_SECONDS },
    async () => {
      const changing = api.changeSubscription(providerSubscriptionId, change);
      await mapProviderErrors(deps, { slot: provider, userId }, changing);
      await rememberSchedule(deps.database, subscription, change);
      return true;
    },
  );
  if (completed === null) refuse({ reason: "checkout_in_progress" });
  if (change.when === "period_end") return;
  try {
    const reconcilable = await findReconcilable(deps.intake.database, id);
    if (reconcilable === null) return;
    const options = { by: "server", audit: "changes", dryRun: false, notify: true } as const;
    await compare(deps.intake, api, reconcilable, options);
  } catch (error) {
    // It is changed all the same, and the event is on its way.
    deps.log.error(
      { slot: provider, subscriptionId: id, err: error },
      "a changed subscription was not compared",
    );
  }
}

/** An immediate change, or one to the present plan and seats, withdraws the scheduled one. */
async function rememberSchedule(
  database: Queryable,
  { id, planId, currentPeriodEnd }: ChangingSubscription,
  { when, priceId, seats, resultingSeats }: SubscriptionChange,
): Promise<void> {
  const isUnchanged = priceId === null && seats === null;
  if (when === "now" || isUnchanged) return deleteScheduledChange(database, id);
  if (currentPeriodEnd === null) return;
  await saveScheduledChange(database, {
    subscriptionId: id,
    planId,
    seats: resultingSeats,
    takesEffectAt: currentPeriodEnd,
  });
}
