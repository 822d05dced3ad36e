import { notificationsFor } from "../domain/notifications/notification.ts";
import { pendingChanges } from "../domain/outbound/subscription-change.ts";
import { type UnclearState, unclearStateSentence } from "../domain/refusals/unclear-state.ts";
import { renewsWithoutUser, type Subscription } from "../domain/subscriptions/subscription.ts";
import { commitWithHooks } from "../intake/call-hooks.ts";
import { effectLimits } from "../intake/transaction-limits.ts";
import { insertNotifications } from "../store/notifications/notifications.ts";
import {
  notifyUnknownPrices,
  type UnknownPrice,
} from "../store/notifications/unknown-price-notifications.ts";
import { insertOutboundChanges } from "../store/outbound/outbound-changes.ts";
import {
  findReconcilable,
  insertReconciliation,
  type ReconcilableSubscription,
} from "../store/reconciliation/reconciliations.ts";
import { lockSubscriptions } from "../store/subscriptions/subscription-locks.ts";
import { recordComparison, updateSubscriptions } from "../store/subscriptions/subscriptions.ts";
import { insertResumed, insertUnwanted } from "../store/subscriptions/unwanted-subscriptions.ts";
import { inTransaction, type Transaction } from "../store/transaction.ts";
import type { CompareDeps, CompareOptions, Comparison } from "./comparison.ts";
import { type Correction, decideCorrection, type ProviderAnswer } from "./decide-correction.ts";
import { auditReconciliation, reconcilerOf } from "./reconciler.ts";

/**
 * Corrects a subscription by its provider's answer.
 * @returns `changed_meanwhile`: nothing was written, as its version is no longer the one that was asked about
 */
export async function correct(
  intake: CompareDeps,
  reconcilable: ReconcilableSubscription,
  answer: ProviderAnswer,
  options: CompareOptions,
): Promise<Comparison | "changed_meanwhile"> {
  return inTransaction(intake.database, effectLimits(intake), async (transaction) => {
    const before = await lockUnlessChanged(transaction, reconcilable);
    if (before === null) return "changed_meanwhile";
    const correction = await decideCorrection(transaction, { before, plans: intake.plans }, answer);
    const { problem, change } = correction;
    if (!options.dryRun) await commit(transaction, intake, correction, options);
    return problem === null
      ? { outcome: "compared", changes: change.changes }
      : { outcome: "left", because: problem };
  });
}

async function lockUnlessChanged(
  transaction: Transaction,
  { id, provider, providerSubscriptionId, version }: ReconcilableSubscription,
): Promise<Subscription | null> {
  const link = { provider, providerSubscriptionId, userId: null, customerId: null };
  const [subscriptions, current] = await Promise.all([
    lockSubscriptions(transaction, [link]),
    findReconcilable(transaction, id),
  ]);
  const subscription = subscriptions.find((locked) => locked.id === id);
  return subscription !== undefined && current?.version === version ? subscription : null;
}

async function commit(
  transaction: Transaction,
  intake: CompareDeps,
  correction: Correction,
  options: CompareOptions,
): Promise<void> {
  const { before, after, change, problem } = correction;
  const isChanged =
    change.changes !== null ||
    before.priceId !== after.priceId ||
    before.customerId !== after.customerId ||
    before.pausesAtPeriodEnd !== after.pausesAtPeriodEnd;
  if (isChanged) return commitChange(transaction, intake, correction, options);
  if (problem === null) return commitMatch(transaction, correction, options);
  const notified = notifyOfUnknownPrice(transaction, correction, options);
  // Without a commit nothing is written.
  if (notified.length > 0) await transaction.commitAfter(notified);
}

async function commitChange(
  transaction: Transaction,
  intake: CompareDeps,
  correction: Correction,
  { by, notify }: CompareOptions,
): Promise<void> {
  const { before, after, change, problem } = correction;
  const { changes } = change;
  const { lastNotified, notifications } = notificationsFor(before, after, { isLate: false });
  const reason = problem && unclearStateSentence(problem);
  const reconciliation = changes && { subscriptionId: after.id, by: reconcilerOf(by), changes, reason };
  const writes = [
    updateSubscriptions(transaction, [{ ...after, lastNotified }]),
    ...undoRenewing(transaction, correction),
    ...(notify && notifications.length > 0 ? [insertNotifications(transaction, notifications)] : []),
    ...notifyOfUnknownPrice(transaction, correction, { notify }),
    ...(reconciliation ? [insertReconciliation(transaction, reconciliation)] : []),
    ...(notify ? insertOutboundChanges(transaction, [change]) : []),
    auditReconciliation(transaction, by, { id: after.id, outcome: "corrected" }),
  ];
  const limits = effectLimits(intake);
  await commitWithHooks(transaction, intake.hooks, pendingChanges([change]), { writes, limits });
}

async function commitMatch(
  transaction: Transaction,
  correction: Correction,
  { by, audit }: CompareOptions,
): Promise<void> {
  const { id, comparedAtMicros } = correction.after;
  await transaction.commitAfter([
    recordComparison(transaction, id, comparedAtMicros),
    ...undoRenewing(transaction, correction),
    ...(audit === "each" ? [auditReconciliation(transaction, by, { id, outcome: "unchanged" })] : []),
  ]);
}

/** Of a deleted account: resumed at the provider, or paid for since. */
function undoRenewing(transaction: Transaction, { before, after }: Correction): Promise<void>[] {
  const { provider, providerSubscriptionId } = after;
  if (providerSubscriptionId === null || !renewsWithoutUser(after)) return [];
  const insert = before.status === "incomplete" ? insertUnwanted : insertResumed;
  return [insert(transaction, [{ provider, providerSubscriptionId }])];
}

function notifyOfUnknownPrice(
  transaction: Transaction,
  { before, problem }: Correction,
  { notify }: Pick<CompareOptions, "notify">,
): Promise<void>[] {
  const unknownPrices = notify ? unknownPricesOf(before, problem) : [];
  return unknownPrices.length > 0 ? [notifyUnknownPrices(transaction, unknownPrices)] : [];
}

function unknownPricesOf(before: Subscription, problem: UnclearState | null): UnknownPrice[] {
  if (problem?.cause !== "price_unknown") return [];
  return [{ subscription: before, priceId: problem.name ?? "", isNewlyFlagged: !before.outOfOrder }];
}
