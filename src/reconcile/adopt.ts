import { randomUUID } from "node:crypto";
import { failureSentence } from "../domain/deliveries/failures.ts";
import { decide } from "../domain/events/decide.ts";
import type { PaymentEvent } from "../domain/events/payment-event.ts";
import { notificationsFor } from "../domain/notifications/notification.ts";
import { pendingChanges, subscriptionChange } from "../domain/outbound/subscription-change.ts";
import type { Slot } from "../domain/slot.ts";
import { isFirstLink, type Subscription } from "../domain/subscriptions/subscription.ts";
import { commitWithHooks } from "../intake/call-hooks.ts";
import { effectLimits } from "../intake/transaction-limits.ts";
import { insertNotifications } from "../store/notifications/notifications.ts";
import { insertOutboundChanges } from "../store/outbound/outbound-changes.ts";
import { recordPayments } from "../store/payments/record-payments.ts";
import { insertReconciliation } from "../store/reconciliation/reconciliations.ts";
import { retryOnContention } from "../store/retry-on-contention.ts";
import { waitForSubscriptions } from "../store/subscriptions/subscription-locks.ts";
import { insertSubscriptions, updateSubscriptions } from "../store/subscriptions/subscriptions.ts";
import { inTransaction } from "../store/transaction.ts";
import { findConfirmedEmails, findUserStates } from "../store/users/user-states.ts";
import type { CompareDeps } from "./comparison.ts";
import { auditReconciliation, type Reconciler, reconcilerOf } from "./reconciler.ts";

export type Adoption =
  | { outcome: "adopted"; subscriptionId: string }
  /** An event has reported it since the provider was asked: the answer may be older than what is stored. */
  | { outcome: "known" }
  | { outcome: "left"; reason: string };

/**
 * Records a subscription that its provider knows and we do not, by the same rules as a first event.
 * @param state the provider's response, including the user, to what it was asked at `askedAtMicros`: events
 * from before then are late from now on
 * @throws DatabaseUnavailable
 */
export async function adopt(
  intake: CompareDeps,
  slot: Slot,
  state: PaymentEvent,
  { askedAtMicros, by, notify }: { askedAtMicros: number; by: Reconciler; notify: boolean },
): Promise<Adoption> {
  const { providerSubscriptionId, userId, customerId } = state;
  const link = { provider: slot, providerSubscriptionId, userId, customerId };
  const limits = effectLimits(intake);
  return retryOnContention(() =>
    inTransaction(intake.database, limits, async (transaction) => {
      const [subscriptions, users] = await Promise.all([
        waitForSubscriptions(transaction, link),
        findUserStates(transaction, userId === null ? [] : [userId]),
      ]);
      const isKnown = ({ providerSubscriptionId: id }: Subscription) =>
        id !== null && id === providerSubscriptionId;
      if (subscriptions.some(isKnown)) return { outcome: "known" };
      const owners = [state, ...subscriptions].flatMap((subscription) => subscription.userId ?? []);
      const confirmed = await findConfirmedEmails(transaction, owners);
      const decision = decide(slot, state, {
        subscriptions,
        userState: (id) => users.get(id) ?? "unknown",
        confirmedEmail: (id) => confirmed.get(id) ?? null,
        plans: intake.plans,
        newId: randomUUID,
        nowMicros: askedAtMicros,
      });
      if (decision.outcome === "failed")
        return { outcome: "left", reason: failureSentence(decision.failure) };
      if (decision.outcome === "ignored")
        return { outcome: "left", reason: "its user has deleted the account" };
      const before = subscriptions.find(({ id }) => id === decision.subscription.id) ?? null;
      const after = { ...decision.subscription, comparedAtMicros: askedAtMicros };
      const { lastNotified, notifications } = notificationsFor(before, after, { isLate: false });
      const change = subscriptionChange(before, after);
      const { changes } = change;
      const write = before === null ? insertSubscriptions : updateSubscriptions;
      const linked = isFirstLink(before, after) ? [after.id] : [];
      const writes = [
        write(transaction, [{ ...after, lastNotified }]),
        ...(notify && notifications.length > 0 ? [insertNotifications(transaction, notifications)] : []),
        ...(changes
          ? [insertReconciliation(transaction, { subscriptionId: after.id, by: reconcilerOf(by), changes })]
          : []),
        ...(notify ? insertOutboundChanges(transaction, [change]) : []),
        ...(notify && linked.length > 0 ? [recordPayments(transaction, [], { linked })] : []),
        auditReconciliation(transaction, by, { id: after.id, outcome: "adopted" }),
      ];
      await commitWithHooks(transaction, intake.hooks, pendingChanges([change]), { writes, limits });
      return { outcome: "adopted", subscriptionId: after.id };
    }),
  );
}
