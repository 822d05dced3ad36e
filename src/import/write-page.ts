import { insertNotifications } from "../store/notifications/notifications.ts";
import { insertOutboundChanges } from "../store/outbound/outbound-changes.ts";
import { recordPayments } from "../store/payments/record-payments.ts";
import { insertReconciliations } from "../store/reconciliation/reconciliations.ts";
import { insertSubscriptions, updateSubscriptions } from "../store/subscriptions/subscriptions.ts";
import type { Transaction } from "../store/transaction.ts";
import type { DecidedPage } from "./decide-page.ts";

/** Sends the writes of a page without waiting for them. */
export function writePage(
  transaction: Transaction,
  { created, updated, changes, notifications, subscriptionChanges, linked }: DecidedPage,
  { notify }: { notify: boolean },
): Promise<unknown>[] {
  return [
    ...(created.length > 0 ? [insertSubscriptions(transaction, created)] : []),
    ...(updated.length > 0 ? [updateSubscriptions(transaction, updated)] : []),
    ...(changes.length > 0 ? [insertReconciliations(transaction, changes)] : []),
    ...(notify && notifications.length > 0 ? [insertNotifications(transaction, notifications)] : []),
    ...(notify ? insertOutboundChanges(transaction, subscriptionChanges) : []),
    ...(notify && linked.length > 0 ? [recordPayments(transaction, [], { linked })] : []),
  ];
}
