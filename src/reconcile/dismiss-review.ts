import type { Caller } from "../domain/callers/caller.ts";
import type { EventSubscription } from "../domain/outbound/outbound-event.ts";
import {
  pendingChanges,
  type SubscriptionChange,
  subscriptionChange,
} from "../domain/outbound/subscription-change.ts";
import { commitWithHooks } from "../intake/call-hooks.ts";
import type { Intake } from "../intake/intake.ts";
import { effectLimits } from "../intake/transaction-limits.ts";
import { recordAudit } from "../store/audit/record-audit.ts";
import { throwUnavailableOnTimeout } from "../store/database.ts";
import { insertOutboundChanges } from "../store/outbound/outbound-changes.ts";
import { deleteHeal } from "../store/reconciliation/heals.ts";
import { insertReconciliation } from "../store/reconciliation/reconciliations.ts";
import { retryOnContention } from "../store/retry-on-contention.ts";
import { findSubscription } from "../store/subscriptions/subscription-list.ts";
import { clearReviewFlag } from "../store/subscriptions/subscriptions.ts";
import { inTransaction } from "../store/transaction.ts";
import { reconcilerOf } from "./reconciler.ts";

export type Dismissal = { id: string; by: Caller; reason: string };

/** Clears the flag for review and records why. Returns whether there was one. @throws DatabaseUnavailable */
export async function dismissReview(
  intake: Pick<Intake, "database" | "leaseSeconds" | "hooks">,
  { id, by, reason }: Dismissal,
): Promise<boolean> {
  const limits = effectLimits(intake);
  return retryOnContention(() =>
    inTransaction(intake.database, limits, async (transaction) => {
      if (!(await clearReviewFlag(transaction, id))) return false;
      const changes = { outOfOrder: [true, false] as [boolean, boolean] };
      const subscription = await findSubscription(transaction, id);
      const dismissed = subscription === null ? [] : [dismissalOf(subscription)];
      const writes = [
        insertReconciliation(transaction, { subscriptionId: id, by: reconcilerOf(by), changes, reason }),
        deleteHeal(transaction, id),
        ...insertOutboundChanges(transaction, dismissed),
        recordAudit(transaction, by, {
          action: "subscription.dismissed",
          target: { type: "subscription", id },
          details: { reason },
        }),
      ];
      await commitWithHooks(transaction, intake.hooks, pendingChanges(dismissed), { writes, limits });
      return true;
    }),
  ).catch(throwUnavailableOnTimeout);
}

function dismissalOf(subscription: EventSubscription): SubscriptionChange {
  return subscriptionChange({ ...subscription, outOfOrder: true }, subscription);
}
