import type { Caller } from "../domain/caller.ts";
import type { EventSubscription } from "../domain/outbound-event.ts";
import type { PendingChange } from "../domain/subscription-hook.ts";
import { callHooks } from "../intake/call-hooks.ts";
import type { Intake } from "../intake/intake.ts";
import { effectLimits } from "../intake/transaction-limits.ts";
import { finishHeal } from "../store/heals.ts";
import { insertSubscriptionEvents } from "../store/outbound-events.ts";
import { insertReconciliation } from "../store/reconciliations.ts";
import { recordAudit } from "../store/record-audit.ts";
import { findSubscription } from "../store/subscription-list.ts";
import { clearReviewFlag } from "../store/subscriptions.ts";
import { inTransaction } from "../store/transaction.ts";
import { reconcilerOf } from "./reconciler.ts";

export type Dismissal = { id: string; by: Caller; reason: string };

/** Clears the flag for review and records why. Returns whether there was one. @throws DatabaseUnavailable */
export async function dismissReview(
  intake: Pick<Intake, "database" | "leaseSeconds" | "hooks">,
  { id, by, reason }: Dismissal,
): Promise<boolean> {
  const limits = effectLimits(intake);
  return inTransaction(intake.database, limits, async (transaction) => {
    if (!(await clearReviewFlag(transaction, id))) return false;
    const changes = { outOfOrder: [true, false] as [boolean, boolean] };
    const subscription = await findSubscription(transaction, id);
    const writes = [
      insertReconciliation(transaction, { subscriptionId: id, by: reconcilerOf(by), changes, reason }),
      finishHeal(transaction, id),
      ...(subscription === null
        ? []
        : [insertSubscriptionEvents(transaction, [{ type: "subscription.changed", subscription }])]),
      recordAudit(transaction, by, {
        action: "subscription.dismissed",
        ...{ target: { type: "subscription", id }, details: { reason } },
      }),
    ];
    for (const write of writes) write.catch(() => {});
    await callHooks(transaction, intake.hooks, subscription === null ? [] : [dismissed(subscription)], {
      writes,
      limits,
    });
    await transaction.commitAfter(writes);
    return true;
  });
}

function dismissed(subscription: EventSubscription): PendingChange {
  return { type: "subscription.changed", before: { ...subscription, outOfOrder: true }, subscription };
}
